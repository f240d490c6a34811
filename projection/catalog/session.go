package catalog

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Session describes a session as lists show it.
type Session struct {
	ID     string
	TeamID string
	Source *projection.Source // the team's configuration file; nil if the journal does not record one
	CWD    string
	projection.Row
	Archived bool

	Remote    bool   // it is only on a hub, which describes it; there is no journal
	ClaimedBy string // host of another machine that writes it, as a hub said when it was asked; "": none

	// Damaged is the reason that the journal cannot be read to its end, or "".
	// If it is set, the other fields describe the part that was read.
	Damaged       string
	ReadErr       error // the I/O error that caused Damaged, if any; the journal may be intact
	MissingHeader bool  // every checksum is valid, but Damaged is set; Repair does not help
	Truncated     bool  // the file has fewer events than it had before

	Bytes   int64 // size of the file, compressed if archived
	LastSeq uint64
	End     journal.Position // the position after event LastSeq

	Spent Spent // what its turns used

	dir string
}

// Path returns the path of the live journal, even if the session is archived.
func (s Session) Path() string { return filepath.Join(s.dir, s.ID+".jsonl") }

// Dir returns the path of the directory in which the session was found.
func (s Session) Dir() string { return s.dir }

// Key identifies the session.
func (s Session) Key() Key { return Key{s.dir, s.ID} }

// HeaderError is the error of reading a session of which MissingHeader is set.
func (s Session) HeaderError() *MissingHeaderError {
	return &MissingHeaderError{ID: s.ID, Reason: s.Damaged, Empty: s.Damaged != errNotSession.Error()}
}

// Session returns the session with this id. The error wraps journal.ErrNotFound
// if its journal does not exist, or is empty and is not known to have had events.
func (d *Dir) Session(ctx context.Context, id string) (Session, error) {
	info, err := d.journals.Stat(id)
	if err != nil {
		return Session{}, err
	}
	r, _ := d.currentRow(ctx, info, d.readRow(id))
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	if r.empty() {
		if info.Size > 0 {
			return Session{}, fmt.Errorf("%s has no valid line: %w", info.Path(), journal.ErrNotFound)
		}
		return Session{}, fmt.Errorf("%s is empty: %w", info.Path(), journal.ErrNotFound)
	}
	return d.session(&r), nil
}

func (d *Dir) session(r *row) Session {
	emptied := r.Damaged != "" && r.Lost > 0 && r.LastSeq == 0
	return Session{
		ID: r.ID, TeamID: r.TeamID, Source: r.Source, CWD: r.CWD, Row: r.Row, Archived: r.Archived,
		Remote: r.remote, ClaimedBy: r.claimedBy, Damaged: r.Damaged, ReadErr: r.readErr, Truncated: r.Lost > 0,
		MissingHeader: r.Damaged == errNotSession.Error() || emptied,
		Bytes:         r.Bytes, LastSeq: r.LastSeq, End: journal.Position{Seq: r.LastSeq, Offset: r.End, Sum: r.Sum},
		dir: d.journals.Path(), Spent: r.Spent,
	}
}
