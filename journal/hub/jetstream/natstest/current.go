package natstest

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Current reports whether every server that stores a stream has all of its messages. subject is one of the stream.
func Current(ctx context.Context, urls []string, subject string) (bool, error) {
	conn, err := nats.Connect(strings.Join(urls, ","))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return false, err
	}
	name, err := js.StreamNameBySubject(ctx, subject)
	if err != nil {
		return false, err
	}
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return false, err
	}
	info := stream.CachedInfo()
	if info.Cluster == nil {
		return info.Config.Replicas == 1, nil
	}
	current := info.Cluster.Leader != ""
	for _, r := range info.Cluster.Replicas {
		current = current && r.Current && !r.Offline
	}
	return current && len(info.Cluster.Replicas) == info.Config.Replicas-1, nil
}
