package catalog

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Session describes a session: what a list shows of it.
type Session struct {
	ID     string
	TeamID string
	Source *projection.Source // of the team's configuration; nil: none is recorded
	CWD    string
	projection.Row
	Archived bool

	// Damaged is why the journal cannot be read to its end; "": it can. The
	// other fields then describe the part that was read.
	Damaged       string
	ReadErr       error // the system's error, if that is why; the journal may be intact
	MissingHeader bool  // damaged although every checksum is valid; Repair does not help
	Truncated     bool  // the file has fewer events than it had before

	Bytes   int64 // size of the file, compressed if archived
	LastSeq uint64
	End     journal.Position // after event LastSeq

	dir string
}

// Path returns the path of the journal when it is not archived.
func (s Session) Path() string { return filepath.Join(s.dir, s.ID+".jsonl") }

// Dir returns the path of the directory in which the session was found.
func (s Session) Dir() string { return s.dir }

// Session describes one session, or returns journal.ErrNotFound.
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
		return Session{}, fmt.Errorf("%s is empty: %w", info.Path(), journal.ErrNotFound)
	}
	return d.session(&r), nil
}

func (d *Dir) session(r *row) Session {
	emptied := r.Damaged != "" && r.Lost > 0 && r.LastSeq == 0
	return Session{
		ID: r.ID, TeamID: r.TeamID, Source: r.Source, CWD: r.CWD, Row: r.Row, Archived: r.Archived,
		Damaged: r.Damaged, ReadErr: r.readErr, Truncated: r.Lost > 0,
		MissingHeader: r.Damaged == errNotSession.Error() || emptied,
		Bytes:         r.Bytes, LastSeq: r.LastSeq, End: journal.Position{Seq: r.LastSeq, Offset: r.End, Sum: r.Sum},
		dir: d.journals.Path(),
	}
}
