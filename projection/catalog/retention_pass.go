package catalog

import (
	"errors"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// retentionID names the journal in which a team's retention is recorded. It is
// no ULID, so that nobody takes it for a session.
const retentionID = "retention"

// RetentionPass is a pass of retention over a team. What it does to sessions it records
// in the team's retention.jsonl, and at its end it brings the index up to date,
// once for all of them. A RetentionPass must be closed; it is for one goroutine.
type RetentionPass struct {
	team    *Dir
	bin     *journal.TrashBatch
	log     *journal.Log
	err     error           // why nothing can be recorded
	changed map[string]*row // what the index has to learn; nil: the session is gone
}

// BeginRetention begins a pass. Nothing is opened before something is done.
func (t *Dir) BeginRetention() *RetentionPass {
	return &RetentionPass{team: t, bin: t.journals.TrashBatch(), changed: map[string]*row{}}
}

// Archive compresses a session as it was listed, and returns the size of the
// archive in bytes. It returns journal.ErrChanged when the session went on since.
func (p *RetentionPass) Archive(s Session, reason string) (size int64, err error) {
	if err := p.team.journals.ArchiveAt(s.ID, s.End); err != nil {
		return s.Bytes, err
	}
	// Crash here leaves a session that was archived and no record of that; what
	// was done, the directory shows.
	info, err := p.team.journals.Stat(s.ID)
	if err != nil {
		return s.Bytes, err
	}
	p.record(projection.SessionArchived{Retired: projection.Retired{SessionID: s.ID, BytesBefore: s.Bytes, BytesAfter: info.Size, Reason: reason}})
	if r, ok := archivedRow(s, info); ok {
		p.changed[s.ID] = &r
	}
	return info.Size, nil
}

// archivedRow is the row of a session that was archived as it was listed, so
// that the next list need not decompress it. One with a torn tail, which was set
// aside and recorded, has to be read.
func archivedRow(s Session, info journal.Info) (row, bool) {
	state := projection.State{SessionID: s.ID, CWD: s.CWD, Row: s.Row}
	state.Team.ID = s.TeamID
	return newRow(info, &state, s.End), info.Archived && !s.Archived && !s.Truncated && s.End.Offset == s.Bytes
}

// Trash moves a session to the trash, as Delete does, unless it went on since it
// was listed: then it returns journal.ErrChanged.
func (p *RetentionPass) Trash(s Session, reason string) error {
	info, err := p.team.journals.Stat(s.ID)
	if err != nil {
		return err
	}
	if info.Size != s.Bytes {
		return fmt.Errorf("session %s: %w", s.ID, journal.ErrChanged)
	}
	if err := p.bin.Trash(s.ID); err != nil {
		return err
	}
	// Crash here leaves a session in the trash and no record of that.
	p.record(projection.SessionTrashed{Retired: projection.Retired{SessionID: s.ID, BytesBefore: s.Bytes, BytesAfter: s.Bytes, Reason: reason}})
	p.team.dropCheckpoint(s.ID)
	p.changed[s.ID] = nil
	return nil
}

// Purge removes sessions from the trash for good, one after another, and tells
// of each. Because nothing shows later that there was one, all are recorded
// first, durably.
func (p *RetentionPass) Purge(trashed []journal.Trashed, reason string, purged func(journal.Trashed) error) error {
	records := make([]journal.Record, len(trashed))
	for i, item := range trashed {
		records[i] = projection.Record(time.Time{}, projection.SessionPurged{Retired: projection.Retired{SessionID: item.ID, BytesBefore: item.Bytes, Reason: reason}})
	}
	p.append(records...)
	p.sync()
	for _, item := range trashed {
		// Crash here leaves a record of sessions that are still in the trash:
		// the next Purge records and removes them.
		if err := p.bin.Purge(item.ID); err != nil {
			return err
		}
		if err := purged(item); err != nil {
			return err
		}
	}
	return nil
}

func (p *RetentionPass) record(payload projection.Payload) {
	p.append(projection.Record(time.Time{}, payload))
}

// append records what was done, or keeps why it cannot: retention goes on.
func (p *RetentionPass) append(records ...journal.Record) {
	if len(records) == 0 || p.err != nil {
		return
	}
	if p.log == nil {
		if p.log, p.err = p.team.retentionLog(); p.err != nil {
			return
		}
	}
	_, p.err = p.log.Append(records...)
}

func (p *RetentionPass) sync() {
	if p.log != nil && p.err == nil {
		p.err = p.log.Sync()
	}
}

func (t *Dir) retentionLog() (*journal.Log, error) {
	log, err := t.journals.Open(retentionID)
	if errors.Is(err, journal.ErrNotFound) {
		return t.journals.Create(retentionID)
	}
	return log, err
}

// Close ends the pass. Its error is a *NotRecordedError: what was done is done.
func (p *RetentionPass) Close() error {
	p.team.updateIndex(p.changed)
	if p.log != nil {
		err := p.log.Close()
		if p.err == nil {
			p.err = err
		}
	}
	if p.err != nil {
		return &NotRecordedError{p.err}
	}
	return nil
}

// NotRecordedError says why a Pass could not record what it did, or some of it.
type NotRecordedError struct{ Err error }

func (e *NotRecordedError) Error() string {
	return "what retention did is not all recorded: " + e.Err.Error()
}

// Unwrap returns why.
func (e *NotRecordedError) Unwrap() error { return e.Err }
