package store

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

// Memory keeps sessions as long as the process lives. It behaves as
// Files does, except that nothing can fail. The zero Memory is empty
// and ready.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession // by session id
}

type memorySession struct {
	id, teamID string
	events     []journal.Event
	at         journal.Position
	writer     *journal.Holder // nil: nobody writes
}

// Clear forgets everything. Sessions that are open can still be appended to,
// but nobody finds them.
func (s *Memory) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = nil
}

// SessionCount is how many sessions a team has, or all teams when teamID is "".
func (s *Memory) SessionCount(teamID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, session := range s.sessions {
		if teamID == "" || session.teamID == teamID {
			n++
		}
	}
	return n
}

// Create implements Store.
func (s *Memory) Create(teamID string) (Log, error) {
	session := &memorySession{id: ulid.Make().String(), teamID: teamID, writer: thisProcess()}
	return &memoryLog{store: s, session: session, state: &projection.State{}}, nil
}

func thisProcess() *journal.Holder {
	host, _ := os.Hostname()
	return &journal.Holder{PID: os.Getpid(), Host: host, StartedAt: time.Now().UTC()}
}

// Open implements Store.
func (s *Memory) Open(teamID, sessionID string) (Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[sessionID]
	switch {
	case session == nil:
		return nil, notFound(sessionID)
	case session.teamID != teamID:
		return nil, &TeamMismatchError{SessionID: sessionID, Want: session.teamID, Got: teamID}
	case session.writer != nil:
		return nil, &journal.LockedError{Path: sessionID, Holder: *session.writer}
	}
	state := session.state()
	if state.Newer {
		return nil, &UpgradeError{sessionID, state.Row.Newer}
	}
	session.writer = thisProcess()
	return &memoryLog{store: s, session: session, state: state}, nil
}

func notFound(sessionID string) error {
	return fmt.Errorf("session %s: %w", sessionID, journal.ErrNotFound)
}

// Load implements Store.
func (s *Memory) Load(teamID, sessionID string) (*projection.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[sessionID]
	if session == nil || session.teamID != teamID {
		return nil, notFound(sessionID)
	}
	return projection.ReadSnapshot(session.all())
}

// Latest implements Store.
func (s *Memory) Latest(teamID string) (Summary, error) {
	list, err := s.List(teamID)
	if err != nil {
		return Summary{}, err
	}
	return latest(list)
}

// List implements Store.
func (s *Memory) List(teamID string) ([]Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Summary
	for _, session := range s.sessions {
		if session.teamID == teamID {
			list = append(list, Summary{SessionID: session.id, TeamID: teamID, Row: session.state().Row})
		}
	}
	slices.SortFunc(list, func(a, b Summary) int {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
		return strings.Compare(b.SessionID, a.SessionID)
	})
	return list, nil
}

// Delete implements Store.
func (s *Memory) Delete(teamID, sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[sessionID]
	if session == nil || session.teamID != teamID {
		return nil
	}
	if session.writer != nil {
		return &journal.LockedError{Path: sessionID, Holder: *session.writer}
	}
	delete(s.sessions, sessionID)
	return nil
}

func (m *memorySession) all() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range m.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memorySession) state() *projection.State {
	var state projection.State
	for _, e := range m.events {
		state.Apply(e)
	}
	return &state
}

// memoryLog is the Log of a Memory.
type memoryLog struct {
	store   *Memory
	session *memorySession
	state   *projection.State
	closed  bool
}

func (l *memoryLog) SessionID() string        { return l.session.id }
func (l *memoryLog) State() *projection.State { return l.state.Clone() }

func (l *memoryLog) Fits(batch ...journal.Record) error {
	for _, r := range batch {
		if err := r.Fits(0); err != nil {
			return err
		}
	}
	return nil
}

func (l *memoryLog) Append(batch ...journal.Record) ([]journal.Event, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.closed {
		return nil, journal.ErrClosed
	}
	if err := l.Fits(batch...); err != nil {
		return nil, err
	}
	at := l.session.at
	var events []journal.Event
	for _, r := range batch {
		var e journal.Event
		var err error
		if e, at, err = at.Next(r); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if len(l.session.events) == 0 && len(events) > 0 {
		l.store.add(l.session)
	}
	l.session.at = at
	l.session.events = append(l.session.events, events...)
	return copyEvents(events), nil
}

func (s *Memory) add(session *memorySession) {
	if s.sessions == nil {
		s.sessions = map[string]*memorySession{}
	}
	s.sessions[session.id] = session
}

// copyEvents shares no payload with what the store keeps.
func copyEvents(events []journal.Event) []journal.Event {
	copied := slices.Clone(events)
	for i := range copied {
		copied[i].Data = slices.Clone(copied[i].Data)
	}
	return copied
}

func (l *memoryLog) Backward() iter.Seq2[journal.Event, error] {
	l.store.mu.Lock()
	events := copyEvents(l.session.events)
	l.store.mu.Unlock()
	return func(yield func(journal.Event, error) bool) {
		for _, e := range slices.Backward(events) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (l *memoryLog) Save(*projection.State) error { return l.usable() }

func (l *memoryLog) Recover() ([]journal.Event, error) { return nil, l.usable() }

func (l *memoryLog) usable() error {
	if l.closed {
		return journal.ErrClosed
	}
	return nil
}

func (l *memoryLog) Close(*projection.State) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if !l.closed {
		l.closed, l.session.writer = true, nil
	}
	return nil
}
