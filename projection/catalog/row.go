package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// row is what the index keeps of a session: what the file was like when it was
// read, and what lists show. What every list has to know comes first, up to
// updatedAt: glance reads no further.
type row struct {
	ID       string      `json:"id"`
	Fold     int         `json:"foldVersion"`
	Archived bool        `json:"archived"`
	Bytes    int64       `json:"size"` // of the file
	ModTime  time.Time   `json:"modTime"`
	Inode    uint64      `json:"inode"`
	LastSeq  uint64      `json:"lastSeq"`
	Lost     uint64      `json:"lost,omitempty"` // the last event that the file once had and has no more; 0: none
	Damaged  string      `json:"damaged,omitempty"`
	End      int64       `json:"end"` // where the line of LastSeq ends
	Sum      journal.Sum `json:"sum"`
	projection.Row
	TeamID  string `json:"teamId"`
	CWD     string `json:"cwd"`
	Summary string `json:"summary"` // for others: it is set when it is written

	unread error // what the system said, when that is all that is damaged; of this read alone
}

func newRow(info journal.Info, state *projection.State, at journal.Position) row {
	return row{
		ID: info.ID, TeamID: state.Team.ID, CWD: state.CWD, Row: state.Row, Fold: projection.FoldVersion,
		Archived: info.Archived, Bytes: info.Size, ModTime: info.ModTime.UTC(), Inode: info.Inode,
		LastSeq: at.Seq, End: at.Offset, Sum: at.Sum,
	}
}

// damagedRow is the row of a journal that cannot be read. When it was updated is
// in the part that cannot be read, perhaps: the file knows. Whether it is
// damaged or the disk failed is not always known, so that only what surely is
// damage describes a file: not what a higher limit can read.
func damagedRow(info journal.Info, state *projection.State, err error) row {
	r := newRow(info, state, journal.Position{})
	r.Damaged = err.Error()
	if IsReadError(err) {
		r.unread = err
	}
	corrupt := new(journal.CorruptError)
	if lasting := errors.As(err, &corrupt) && corrupt.TooLong == 0 || err == errNotSession; !lasting {
		r.Inode, r.ModTime = 0, time.Time{}
	}
	if r.UpdatedAt.Before(info.ModTime) {
		r.UpdatedAt = info.ModTime.UTC()
	}
	return r
}

// IsReadError reports whether an error is the system's, which would not let a journal
// be read: nobody knows whether it is damaged.
func IsReadError(err error) bool {
	var refused *fs.PathError
	return errors.As(err, &refused) && !errors.Is(err, journal.ErrNotFound)
}

// empty reports whether the file is what a crash in the moment of creation
// leaves: no session, and none that anybody remembers.
func (r row) empty() bool { return r.LastSeq == 0 && r.Damaged == "" && r.Lost == 0 }

// remember notes that an earlier row had more events than the file has now,
// until it has as many again.
func (r *row) remember(earlier row) {
	if most := max(earlier.LastSeq, earlier.Lost); most > r.LastSeq && r.Damaged == "" && r.ID != "" {
		r.Lost = most
	}
	if r.Lost > 0 && r.LastSeq == 0 {
		r.TeamID, r.CWD, r.Row = earlier.TeamID, earlier.CWD, earlier.Row
		r.Damaged = fmt.Sprintf("there is nothing in the file any more; it had %d events", r.Lost)
	}
}

// headless reports whether the journal is damaged, though its lines check.
func (r row) headless() bool {
	return r.Damaged == errNotSession.Error() || r.Damaged != "" && r.Lost > 0 && r.LastSeq == 0
}

// describes reports whether the row was made from the file as it is now.
func (r row) describes(info journal.Info) bool {
	return info.Err == nil && r.Fold == projection.FoldVersion && r.ID == info.ID && r.Archived == info.Archived && r.Bytes == info.Size &&
		r.Inode == info.Inode && r.ModTime.Equal(info.ModTime)
}

// seed is a state that can be folded on from the row, as far as rows go, when
// the file is longer than it was.
func (r row) seed(info journal.Info) (*projection.State, journal.Position) {
	if r.Fold != projection.FoldVersion || r.LastSeq == 0 || r.Damaged != "" || r.Archived || info.Size <= r.Bytes {
		return &projection.State{}, journal.Position{}
	}
	s := &projection.State{Seq: r.LastSeq, SessionID: r.ID, CWD: r.CWD, Row: r.Row}
	s.Team.ID = r.TeamID
	return s, journal.Position{Seq: r.LastSeq, Offset: r.End, Sum: r.Sum}
}
