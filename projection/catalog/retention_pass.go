package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
)

// retentionID is the name of the journal in which a team's retention is
// recorded. It is not a ULID, so that it is not listed as a session.
const retentionID = "retention"

// ErrChanged is returned if a session was written to since it was listed or loaded.
var ErrChanged = errors.New("journal was changed concurrently")

// RetentionPass archives, trashes and purges sessions of a team. It records
// what it did in retention.jsonl, and Close updates the index once for all of
// it. A RetentionPass is not for concurrent use.
type RetentionPass struct {
	dir     *Dir
	trash   *trash.Trash
	log     *journal.Log    // nil: nothing was recorded yet
	err     error           // why nothing can be recorded
	torn    journal.Torn    // what the first record has set aside
	changed map[string]*row // rows to update; nil: the session is gone
}

// BeginRetention begins a pass. It opens nothing. The caller must close the pass after it
// has changed something.
func (d *Dir) BeginRetention() *RetentionPass {
	return &RetentionPass{dir: d, trash: trash.Of(d.journals), changed: map[string]*row{}}
}

// do calls Archive or Trash. It does nothing if the action is Keep.
func (p *RetentionPass) do(ctx context.Context, a Action, s Session, reason string) error {
	switch a {
	case Archive:
		_, err := p.Archive(ctx, s, reason)
		return err
	case Trash:
		return p.Trash(ctx, s, reason)
	}
	return nil
}

// Archive compresses a session and returns the size of the archive in bytes. It
// returns ErrChanged if the session was appended to since it was listed.
func (p *RetentionPass) Archive(ctx context.Context, s Session, reason string) (size int64, err error) {
	log, err := p.dir.journals.Open(ctx, s.ID)
	if err != nil {
		return s.Bytes, err
	}
	if log.Position() != s.End {
		return s.Bytes, errors.Join(fmt.Errorf("%s: %w", log.Path(), ErrChanged), log.Close())
	}
	if err := log.Archive(ctx); err != nil {
		return s.Bytes, err
	}
	// Crash here leaves an archived session without a record of that. The
	// directory shows what was done.
	info, err := p.dir.journals.Stat(s.ID)
	if err != nil {
		return s.Bytes, err
	}
	p.record(ctx, projection.SessionArchived{Retired: projection.Retired{
		SessionID: s.ID, BytesBefore: s.Bytes, BytesAfter: info.Size, Reason: reason,
	}})
	// With the row, the next list need not decompress the archive. If a torn tail
	// was set aside, the archive has an event more than the row, and must be read.
	if info.Archived && !s.Archived && !s.Truncated && s.End.Offset == s.Bytes {
		state := projection.State{SessionID: s.ID, CWD: s.CWD, Row: s.Row}
		state.Team.ID, state.Team.Source = s.TeamID, s.Source
		s.Spent.restore(&state)
		r := newRow(info, &state, s.End)
		p.changed[s.ID] = &r
	}
	return info.Size, nil
}

// Trash moves a session to the trash, as Delete does. It returns
// ErrChanged if the session was appended to since it was listed.
func (p *RetentionPass) Trash(ctx context.Context, s Session, reason string) error {
	info, err := p.dir.journals.Stat(s.ID)
	if err != nil {
		return err
	}
	if info.Size != s.Bytes {
		return fmt.Errorf("session %s: %w", s.ID, ErrChanged)
	}
	if err := p.trash.Move(ctx, s.ID); err != nil {
		return err
	}
	// Crash here leaves a session in the trash without a record of that.
	p.record(ctx, projection.SessionTrashed{Retired: projection.Retired{
		SessionID: s.ID, BytesBefore: s.Bytes, BytesAfter: s.Bytes, Reason: reason,
	}})
	p.dir.removeCheckpoint(s.ID)
	p.dir.fs.Remove(hub.MarkPath(p.dir.journals, s.ID))
	p.changed[s.ID] = nil
	return nil
}

// Purge removes sessions from the trash and calls purged after each. Nothing
// else shows later that they existed, so all are recorded first, durably.
func (p *RetentionPass) Purge(
	ctx context.Context, trashed []trash.Item, reason string, purged func(trash.Item) error,
) error {
	payloads := make([]projection.Payload, len(trashed))
	for i, item := range trashed {
		payloads[i] = projection.SessionPurged{Retired: projection.Retired{
			SessionID: item.ID, BytesBefore: item.Bytes, Reason: reason,
		}}
	}
	p.record(ctx, payloads...)
	if p.log != nil && p.err == nil {
		p.err = p.log.Sync()
	}
	for _, item := range trashed {
		// Crash here leaves a record of sessions that are still in the trash.
		// The next Purge records and removes them.
		if err := p.trash.Purge(item.ID); err != nil {
			return err
		}
		if err := purged(item); err != nil {
			return err
		}
	}
	return nil
}

// record appends events to retention.jsonl, even if ctx is done. An error is kept
// for Close, and retention continues.
func (p *RetentionPass) record(ctx context.Context, payloads ...projection.Payload) {
	if len(payloads) == 0 || p.err != nil {
		return
	}
	if p.log == nil {
		p.log, p.err = p.dir.journals.Open(context.WithoutCancel(ctx), retentionID)
		if errors.Is(p.err, journal.ErrNotFound) {
			p.log, p.err = p.dir.journals.Create(retentionID)
		}
		if p.err != nil {
			return
		}
		p.torn = p.log.Torn()
	}
	records := make([]journal.Record, len(payloads))
	for i, payload := range payloads {
		p.dir.retired(payload)
		records[i] = projection.Record(time.Time{}, payload)
	}
	_, p.err = p.log.Append(records...)
}

// Torn describes the bytes at the end of retention.jsonl that were set aside before the first record: what a crash
// left, or what another program changed.
func (p *RetentionPass) Torn() journal.Torn {
	if p.err != nil {
		return journal.Torn{}
	}
	return p.torn
}

// CheckRetention checks retention.jsonl, in which the team's retention is recorded, as journal.Reader.Scan does, and
// returns its torn tail. It returns nil if there is none.
func (d *Dir) CheckRetention(ctx context.Context) (journal.Torn, error) {
	r, err := d.journals.Reader(retentionID, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return journal.Torn{}, nil
	}
	if err != nil {
		return journal.Torn{}, err
	}
	defer r.Close()
	r.StopWith(ctx)
	for _, err := range r.Scan() {
		if err != nil {
			return journal.Torn{}, err
		}
	}
	if r.Grown() {
		return journal.Torn{}, nil // a write in progress
	}
	return r.Torn(), nil
}

// Close updates the index, removes temporary files that killed programs left, and
// ends the pass. An error means that not all changes were recorded; the sessions were
// archived, trashed or purged nevertheless.
func (p *RetentionPass) Close() error {
	p.dir.updateRows(p.changed)
	p.dir.removeLeftovers()
	if p.log != nil {
		err := p.log.Close()
		if p.err == nil {
			p.err = err
		}
	}
	if p.err != nil {
		return fmt.Errorf("not all changes were recorded: %w", p.err)
	}
	return nil
}

// leftoverAge is how old a temporary file of a cache must be before it is removed: its
// name is unique, and a program that writes it needs seconds.
const leftoverAge = time.Hour

// removeLeftovers removes temporary files that killed programs left.
func (d *Dir) removeLeftovers() {
	d.journals.RemoveLeftovers(context.Background())
	entries, err := d.fs.ReadDir(d.journals.Path())
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".tmp") || strings.HasSuffix(entry.Name(), ".jsonl.tmp") ||
			!knownName().MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(d.journals.Path(), entry.Name())
		if info, err := d.fs.Stat(path); err == nil && time.Since(info.ModTime()) > leftoverAge {
			d.fs.Remove(path)
		}
	}
}
