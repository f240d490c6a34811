package hubtest

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// Memory is an engine in memory. The zero Memory is ready to use; its fields are set before that.
type Memory struct {
	Limit int // of a body in bytes; 0: 1 MiB

	// Fault, if set, is called for each Publish, before and after it is stored. An error becomes that
	// of Publish.
	Fault func(stored bool) error

	mu       sync.Mutex
	name     string
	revision hub.Revision
	messages map[hub.Session][]hub.Stored
	changed  chan struct{} // closed and replaced when a message is stored
	conns    uint64
}

// Publish implements hub.Engine.
func (m *Memory) Publish(
	ctx context.Context, s hub.Session, last hub.Revision, message hub.Message,
) (hub.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := m.fault(false); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(message.Body) > m.MaxBody() {
		return 0, &hub.RefusedError{Reason: "the message is too long"}
	}
	if m.lastOf(s) != last {
		return 0, &hub.ConflictError{Session: s}
	}
	m.revision++
	m.append(hub.Stored{Session: s, Revision: m.revision, Message: hub.Message{
		Head: bytes.Clone(message.Head), Body: bytes.Clone(message.Body),
	}})
	if err := m.fault(true); err != nil {
		return 0, err
	}
	return m.revision, nil
}

func (m *Memory) fault(stored bool) error {
	if m.Fault == nil {
		return nil
	}
	return m.Fault(stored)
}

func (m *Memory) lastOf(s hub.Session) hub.Revision {
	if all := m.messages[s]; len(all) > 0 {
		return all[len(all)-1].Revision
	}
	return 0
}

func (m *Memory) append(message hub.Stored) {
	if m.messages == nil {
		m.messages = map[hub.Session][]hub.Stored{}
	}
	m.messages[message.Session] = append(m.messages[message.Session], message)
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// Read implements hub.Engine.
func (m *Memory) Read(ctx context.Context, s hub.Session, after hub.Revision) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		m.mu.Lock()
		messages := slices.Clone(m.messages[s])
		m.mu.Unlock()
		for _, message := range messages {
			if err := ctx.Err(); err != nil {
				yield(hub.Stored{}, err)
				return
			}
			if message.Revision > after && !yield(message, nil) {
				return
			}
		}
	}
}

// Last implements hub.Engine.
func (m *Memory) Last(ctx context.Context, s hub.Session) (hub.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if all := m.messages[s]; len(all) > 0 {
		return withoutBody(all[len(all)-1]), ctx.Err()
	}
	return hub.Stored{}, ctx.Err()
}

func withoutBody(s hub.Stored) hub.Stored {
	s.Body = nil
	return s
}

// List implements hub.Engine.
func (m *Memory) List(ctx context.Context, team string) iter.Seq2[hub.Stored, error] {
	return func(yield func(hub.Stored, error) bool) {
		m.mu.Lock()
		var last []hub.Stored
		for s, all := range m.messages {
			if (team == "" || s.Team == team) && len(all) > 0 {
				last = append(last, withoutBody(all[len(all)-1]))
			}
		}
		m.mu.Unlock()
		for _, message := range last {
			if !yield(message, ctx.Err()) {
				return
			}
		}
	}
}

// Watch implements hub.Engine.
func (m *Memory) Watch(ctx context.Context, team string, changed func(hub.Stored)) error {
	var seen hub.Revision
	for {
		m.mu.Lock()
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		wait := m.changed
		m.mu.Unlock()
		highest := seen
		for message := range m.List(ctx, team) {
			if message.Revision > seen {
				changed(message)
				highest = max(highest, message.Revision)
			}
		}
		seen = highest
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait:
		}
	}
}

// Purge implements hub.Engine.
func (m *Memory) Purge(ctx context.Context, s hub.Session, before hub.Revision) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[s] = slices.DeleteFunc(m.messages[s], func(message hub.Stored) bool { return message.Revision < before })
	return ctx.Err()
}

// MaxBody implements hub.Engine.
func (m *Memory) MaxBody() int {
	if m.Limit == 0 {
		return 1 << 20
	}
	return m.Limit
}

// Warnings implements hub.Engine.
func (m *Memory) Warnings() []string { return nil }

// Name implements hub.Engine.
func (m *Memory) Name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return "memory" + m.name
}

// Clock implements hub.Engine.
func (m *Memory) Clock(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }

// Connections implements hub.Engine.
func (m *Memory) Connections() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conns
}

// Reconnect simulates a lost connection.
func (m *Memory) Reconnect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns++
}

// Close implements hub.Engine.
func (m *Memory) Close() {}

// Messages returns the messages of a session.
func (m *Memory) Messages(s hub.Session) []hub.Stored {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages[s])
}

// Change replaces the messages of a session, as a broken hub may do.
func (m *Memory) Change(s hub.Session, change func([]hub.Stored) []hub.Stored) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.messages == nil {
		m.messages = map[hub.Session][]hub.Stored{}
	}
	m.messages[s] = change(slices.Clone(m.messages[s]))
}

// Recreate deletes everything, as if the hub was created again.
func (m *Memory) Recreate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name += "+"
	m.messages, m.revision = nil, 0
	m.conns++
}
