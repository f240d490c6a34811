package jetstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

const (
	subjectPrefix = "agent-chatter."
	allSubjects   = subjectPrefix + "*.*"
	streamPrefix  = "AGENT_CHATTER_"
	formatKey     = "agent-chatter-format"
	format        = 1 // of the stream and its messages
)

// findStream finds the stream of the hub.
func (e *Engine) findStream(ctx context.Context) error {
	ctx, done := e.call(ctx, apiStreamNames, apiStreamInfo)
	defer done()
	name, err := e.js.StreamNameBySubject(ctx, allSubjects)
	if errors.Is(err, nats.ErrNoResponders) {
		return errOff
	}
	if err != nil {
		return e.explain(ctx, err)
	}
	stream, err := e.js.Stream(ctx, name)
	if err != nil {
		return e.explain(ctx, err)
	}
	written, err := strconv.Atoi(stream.CachedInfo().Config.Metadata[formatKey])
	switch {
	case err != nil:
		reason := fmt.Sprintf("the stream %s has the subjects of the hub, and is not one", name)
		return &hub.RefusedError{Reason: reason}
	case written > format:
		return hub.ErrNewer
	case stream.CachedInfo().Config.AllowDirect:
		reason := fmt.Sprintf("the stream %s has allow_direct: servers that lag behind would answer", name)
		return &hub.RefusedError{Reason: reason}
	}
	e.stream.Store(&stream)
	return nil
}

func (e *Engine) createStream(ctx context.Context, replicas int) error {
	ctx, done := e.call(ctx, apiStreamCreate)
	defer done()
	stream, err := e.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamPrefix + rand.Text(), Description: "sessions of agent-chatter",
		Subjects: []string{allSubjects}, Storage: jetstream.FileStorage, Replicas: replicas,
		DenyDelete: true, Metadata: map[string]string{formatKey: strconv.Itoa(format)},
	})
	if err != nil {
		return e.explain(ctx, err)
	}
	e.stream.Store(&stream)
	return nil
}

// setReplicas changes how many servers store each message.
func (e *Engine) setReplicas(ctx context.Context, replicas int) error {
	ctx, done := e.call(ctx, apiStreamUpdate)
	defer done()
	config := (*e.stream.Load()).CachedInfo().Config
	config.Replicas = replicas
	stream, err := e.js.UpdateStream(ctx, config)
	if err != nil {
		return e.explain(ctx, err)
	}
	e.stream.Store(&stream)
	return nil
}

// lostStream looks for the stream again after an answer which says that it does not exist.
func (e *Engine) lostStream(ctx context.Context) error {
	if err := e.findStream(ctx); err != nil {
		return err
	}
	e.connections.Add(1)
	return &hub.UnavailableError{Err: errors.New("it was created again")}
}

// Warnings implements hub.Engine. Others may have changed the stream since it was created.
func (e *Engine) Warnings() (warnings []string) {
	c := (*e.stream.Load()).CachedInfo().Config
	discards := c.Discard == jetstream.DiscardOld
	for _, w := range []struct {
		set  bool
		text string
	}{
		{c.Storage != jetstream.FileStorage, "its messages are not stored in files"},
		{c.Retention != jetstream.LimitsPolicy, "its messages are removed when they were read"},
		{c.MaxAge > 0, fmt.Sprintf("its messages are removed after %s (max_age)", c.MaxAge)},
		{discards && c.MaxBytes > 0, fmt.Sprintf("its oldest messages are removed over %d bytes (max_bytes)",
			c.MaxBytes)},
		{discards && c.MaxMsgs > 0, fmt.Sprintf("its oldest messages are removed over %d (max_msgs)", c.MaxMsgs)},
		{c.MaxMsgsPerSubject > 0, fmt.Sprintf("the oldest messages of a session are removed over %d "+
			"(max_msgs_per_subject)", c.MaxMsgsPerSubject)},
		{!c.DenyDelete, "its messages can be deleted one by one (deny_delete is not set)"},
		{c.AllowRollup, "a message can remove those before it (allow_rollup_hdrs)"},
	} {
		if w.set {
			warnings = append(warnings, w.text)
		}
	}
	return warnings
}

// Clock implements hub.Engine.
func (e *Engine) Clock(ctx context.Context) (time.Time, error) {
	ctx, done := e.call(ctx, apiStreamInfo)
	defer done()
	info, err := (*e.stream.Load()).Info(ctx)
	if err != nil {
		return time.Time{}, e.explain(ctx, err)
	}
	return info.TimeStamp, nil
}

// Replicas returns how many servers store each message.
func (e *Engine) Replicas() int { return (*e.stream.Load()).CachedInfo().Config.Replicas }
