package store

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Memory is a Store that keeps sessions in memory, for tests and for chats that are not saved. It
// behaves like Files on a disk that never fails, except that it forgets the steps of a turn (its
// streamed text, tools, plans and permissions), which no snapshot has, when the turn ends. The zero Memory
// is empty and ready to use. A Memory is safe for concurrent use.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession // by session ID
}

type memorySession struct {
	id, teamID string
	events     []memoryEvent
	held       int // the sum of Size of events
	at         journal.Position
	writer     *journal.Holder   // nil if no Log is open
	files      map[string][]byte // by their SHA-256
}

type memoryEvent struct {
	journal.Event
	stepOf string // the ID of the turn of which it is a step; "" if it is none
}

// Clear removes all sessions. Their open Logs remain usable, but what they append is not kept. A Log
// that has appended nothing yet is not affected.
func (s *Memory) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = nil
}

// SessionCount returns the number of sessions of a team, or of all teams if teamID is "".
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
func (s *Memory) Create(teamID, sessionID string) (Log, error) {
	if err := CheckNewID(sessionID); err != nil {
		return nil, err
	}
	session := &memorySession{id: cmp.Or(sessionID, ulid.Make().String()), teamID: teamID, writer: thisProcess()}
	return &memoryLog{store: s, session: session}, nil
}

func thisProcess() *journal.Holder {
	host, _ := os.Hostname()
	return &journal.Holder{PID: os.Getpid(), Host: host, StartedAt: time.Now().UTC()}
}

// Open implements Store.
func (s *Memory) Open(ctx context.Context, teamID, sessionID string) (Log, *projection.State, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[sessionID]
	switch {
	case session == nil:
		return nil, nil, notFound(sessionID)
	case session.teamID != teamID:
		return nil, nil, &TeamMismatchError{SessionID: sessionID, Want: session.teamID, Got: teamID}
	case session.writer != nil:
		return nil, nil, &journal.LockedError{Path: sessionID, Holder: *session.writer}
	}
	state := session.state()
	if state.Newer {
		return nil, nil, &UpgradeError{sessionID, state.Row.Newer}
	}
	session.writer = thisProcess()
	return &memoryLog{store: s, session: session}, state, nil
}

// Load implements Store.
func (s *Memory) Load(ctx context.Context, teamID, sessionID string) (*projection.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[sessionID]
	if session == nil || session.teamID != teamID {
		return nil, notFound(sessionID)
	}
	return projection.ReadSnapshot(session.all())
}

// Latest implements Store.
func (s *Memory) Latest(ctx context.Context, teamID string) (Summary, error) {
	return latest(s.List(ctx, teamID))
}

// List implements Store.
func (s *Memory) List(ctx context.Context, teamID string) ([]Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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
func (s *Memory) Delete(ctx context.Context, teamID, sessionID string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
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
			if !yield(e.Event, nil) {
				return
			}
		}
	}
}

func (m *memorySession) state() *projection.State {
	var state projection.State
	for _, e := range m.events {
		state.Apply(e.Event)
	}
	return &state
}

// memoryLog implements Log. Its fields and the session's are protected by store.mu.
type memoryLog struct {
	store   *Memory
	session *memorySession
	closed  bool
}

func (l *memoryLog) SessionID() string { return l.session.id }

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
		if l.store.sessions[l.session.id] != nil {
			return nil, &fs.PathError{Op: "create", Path: l.session.id, Err: fs.ErrExist}
		}
		if l.store.sessions == nil {
			l.store.sessions = map[string]*memorySession{}
		}
		l.store.sessions[l.session.id] = l.session
	}
	l.session.at = at
	for i := range events {
		l.session.add(events[i])
		events[i].Data = slices.Clone(events[i].Data) // which the caller may modify
	}
	return events, nil
}

// add appends an event, and at the end of a turn removes the turn's steps.
func (m *memorySession) add(e journal.Event) {
	stepOf := ""
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.TurnText:
		stepOf = p.TurnID
	case projection.ToolStarted:
		stepOf = p.TurnID
	case projection.ToolCompleted:
		stepOf = p.TurnID
	case projection.PlanUpdated:
		stepOf = p.TurnID
	case projection.PermissionAnswered:
		stepOf = p.TurnID
	case projection.PermissionBypassed:
		stepOf = p.TurnID
	case projection.TurnEnded:
		m.removeSteps(p.TurnID)
	}
	m.events = append(m.events, memoryEvent{e, stepOf})
	m.held += Size(e.Data)
}

func (m *memorySession) removeSteps(turnID string) {
	m.events = slices.DeleteFunc(m.events, func(e memoryEvent) bool {
		isStep := e.stepOf == turnID && turnID != ""
		if isStep {
			m.held -= Size(e.Data)
		}
		return isStep
	})
}

func (l *memoryLog) Attach(data []byte) (string, error) {
	if len(data) > attachment.MaxBytes {
		return "", &attachment.TooLargeError{Bytes: int64(len(data))}
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.closed {
		return "", journal.ErrClosed
	}
	sum := attachment.Sum(data)
	if _, known := l.session.files[sum]; !known {
		if l.session.files == nil {
			l.session.files = map[string][]byte{}
		}
		l.session.files[sum] = slices.Clone(data)
		l.session.held += Size(data)
	}
	return sum, nil
}

func (l *memoryLog) Attached(f projection.File) ([]byte, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	data, ok := l.session.files[f.SHA256]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: f.SHA256, Err: fs.ErrNotExist}
	}
	return slices.Clone(data), nil
}

func (l *memoryLog) Held() int {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.session.held
}

func (l *memoryLog) Backward() iter.Seq2[journal.Event, error] {
	l.store.mu.Lock()
	events := slices.Clone(l.session.events)
	l.store.mu.Unlock()
	return func(yield func(journal.Event, error) bool) {
		for _, e := range slices.Backward(events) {
			e.Data = slices.Clone(e.Data)
			if !yield(e.Event, nil) {
				return
			}
		}
	}
}

func (l *memoryLog) Save(*projection.State) error { return l.usable() }

func (l *memoryLog) Recover(context.Context) ([]journal.Event, error) { return nil, l.usable() }

func (l *memoryLog) SetAside(...journal.Record) (journal.Unsaved, error) {
	return journal.Unsaved{}, nil
}

func (l *memoryLog) usable() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
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
