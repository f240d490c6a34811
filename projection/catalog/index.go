package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	indexVersion = "1.0.0"
	// manySessions is where rewriting the whole index for one session stops
	// being worth it.
	manySessions = 1000
	// maxCache is more than an index or a checkpoint has, in bytes. What is
	// longer is none, and made anew.
	maxCache = 256 << 20
)

// index is the content of sessions.json.
type index struct {
	Version   string    `json:"version"`
	Sessions  []row     `json:"sessions"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// row is what the index keeps of a session: what lists show, and what the file
// was like when it was read.
type row struct {
	ID     string `json:"id"`
	TeamID string `json:"teamId"`
	CWD    string `json:"cwd"`
	projection.Row
	Fold     int         `json:"foldVersion"`
	Summary  string      `json:"summary"`
	Archived bool        `json:"archived"`
	Damaged  string      `json:"damaged,omitempty"`
	Bytes    int64       `json:"size"` // of the file
	ModTime  time.Time   `json:"modTime"`
	Inode    uint64      `json:"inode"`
	LastSeq  uint64      `json:"lastSeq"`
	Lost     uint64      `json:"lost,omitempty"` // the last event that the file once had and has no more; 0: none
	End      int64       `json:"end"`            // where the line of LastSeq ends
	Sum      journal.Sum `json:"sum"`
}

func newRow(info journal.Info, state *projection.State, at journal.Position) row {
	return row{
		ID: info.ID, TeamID: state.Team.ID, CWD: state.CWD, Row: state.Row,
		Fold: projection.FoldVersion, Summary: state.Row.Summary(),
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
	corrupt := new(journal.CorruptError)
	if lasting := errors.As(err, &corrupt) && corrupt.TooLong == 0 || err == errNotSession; !lasting {
		r.Inode, r.ModTime = 0, time.Time{}
	}
	if r.UpdatedAt.Before(info.ModTime) {
		r.UpdatedAt = info.ModTime.UTC()
	}
	return r
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

// describes reports whether the row was made from the file as it is now.
func (r row) describes(info journal.Info) bool {
	return r.Fold == projection.FoldVersion && r.ID == info.ID && r.Archived == info.Archived && r.Bytes == info.Size &&
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

func (t *Team) indexPath() string { return filepath.Join(t.journals.Path(), "sessions.json") }

// readIndex returns the rows by id. An index that cannot be read is empty.
func (t *Team) readIndex() map[string]row {
	data, err := journal.ReadFile(t.fs, t.indexPath(), maxCache)
	if err != nil {
		return nil
	}
	var x index
	if json.Unmarshal(data, &x) != nil || x.Version != indexVersion {
		return nil
	}
	rows := make(map[string]row, len(x.Sessions))
	for _, r := range x.Sessions {
		rows[r.ID] = r
	}
	return rows
}

// writeIndex replaces the index, when nobody else is about to.
func (t *Team) writeIndex(rows []row) {
	unlock, err := t.fs.Lock(filepath.Join(t.journals.Path(), "sessions.lock"))
	if err != nil {
		return
	}
	defer unlock()
	t.replaceIndex(rows)
}

func (t *Team) replaceIndex(rows []row) {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.ID, b.ID) })
	x := index{Version: indexVersion, Sessions: rows}
	for _, r := range rows {
		if r.UpdatedAt.After(x.UpdatedAt) {
			x.UpdatedAt = r.UpdatedAt
		}
	}
	data, err := json.Marshal(x)
	if err != nil {
		return
	}
	journal.WriteFile(t.fs, t.indexPath(), append(data, '\n'))
}

// updateIndex puts one row in the place of the session's old one, or takes it
// out.
func (t *Team) updateIndex(id string, r *row) {
	unlock, err := t.fs.Lock(filepath.Join(t.journals.Path(), "sessions.lock"))
	if err != nil {
		return
	}
	defer unlock()
	rows := t.readIndex()
	if len(rows) >= manySessions {
		return
	}
	kept := make([]row, 0, len(rows)+1)
	for known, old := range rows {
		if known != id {
			kept = append(kept, old)
		}
	}
	if r != nil {
		kept = append(kept, *r)
	}
	t.replaceIndex(kept)
}

// worthWriting weighs what a list had to fold against what the index weighs:
// some 500 bytes a row.
func worthWriting(rows int, folded int64) bool {
	return rows < manySessions || folded > int64(rows)*500
}
