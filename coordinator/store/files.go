package store

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A checkpoint is written when the journal has grown by this much since the last one: reading that much takes a few
// milliseconds.
const (
	checkpointEvents = 1000
	checkpointBytes  = 1 << 20
)

// A checkpoint is also written when the log is closed and the journal has grown by an eighth of the last one since. A
// resume that reads as many bytes of events as the checkpoint has takes 1.4 times the CPU time, so one that reads an
// eighth takes 1.05 times. A checkpoint of 434 KB, of messages of 2 KB, is then written once in 20 turns.
const checkpointPart = 8

// Files is a Store that keeps each session in a journal file.
type Files struct {
	catalog *catalog.Catalog // nil if dir is set
	dir     *catalog.Dir     // of all teams
}

// NewFiles returns a Store with one directory per team.
func NewFiles(c *catalog.Catalog) *Files { return &Files{catalog: c} }

// NewDir returns a Store with one directory for the sessions of all teams.
func NewDir(d *catalog.Dir) *Files { return &Files{dir: d} }

func (s *Files) team(id string) *catalog.Dir {
	if s.dir != nil {
		return s.dir
	}
	return s.catalog.Team(id)
}

// Create implements Store.
func (s *Files) Create(teamID, sessionID string) (Log, error) {
	if err := CheckNewID(sessionID); err != nil {
		return nil, err
	}
	d := s.team(teamID)
	if sessionID == "" {
		sessionID = d.Journals().NewID()
	}
	log, err := d.Journals().Create(sessionID)
	if err != nil {
		return nil, err
	}
	return &fileLog{log: log, dir: d}, nil
}

// Open implements Store.
func (s *Files) Open(ctx context.Context, teamID, sessionID string) (Log, *projection.State, error) {
	if !s.validID(sessionID) {
		return nil, nil, notFound(sessionID)
	}
	d := s.team(teamID)
	log, state, loaded, err := d.Open(ctx, sessionID)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, nil, s.mismatch(ctx, teamID, sessionID, err)
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case loaded.At.Seq == 0:
		err = &catalog.MissingHeaderError{ID: sessionID, Reason: "there is no event in it", Empty: true}
	case state.Team.ID != teamID:
		err = &TeamMismatchError{SessionID: sessionID, Want: state.Team.ID, Got: teamID}
	case state.Newer:
		err = &UpgradeError{sessionID, state.Row.Newer}
	}
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return &fileLog{log: log, dir: d, checkpoint: loaded.From}, state, nil
}

// validID reports whether a session can have the ID: a canonical ULID, or in one directory for all
// teams any file name.
func (s *Files) validID(sessionID string) bool {
	if s.dir == nil {
		return journal.ValidID(sessionID)
	}
	return filepath.IsLocal(sessionID) && sessionID != "." && !strings.ContainsAny(sessionID, "/\\\x00")
}

// mismatch returns a *TeamMismatchError if another team has the session, otherwise notFound.
func (s *Files) mismatch(ctx context.Context, teamID, sessionID string, notFound error) error {
	if s.catalog == nil {
		return notFound
	}
	found, _, err := s.catalog.Find(ctx, sessionID)
	if err != nil {
		return notFound
	}
	return &TeamMismatchError{SessionID: sessionID, Want: found.TeamID, Got: teamID}
}

// Load implements Store.
func (s *Files) Load(ctx context.Context, teamID, sessionID string) (*projection.Snapshot, error) {
	if !s.validID(sessionID) {
		return nil, notFound(sessionID)
	}
	snapshot, err := projection.ReadSnapshot(s.team(teamID).Events(ctx, sessionID))
	if err == nil && snapshot.TeamID != teamID {
		return nil, notFound(sessionID)
	}
	return snapshot, err
}

// Latest implements Store.
func (s *Files) Latest(ctx context.Context, teamID string) (Summary, error) {
	return latest(s.List(ctx, teamID))
}

// List implements Store.
func (s *Files) List(ctx context.Context, teamID string) ([]Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	result, err := s.team(teamID).List(ctx, catalog.Query{Team: teamID, Damaged: catalog.Without})
	if err != nil {
		return nil, err
	}
	var list []Summary
	for _, session := range result.Sessions {
		list = append(list, Summary{SessionID: session.ID, TeamID: session.TeamID, Row: session.Row})
	}
	return list, nil
}

// Delete implements Store. It moves the session to the trash.
func (s *Files) Delete(ctx context.Context, teamID, sessionID string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.validID(sessionID) {
		return nil
	}
	if s.dir != nil {
		session, err := s.dir.Session(ctx, sessionID)
		if err == nil && session.Damaged == "" && session.TeamID != teamID {
			return nil
		}
	}
	err := s.team(teamID).Delete(ctx, sessionID)
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	return err
}

// fileLog is the Log of Files.
type fileLog struct {
	log        *journal.Log
	dir        *catalog.Dir
	checkpoint journal.Position // of the newest checkpoint
	appended   bool
}

func (l *fileLog) SessionID() string { return l.log.ID() }

func (l *fileLog) Append(batch ...journal.Record) ([]journal.Event, error) {
	events, err := l.log.Append(batch...)
	l.appended = l.appended || err == nil || errors.Is(err, journal.ErrPoisoned)
	return events, err
}

func (l *fileLog) Fits(batch ...journal.Record) error { return l.log.Fits(batch...) }

func (l *fileLog) Attach(data []byte) (string, error) {
	d, err := l.dir.Attachments(l.log.ID())
	if err != nil {
		return "", err
	}
	return d.Write(data)
}

func (l *fileLog) Attached(f projection.File) ([]byte, error) {
	d, err := l.dir.Attachments(l.log.ID())
	if err != nil {
		return nil, err
	}
	return d.Read(f.SHA256, f.Bytes)
}

func (l *fileLog) Held() int { return 0 }

func (l *fileLog) Backward() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		at := l.log.Position()
		if at.Seq == 0 {
			return
		}
		r, err := l.log.Reader(journal.Position{})
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

func (l *fileLog) Recover(ctx context.Context) ([]journal.Event, error) {
	return l.log.Recover(ctx)
}

func (l *fileLog) SetAside(batch ...journal.Record) (journal.Unsaved, error) {
	return l.log.SetAside(batch...)
}

func (l *fileLog) Save(state *projection.State) error {
	if err := l.log.Sync(); err != nil {
		return err
	}
	at := l.log.Position()
	if at.Seq-l.checkpoint.Seq < checkpointEvents && at.Offset-l.checkpoint.Offset < checkpointBytes {
		return nil
	}
	if state.Seq == at.Seq {
		l.writeCheckpoint(state, at)
	}
	return nil
}

// outgrown reports whether what follows the newest checkpoint weighs enough for another one.
func (l *fileLog) outgrown(at journal.Position) bool {
	return l.checkpoint.Seq == 0 ||
		(at.Offset-l.checkpoint.Offset)*checkpointPart >= l.dir.CheckpointSize(l.log.ID())
}

// writeCheckpoint writes a checkpoint, unless there is one of this position. One that cannot be
// written only makes the next Open slower.
func (l *fileLog) writeCheckpoint(state *projection.State, at journal.Position) {
	if at != l.checkpoint && l.dir.WriteCheckpoint(l.log.ID(), state, at) == nil {
		l.checkpoint = at
	}
}

func (l *fileLog) Close(state *projection.State) error {
	err := l.log.Sync()
	if errors.Is(err, journal.ErrClosed) {
		return nil
	}
	if at := l.log.Position(); err == nil && l.appended && at.Seq == state.Seq {
		// Crash here leaves caches of an earlier position, from which the end is folded.
		if l.outgrown(at) {
			l.writeCheckpoint(state, at)
		}
		l.dir.UpdateIndex(l.log.ID(), state, at)
	}
	return errors.Join(err, l.log.Close())
}
