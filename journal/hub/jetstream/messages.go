package jetstream

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

const (
	headKey   = "Agent-Chatter" // the header with the head of a message
	pullBytes = 8 << 20         // that are requested at once: several messages, in bounded memory

	// maxHeaders bounds the headers of a message in bytes: they count as a part of the payload.
	maxHeaders = hub.MaxHead + 1<<10
)

func subjectOf(s hub.Session) string { return subjectPrefix + s.Team + "." + s.ID }

func sessionOf(subject string) hub.Session {
	team, id, _ := strings.Cut(strings.TrimPrefix(subject, subjectPrefix), ".")
	return hub.Session{Team: team, ID: id}
}

// MaxBody implements hub.Engine.
func (e *Engine) MaxBody() int { return max(min(int(e.conn.MaxPayload()), pullBytes/2)-maxHeaders, 1) }

// pullSize returns how many bytes are requested at once. A message that is larger would never arrive; those that others
// have stored may be as large as the server permits.
func (e *Engine) pullSize() int { return max(int(e.conn.MaxPayload())+2*maxHeaders, pullBytes) }

// Publish implements hub.Engine.
func (e *Engine) Publish(
	ctx context.Context, s hub.Session, last hub.Revision, m hub.Message,
) (hub.Revision, error) {
	subject := subjectOf(s)
	ctx, done := e.call(ctx, subject)
	defer done()
	message := &nats.Msg{
		Subject: subject, Data: m.Body, Header: nats.Header{headKey: []string{string(m.Head)}},
	}
	ack, err := e.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(uint64(last)),
		jetstream.WithExpectStream(e.Name()), jetstream.WithRetryAttempts(0))
	if isConflict(err) {
		return 0, &hub.ConflictError{Session: s}
	}
	if err = e.explain(ctx, err); errors.Is(err, hub.ErrMissing) {
		return 0, e.lostStream(ctx)
	}
	if err != nil {
		return 0, err
	}
	return hub.Revision(ack.Sequence), nil
}

// isConflict reports whether a message was refused because another one was stored.
func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Last implements hub.Engine.
func (e *Engine) Last(ctx context.Context, s hub.Session) (hub.Stored, error) {
	return e.last(ctx, subjectOf(s))
}

// last returns the last message with one of the subjects. It asks the leader of the stream.
func (e *Engine) last(ctx context.Context, subjects string) (hub.Stored, error) {
	ctx, done := e.call(ctx, apiMessageGet)
	defer done()
	m, err := (*e.stream.Load()).GetLastMsgForSubject(ctx, subjects)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return hub.Stored{}, nil
	}
	if err = e.explain(ctx, err); errors.Is(err, hub.ErrMissing) {
		return hub.Stored{}, e.lostStream(ctx)
	}
	if err != nil {
		return hub.Stored{}, err
	}
	head := hub.Message{Head: []byte(m.Header.Get(headKey))}
	return hub.Stored{Message: head, Session: sessionOf(m.Subject), Revision: hub.Revision(m.Sequence)}, nil
}

// Read implements hub.Engine.
func (e *Engine) Read(ctx context.Context, s hub.Session, after hub.Revision) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		last, err := e.Last(ctx, s)
		if err != nil {
			yield(hub.Stored{}, err)
			return
		}
		if last.Revision <= after {
			return
		}
		config := jetstream.OrderedConsumerConfig{
			FilterSubjects: []string{subjectOf(s)}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
			OptStartSeq: uint64(after) + 1,
		}
		for m, err := range e.consume(ctx, config, e.timeout) {
			if err != nil {
				yield(hub.Stored{}, err)
				return
			}
			// The consumer may be on a server that does not have the last message yet: none pending is not the end.
			if !yield(m, nil) || m.Revision >= last.Revision {
				return
			}
		}
	}
}

// List implements hub.Engine. The consumer may be on a server that lags behind: what it has as the last message of a
// session may be followed by another one.
func (e *Engine) List(ctx context.Context, team string) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		config := listConfig(team)
		last, err := e.last(ctx, config.FilterSubjects[0])
		if err != nil {
			yield(hub.Stored{}, err)
			return
		}
		if last.Revision == 0 {
			return
		}
		sessions := map[hub.Session]hub.Stored{}
		for m, err := range e.consume(ctx, config, e.timeout) {
			if err != nil {
				yield(hub.Stored{}, err)
				return
			}
			if sessions[m.Session] = m; m.Revision >= last.Revision {
				break
			}
		}
		for _, m := range sessions {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// listConfig is for a consumer that gets the last message of each session, and those that follow.
func listConfig(team string) jetstream.OrderedConsumerConfig {
	subjects := allSubjects
	if team != "" {
		subjects = subjectPrefix + team + ".*"
	}
	return jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{subjects}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true,
	}
}

// Watch implements hub.Engine.
func (e *Engine) Watch(ctx context.Context, team string, changed func(hub.Stored)) error {
	for {
		err := e.watch(ctx, team, changed) // the next one begins with the last messages again
		if errors.Is(err, hub.ErrMissing) {
			err = e.lostStream(ctx)
		}
		if errors.As(err, new(*hub.RefusedError)) || errors.Is(err, hub.ErrNewer) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchAgain): // without a connection, the next error comes at once
		}
	}
}

// watch is Watch until the first error.
func (e *Engine) watch(ctx context.Context, team string, changed func(hub.Stored)) error {
	for m, err := range e.consume(ctx, listConfig(team), 0) {
		if err != nil {
			return err
		}
		changed(m)
	}
	return nil
}

// watchAgain is how long Watch waits after an error.
const watchAgain = 500 * time.Millisecond

// consume yields the messages that a consumer gets. An error ends it, as does a message that does not arrive within the
// timeout; 0: there is none.
func (e *Engine) consume(
	ctx context.Context, config jetstream.OrderedConsumerConfig, timeout time.Duration,
) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		config.InactiveThreshold, config.MaxResetAttempts = idleConsumer, resetAttempts
		ctx, done := e.longCall(ctx, apiConsumerCreate, apiConsumerNext)
		defer done()
		create, stop := context.WithTimeout(ctx, e.timeout)
		consumer, err := (*e.stream.Load()).OrderedConsumer(create, config)
		err = e.explain(create, err)
		stop()
		if err != nil {
			yield(hub.Stored{}, err)
			return
		}
		defer e.remove(consumer)
		messages, err := consumer.Messages(jetstream.PullMaxBytes(e.pullSize()))
		if err != nil {
			yield(hub.Stored{}, e.explain(ctx, err))
			return
		}
		defer messages.Stop()
		for {
			m, err := next(ctx, messages, timeout)
			var meta *jetstream.MsgMetadata
			if err == nil {
				meta, err = m.Metadata()
			}
			if err != nil {
				yield(hub.Stored{}, e.explain(ctx, err))
				return
			}
			stored := hub.Stored{
				Message: hub.Message{Head: []byte(m.Headers().Get(headKey)), Body: m.Data()},
				Session: sessionOf(m.Subject()), Revision: hub.Revision(meta.Sequence.Stream),
			}
			if !yield(stored, nil) {
				return
			}
		}
	}
}

func next(ctx context.Context, messages jetstream.MessagesContext, timeout time.Duration) (jetstream.Msg, error) {
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	return messages.Next(jetstream.NextContext(ctx))
}

// resetAttempts is how often the library tries to create a consumer again that was lost, as with a server that stops.
// Without a bound it tries forever, and neither a timeout nor a context ends that.
const resetAttempts = 2

// idleConsumer is how long a server keeps the consumer of a disconnected client. A stream has few of them by
// default.
const idleConsumer = 30 * time.Second

// remove removes a consumer. One that cannot be removed ends by itself.
func (e *Engine) remove(consumer jetstream.Consumer) {
	info := consumer.CachedInfo()
	if info == nil || e.conn.IsClosed() {
		return
	}
	ctx, done := e.call(context.Background(), apiConsumerDelete)
	defer done()
	_ = (*e.stream.Load()).DeleteConsumer(ctx, info.Name)
}

// Purge implements hub.Engine.
func (e *Engine) Purge(ctx context.Context, s hub.Session, before hub.Revision) error {
	ctx, done := e.call(ctx, apiStreamPurge)
	defer done()
	err := (*e.stream.Load()).Purge(ctx, jetstream.WithPurgeSubject(subjectOf(s)),
		jetstream.WithPurgeSequence(uint64(before)))
	return e.explain(ctx, err)
}
