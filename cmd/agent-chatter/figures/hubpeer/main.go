// Command hubpeer does with a stream of JetStream what the figures of the hub are
// compared with, and nothing else.
//
//	hubpeer list URL STREAM              counts the last messages of all subjects, without their bodies
//	hubpeer get URL STREAM SUBJECT FILE  writes the bodies of all messages of a subject to a file and syncs it
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	conn, err := nats.Connect(args[1])
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if args[0] == "list" {
		return list(js, args[2])
	}
	return get(js, args[2], args[3], args[4])
}

func list(js jetstream.JetStream, stream string) error {
	n := 0
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true}
	err := consume(js, stream, config, func(jetstream.Msg) error {
		n++
		return nil
	})
	fmt.Printf("%d subjects\n", n)
	return err
}

func get(js jetstream.JetStream, stream, subject, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}}
	err = consume(js, stream, config, func(m jetstream.Msg) error {
		_, err := out.Write(m.Data())
		return err
	})
	return errors.Join(err, out.Flush(), file.Sync(), file.Close())
}

// consume calls received with each message that a consumer gets.
func consume(
	js jetstream.JetStream, stream string, config jetstream.OrderedConsumerConfig, received func(jetstream.Msg) error,
) error {
	consumer, err := js.OrderedConsumer(context.Background(), stream, config)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxBytes(8 << 20))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next()
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if err := received(m); err != nil || meta.NumPending == 0 {
			return err
		}
	}
}
