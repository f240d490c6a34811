package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A checkpoint is written at a save point when this much lies behind the last
// one. So much is read in no time, and what a short session writes does not
// depend on how long the conversation is.
const (
	checkpointEvents = 1000
	checkpointBytes  = 1 << 20
)

// Files keeps each session in a journal below a directory.
type Files struct {
	catalog *catalog.Catalog // nil: all sessions are in one directory
	only    *catalog.Dir
}

// NewFiles keeps the sessions of each team in a directory of its own below
// that of the catalog.
func NewFiles(c *catalog.Catalog) *Files { return &Files{catalog: c} }

// NewDir keeps the sessions of whatever team in one directory.
func NewDir(t *catalog.Dir) *Files { return &Files{only: t} }

func (s *Files) team(id string) *catalog.Dir {
	if s.only != nil {
		return s.only
	}
	return s.catalog.Team(id)
}

// Create implements Store.
func (s *Files) Create(teamID string) (Log, error) {
	t := s.team(teamID)
	log, err := t.Journals().Create(t.Journals().NewID())
	if err != nil {
		return nil, err
	}
	return &fileLog{log: log, team: t, state: &projection.State{}}, nil
}

// Open implements Store.
func (s *Files) Open(teamID, sessionID string) (Log, error) {
	if !s.possible(sessionID) {
		return nil, notFound(sessionID)
	}
	t := s.team(teamID)
	log, err := t.Journals().Open(sessionID)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, s.elsewhere(teamID, sessionID, err)
	}
	if err != nil {
		return nil, err
	}
	l, err := openFileLog(t, log, teamID)
	if err != nil {
		log.Close()
		return nil, err
	}
	return l, nil
}

// possible reports whether a session can have the id. Below a catalog that is a
// ULID as it is written; in a directory of its own any name of a file.
func (s *Files) possible(sessionID string) bool {
	if s.only == nil {
		return journal.ValidID(sessionID)
	}
	return filepath.IsLocal(sessionID) && sessionID != "." && !strings.ContainsAny(sessionID, "/\\\x00")
}

// elsewhere explains why a team does not have a session: another one may.
func (s *Files) elsewhere(teamID, sessionID string, notFound error) error {
	if s.catalog == nil {
		return notFound
	}
	found, _, err := s.catalog.Find(sessionID)
	if err != nil {
		return notFound
	}
	return &TeamMismatchError{SessionID: sessionID, Want: found.TeamID, Got: teamID}
}

func openFileLog(t *catalog.Dir, log *journal.Log, teamID string) (*fileLog, error) {
	state, loaded, err := t.Load(context.TODO(), log.ID())
	switch {
	case err != nil:
		return nil, err
	case loaded.At.Seq == 0:
		return nil, &catalog.MissingHeaderError{ID: log.ID(), Reason: "there is no event in it"}
	case state.Team.ID != teamID:
		return nil, &TeamMismatchError{SessionID: log.ID(), Want: state.Team.ID, Got: teamID}
	case state.Newer:
		return nil, &UpgradeError{log.ID(), state.Row.Newer}
	case loaded.At != log.Position():
		return nil, fmt.Errorf("%s: it changed while it was read", log.Path())
	}
	return &fileLog{log: log, team: t, state: state, checkpoint: loaded.From}, nil
}

// Load implements Store.
func (s *Files) Load(teamID, sessionID string) (*projection.Snapshot, error) {
	if !s.possible(sessionID) {
		return nil, notFound(sessionID)
	}
	r, err := s.team(teamID).Journals().Reader(sessionID, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	snapshot, err := projection.ReadSnapshot(r.Scan())
	if err == nil && snapshot.TeamID != teamID {
		return nil, notFound(sessionID)
	}
	return snapshot, err
}

// Latest implements Store.
func (s *Files) Latest(teamID string) (Summary, error) {
	list, err := s.List(teamID)
	if err != nil {
		return Summary{}, err
	}
	return latest(list)
}

// latest is the first session of a list that one can go on with.
func latest(list []Summary) (Summary, error) {
	for _, session := range list {
		if session.MessageCount > 0 && session.Newer == "" {
			return session, nil
		}
	}
	return Summary{}, journal.ErrNotFound
}

// List implements Store.
func (s *Files) List(teamID string) ([]Summary, error) {
	sessions, err := s.team(teamID).List()
	if err != nil {
		return nil, err
	}
	var list []Summary
	for _, session := range sessions {
		if session.Damaged == "" && session.TeamID == teamID {
			list = append(list, Summary{SessionID: session.ID, TeamID: session.TeamID, Row: session.Row})
		}
	}
	return list, nil
}

// Delete implements Store: it moves the session to the trash.
func (s *Files) Delete(teamID, sessionID string) error {
	if !s.possible(sessionID) || s.ofAnother(teamID, sessionID) {
		return nil
	}
	err := s.team(teamID).Delete(sessionID)
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	return err
}

// ofAnother reports whether a directory for all teams has the session for
// another one.
func (s *Files) ofAnother(teamID, sessionID string) bool {
	if s.only == nil {
		return false
	}
	session, err := s.only.Session(sessionID)
	return err == nil && session.Damaged == "" && session.TeamID != teamID
}

// fileLog is the Log of a Files.
type fileLog struct {
	log        *journal.Log
	team       *catalog.Dir
	state      *projection.State
	checkpoint journal.Position // where the newest one stands
	appended   bool
}

func (l *fileLog) SessionID() string        { return l.log.ID() }
func (l *fileLog) State() *projection.State { return l.state.Clone() }

func (l *fileLog) Append(batch ...journal.Record) ([]journal.Event, error) {
	events, err := l.log.Append(batch...)
	l.appended = l.appended || err == nil || errors.Is(err, journal.ErrPoisoned)
	return events, err
}

func (l *fileLog) Fits(batch ...journal.Record) error { return l.log.Fits(batch...) }

func (l *fileLog) Backward() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		at := l.log.Position()
		if at.Seq == 0 {
			return
		}
		r, err := l.team.Journals().Reader(l.log.ID(), journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer r.Close()
		for e, err := range r.Before(at) {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (l *fileLog) Recover() ([]journal.Event, error) { return l.log.Recover() }

func (l *fileLog) Save(state *projection.State) error {
	if err := l.log.Sync(); err != nil {
		return err
	}
	l.keep(state, l.log.Position())
	return nil
}

// keep writes a checkpoint when it is long since the last one. One that cannot
// be written costs time later.
func (l *fileLog) keep(state *projection.State, at journal.Position) {
	if at.Seq-l.checkpoint.Seq < checkpointEvents && at.Offset-l.checkpoint.Offset < checkpointBytes {
		return
	}
	if state.Seq == at.Seq && l.team.WriteCheckpoint(l.log.ID(), state, at) == nil {
		l.checkpoint = at
	}
}

func (l *fileLog) Close(state *projection.State) error {
	err := l.log.Sync()
	if errors.Is(err, journal.ErrClosed) {
		return nil
	}
	if at := l.log.Position(); err == nil && l.appended && at.Seq == state.Seq {
		l.team.UpdateIndex(l.log.ID(), state, at)
	}
	return errors.Join(err, l.log.Close())
}
