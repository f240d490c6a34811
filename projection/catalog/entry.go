package catalog

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Entry is the part of a Session that determines whether and where a list
// shows it. Session decodes the rest of the row, only for the sessions shown:
// a list may show twenty of a hundred thousand.
type Entry struct {
	id         string
	updatedAt  time.Time
	archived   bool
	Damaged    bool // Session.Damaged is set
	Unreadable bool // Session.ReadErr is set
	Truncated  bool

	dir  *Dir
	line string // the row in the index; "" if it is not indexed, or at is set
	at   place  // of the row in a large index
	row  *row   // of an entry that is not indexed; else nil

	claimedBy string // Session.ClaimedBy

	order *order // of an entry that is ordered otherwise than ByUpdated; else nil
}

// entryOf returns the entry of a row that is not in the index.
func (d *Dir) entryOf(r *row) *Entry {
	e := d.indexedEntry(r, "")
	e.row = r
	return e
}

// indexedEntry returns the entry of a line of the index. Only the
// beginning of r has to be decoded; the entry does not keep r.
func (d *Dir) indexedEntry(r *row, line string) *Entry {
	return &Entry{
		id: r.ID, updatedAt: r.UpdatedAt, archived: r.Archived,
		Damaged: r.Damaged != "", Unreadable: r.readErr != nil, Truncated: r.Lost > 0, dir: d, line: line,
	}
}

// currentEntry returns the entry of a line of the index if the line describes
// the current file, else nil. The entry does not have the line.
func (d *Dir) currentEntry(info journal.Info, line []byte) *Entry {
	if updated, ok := glance(info, line); ok {
		return &Entry{id: info.ID, updatedAt: updated, archived: info.Archived, dir: d}
	}
	if r, ok := decodeRow(string(line)); ok && r.describes(info) && (r.Damaged != "" || r.Lost > 0) {
		return d.indexedEntry(&r, "")
	}
	return nil
}

// newestFirst compares two sessions in the order ByUpdated.
func newestFirst(a, b *Entry) int {
	if c := b.updatedAt.Compare(a.updatedAt); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(b.id, a.id), strings.Compare(a.dir.journals.Path(), b.dir.journals.Path()))
}

// Key identifies a session: an id may be in the directories of several teams.
type Key struct{ Dir, ID string }

// Name returns the key as TEAM/ID: the name of the directory, which is that of a team, and the id.
func (k Key) Name() string { return filepath.Base(k.Dir) + "/" + k.ID }

// Key returns the directory's path and the id of the session. It decodes nothing.
func (e *Entry) Key() Key { return Key{e.dir.journals.Path(), e.id} }

// UpdatedAt returns Session.UpdatedAt. It decodes nothing.
func (e *Entry) UpdatedAt() time.Time { return e.updatedAt }

// Session returns the session of the entry. It reads the journal only if the
// line in the index is truncated after the part that the Entry has.
func (e *Entry) Session() Session {
	var rows openedRows
	defer rows.close()
	r := e.decode(&rows)
	return e.dir.session(&r)
}

// Sessions yields the session of each entry. It keeps few of them in memory.
func Sessions(entries []*Entry) iter.Seq[Session] {
	return func(yield func(Session) bool) {
		for some := range slices.Chunk(entries, 256) {
			sessions := make([]Session, len(some))
			decodeEach(context.Background(), some, func(i int, r *row) { sessions[i] = some[i].dir.session(r) })
			for _, s := range sessions {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// decode returns the row. If it is not in the index any more, or its line is truncated, the
// journal is folded.
func (e *Entry) decode(rows *openedRows) row {
	var r row
	if e.row != nil {
		r = *e.row
	} else if indexed, ok := decodeRow(e.text(rows)); ok {
		r = indexed
	} else {
		r = e.reread()
	}
	r.claimedBy = e.claimedBy
	return r
}

// text returns the line of the row, or "" if it is not in the index any more.
func (e *Entry) text(rows *openedRows) string {
	if e.at == (place{}) {
		return e.line
	}
	return rows.read(e.dir, e.id, e.at)
}

// reread folds the journal of an entry whose line is truncated.
func (e *Entry) reread() row {
	info, err := e.dir.journals.Stat(e.id)
	if err != nil {
		return row{ID: e.id} // deleted since
	}
	r, _ := e.dir.foldRow(context.Background(), info, row{})
	return r
}

// decodeEach calls do with the decoded row of each entry until ctx is done, from several goroutines if there are many.
func decodeEach(ctx context.Context, entries []*Entry, do func(i int, r *row)) {
	inParts(len(entries), func(from, to int) {
		var rows openedRows
		defer rows.close()
		for i := from; i < to && ctx.Err() == nil; i++ {
			r := entries[i].decode(&rows)
			do(i, &r)
		}
	})
}

// inParallel calls do for 0 to n-1, from several goroutines if n is large.
func inParallel(n int, do func(i int)) {
	inParts(n, func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}

// inParts calls do for parts of the numbers from 0 to n-1, from a goroutine for each.
func inParts(n int, do func(from, to int)) {
	each := max(manySessions, n/runtime.GOMAXPROCS(0)+1)
	var wg sync.WaitGroup
	for from := 0; from < n; from += each {
		wg.Go(func() { do(from, min(from+each, n)) })
	}
	wg.Wait()
}
