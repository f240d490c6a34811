package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Dir is the directory of the sessions of one team.
type Dir struct {
	journals *journal.Dir
	fs       journal.FS
	progress func(done, of int) // never nil

	audited struct {
		sync.Mutex
		file  fs.FileInfo // of the index that was read last; nil: none was
		index index
	}
}

// Journals is the directory as the journal package sees it.
func (t *Dir) Journals() *journal.Dir { return t.journals }

// Session is what is known of a session without reading it.
type Session struct {
	ID     string
	TeamID string
	CWD    string
	projection.Row
	Archived      bool
	Damaged       string // what is wrong with the journal, "" when nothing is; the rest is what could be read
	ReadErr       error  // what the system said, when that is what is wrong: it may be sound
	MissingHeader bool   // damaged, though every line checks: there is nothing that Repair could do
	Truncated     bool   // the index knew of more events than the file has
	Bytes         int64  // of the file, compressed when archived
	LastSeq       uint64
	End           journal.Position // behind the event LastSeq

	dir string
}

// Path is where the journal of the session is when it is not archived.
func (s Session) Path() string { return filepath.Join(s.dir, s.ID+".jsonl") }

// Dir is the team's directory that the session was found in.
func (s Session) Dir() string { return s.dir }

// List is every session of the team, the newest first. Empty journals, which a
// crash in the moment of creation leaves, are no sessions.
func (t *Dir) List() ([]Session, error) {
	listed, err := t.Entries()
	return Sessions(listed), err
}

// Entries is List for who wants to know only some of the sessions.
func (t *Dir) Entries() ([]*Entry, error) {
	infos, known, err := t.look()
	if err != nil || len(infos) == 0 {
		return nil, err
	}
	listed, learned := t.list(infos, known)
	if worthWriting(len(listed), learned) {
		t.writeIndex(listed)
	}
	slices.SortFunc(listed, newer)
	return listed, nil
}

// look describes the journals and reads the index; both at once where they take
// a moment.
func (t *Dir) look() (infos []journal.Info, known index, err error) {
	var reading sync.WaitGroup
	if t.has(manySessions) {
		reading.Go(func() { known = t.readIndex() })
		infos, err = t.journals.List()
		reading.Wait()
		return infos, known, err
	}
	infos, err = t.journals.List()
	if len(infos) > 0 {
		known = t.readIndex()
	}
	return infos, known, err
}

// list describes the journals that are not empty. What was learned that the
// index does not know is in bytes: of journals that had to be read, and of rows
// that no journal has any more, or that stand in another layout.
func (t *Dir) list(infos []journal.Info, known index) (listed []*Entry, learned int64) {
	listed = make([]*Entry, len(infos))
	if !known.foreign {
		together(len(infos), func(i int) { listed[i] = t.glance(infos[i], known.lines[infos[i].ID]) })
	}
	var unknown []int
	gone := len(known.lines)
	for i, l := range listed {
		if l == nil {
			unknown = append(unknown, i)
		}
		if l != nil || known.lines[infos[i].ID] != "" {
			gone--
		}
	}
	learned = int64(gone) * rowBytes
	learned += t.fold(unknown, func(i int) int64 {
		r, cost := t.rowOf(infos[i], known.row(infos[i].ID))
		if !r.empty() {
			listed[i] = t.listed(&r)
		}
		return cost
	})
	return slices.DeleteFunc(listed, func(l *Entry) bool { return l == nil }), learned
}

// foldedTogether is how many journals one goroutine folds at least.
const foldedTogether = 64

// fold has each of the journals read, by several goroutines when there are many.
func (t *Dir) fold(journals []int, read func(i int) (cost int64)) (sum int64) {
	if len(journals) == 0 {
		return 0
	}
	var next, done, costs atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(journals)/foldedTogether) {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(len(journals)); n = next.Add(1) {
				costs.Add(read(journals[n-1]))
				if n := int(done.Add(1)); n < len(journals) {
					t.progress(n, len(journals))
				}
			}
		})
	}
	wg.Wait()
	t.progress(len(journals), len(journals))
	return costs.Load()
}

// Session describes one session, or returns journal.ErrNotFound.
func (t *Dir) Session(id string) (Session, error) {
	info, err := t.journals.Stat(id)
	if err != nil {
		return Session{}, err
	}
	r, _ := t.rowOf(info, t.readRow(id))
	if r.empty() {
		return Session{}, fmt.Errorf("%s is empty: %w", info.Path(), journal.ErrNotFound)
	}
	return t.session(&r), nil
}

func (t *Dir) session(r *row) Session {
	return Session{
		ID: r.ID, TeamID: r.TeamID, CWD: r.CWD, Row: r.Row,
		Archived: r.Archived, Damaged: r.Damaged, ReadErr: r.unread, MissingHeader: r.headless(), Bytes: r.Bytes, LastSeq: r.LastSeq,
		End:       journal.Position{Seq: r.LastSeq, Offset: r.End, Sum: r.Sum},
		Truncated: r.Lost > 0, dir: t.journals.Path(),
	}
}

// rowOf returns the row of a session as its file is now, and how many bytes had
// to be read for it.
func (t *Dir) rowOf(info journal.Info, known row) (row, int64) {
	if known.describes(info) {
		known.ModTime = info.ModTime.UTC() // as it is written
		return known, rowBytes
	}
	r, cost := t.freshRow(info, known)
	r.remember(known)
	return r, cost
}

// freshRow reads what the row does not know yet.
func (t *Dir) freshRow(info journal.Info, known row) (row, int64) {
	if info.Err != nil {
		return damagedRow(info, &projection.State{}, info.Err), 0
	}
	state, from := known.seed(info)
	state, loaded, err := t.foldFrom(context.TODO(), info.ID, state, from)
	if errors.Is(err, journal.ErrNotFound) {
		return row{}, 0 // deleted since
	}
	if err != nil {
		return damagedRow(info, state, err), foldBytes + info.Size
	}
	if loaded.At.Seq == 0 {
		return newRow(info, state, loaded.At), 0 // nothing that could be kept
	}
	return newRow(info, state, loaded.At), foldBytes + loaded.At.Offset - loaded.From.Offset
}

// Delete moves a session to the trash and removes its checkpoint.
func (t *Dir) Delete(id string) error {
	if err := t.journals.Trash(id); err != nil {
		return err
	}
	t.dropCheckpoint(id)
	t.updateIndex(map[string]*row{id: nil})
	return nil
}

// Archive compresses a session's journal. The index learns of it, so that the
// next list need not decompress it.
func (t *Dir) Archive(id string) error {
	s, err := t.Session(id)
	if err != nil {
		return err
	}
	if err := t.journals.ArchiveAt(id, s.End); err != nil || s.Archived {
		return err
	}
	info, err := t.journals.Stat(id)
	if r, ok := archivedRow(s, info); err == nil && ok {
		t.updateIndex(map[string]*row{id: &r})
	}
	return nil
}

// Append appends records to a session that is not open, and syncs them. Errors:
// those of OpenToAppend.
func (t *Dir) Append(ctx context.Context, id string, records ...journal.Record) error {
	log, state, err := t.OpenToAppend(ctx, id)
	if err != nil {
		return err
	}
	defer log.Close()
	events, err := log.Append(records...)
	for _, e := range events {
		state.Apply(e)
	}
	if err == nil {
		err = log.Sync()
	}
	if err == nil {
		t.UpdateIndex(id, state, log.Position())
	}
	return err
}

// Restore takes a session out of the trash, as journal.Dir.Restore does.
func (t *Dir) Restore(id string) error { return t.journals.Restore(id) }

// UpdateIndex brings the index up to date with one session, at its end. Teams with
// so many sessions that rewriting the index costs more than the next list
// saves are left to the lists.
func (t *Dir) UpdateIndex(id string, state *projection.State, at journal.Position) {
	info, err := t.journals.Stat(id)
	if err != nil || at.Seq == 0 || state.SessionID == "" || state.Seq != at.Seq || !info.Archived && info.Size != at.Offset {
		return // what is no session, or went on since, a list looks at by itself
	}
	r := newRow(info, state, at)
	t.updateIndex(map[string]*row{id: &r})
}
