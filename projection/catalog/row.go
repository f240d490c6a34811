package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// rowVersion changes when a row gets a field that readers need. Version 2 has
// the source of the team, version 3 what the session used. Rows of other versions are
// folded again.
const rowVersion = 3

// row is the index entry of a session: the file that it was made from, and what
// lists show. The fields that every list needs come first, up to updatedAt;
// glance reads no further.
type row struct {
	ID       string      `json:"id"`
	Fold     int         `json:"foldVersion"`
	Version  int         `json:"rowVersion"`
	Archived bool        `json:"archived"`
	Bytes    int64       `json:"size"` // of the file
	ModTime  time.Time   `json:"modTime"`
	Inode    uint64      `json:"inode"`
	LastSeq  uint64      `json:"lastSeq"`
	Lost     uint64      `json:"lost,omitempty"` // last event that the file had and no longer has; 0: none
	Damaged  string      `json:"damaged,omitempty"`
	End      int64       `json:"end"` // offset after the line of LastSeq
	Sum      journal.Sum `json:"sum"`
	projection.Row
	TeamID  string             `json:"teamId"`
	Source  *projection.Source `json:"teamSource,omitempty"`
	CWD     string             `json:"cwd"`
	Summary string             `json:"summary"` // for other programs; set when the row is written

	Spent

	// These are not in the index.
	readErr   error  // Session.ReadErr
	remote    bool   // Session.Remote
	claimedBy string // Session.ClaimedBy
}

func newRow(info journal.Info, state *projection.State, at journal.Position) row {
	return row{
		ID: info.ID, TeamID: state.Team.ID, Source: state.Team.Source, CWD: state.CWD, Row: state.Row,
		Fold: projection.FoldVersion, Version: rowVersion,
		Archived: info.Archived, Bytes: info.Size, ModTime: info.ModTime.UTC(), Inode: info.Inode,
		LastSeq: at.Seq, End: at.Offset, Sum: at.Sum,
		Spent: spentOf(state),
	}
}

// damagedRow returns the row of a journal that cannot be read to its end. Its
// last update may be in the part that cannot be read, so a later modification
// time of the file replaces it. After an error of the system, or at a line that a
// higher limit allows, the damage is not certain: the row then does not describe
// the file, so that the next list reads it again.
func damagedRow(info journal.Info, state *projection.State, err error) row {
	r := newRow(info, state, journal.Position{})
	r.Damaged = err.Error()
	if IsReadError(err) {
		r.readErr = err
	}
	corrupt := new(journal.CorruptError)
	if certain := errors.As(err, &corrupt) && corrupt.TooLong == 0 || err == errNotSession; !certain {
		r.Inode, r.ModTime = 0, time.Time{}
	}
	if r.UpdatedAt.Before(info.ModTime) {
		r.UpdatedAt = info.ModTime.UTC()
	}
	return r
}

// IsReadError reports whether the system failed to read a journal, so that it
// is unknown whether the journal is damaged.
func IsReadError(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && !errors.Is(err, journal.ErrNotFound)
}

// empty reports whether the row is not of a session: the file has no events,
// as after a crash during its creation, and never had any that are known.
func (r row) empty() bool { return r.LastSeq == 0 && r.Damaged == "" && r.Lost == 0 }

// noteLost records that an earlier row had more events than the file has now.
// Lost stays set until the file has as many again.
func (r *row) noteLost(earlier row) {
	if most := max(earlier.LastSeq, earlier.Lost); most > r.LastSeq && r.Damaged == "" && r.ID != "" {
		r.Lost = most
	}
	if r.Lost > 0 && r.LastSeq == 0 {
		r.TeamID, r.Source, r.CWD, r.Row = earlier.TeamID, earlier.Source, earlier.CWD, earlier.Row
		r.Spent = earlier.Spent
		r.Damaged = fmt.Sprintf("the file is empty; it had %d events", r.Lost)
		if r.Bytes > 0 {
			r.Damaged = fmt.Sprintf("the file has no valid line; it had %d events", r.Lost)
		}
	}
}

// current reports whether this version of the program made the row.
func (r row) current() bool { return r.Fold == projection.FoldVersion && r.Version == rowVersion }

// describes reports whether the row was made from the file as it is now.
func (r row) describes(info journal.Info) bool {
	return info.Err == nil && r.current() && r.ID == info.ID && r.Archived == info.Archived &&
		r.Bytes == info.Size && r.Inode == info.Inode && r.ModTime.Equal(info.ModTime)
}

// seed returns the position of the row, and a state from which the later events can be
// folded into a new row. Unless the file has only grown, that is the beginning.
func (r row) seed(info journal.Info) (*projection.State, journal.Position) {
	if !r.current() || r.LastSeq == 0 || r.Damaged != "" || r.Archived || info.Size <= r.Bytes {
		return &projection.State{}, journal.Position{}
	}
	s := &projection.State{Seq: r.LastSeq, SessionID: r.ID, CWD: r.CWD, Row: r.Row}
	s.Team.ID, s.Team.Source = r.TeamID, r.Source
	r.restore(s)
	return s, journal.Position{Seq: r.LastSeq, Offset: r.End, Sum: r.Sum}
}
