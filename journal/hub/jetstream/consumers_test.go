package jetstream_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
)

// A server has a limit of consumers for each stream.
func TestReadingLeavesNoConsumer(t *testing.T) {
	url := start(t, nil)
	e := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
	s := hub.Session{Team: "team", ID: "01JD0000000000000000000000"}
	var last hub.Revision
	for range 5 {
		var err error
		if last, err = e.Publish(t.Context(), s, last, hub.Message{Head: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	for range e.Read(t.Context(), s, 0) {
	}
	for range e.Read(t.Context(), s, 0) {
		break
	}
	for range e.List(t.Context(), "") {
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), e.Name())
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Consumers; n != 0 {
		t.Errorf("%d consumers are left", n)
	}
}
