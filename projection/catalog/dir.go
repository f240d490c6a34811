package catalog

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Dir is the directory of the sessions of one team. Its methods may be called
// concurrently.
type Dir struct {
	journals *journal.Dir
	fs       vfs.FS
	progress func(done, total int)    // not nil
	retired  func(projection.Payload) // not nil

	audited struct {
		sync.Mutex
		file  fs.FileInfo // of the index that was read last; nil: none
		index index
	}
}

// Journals returns the directory as the journal package sees it.
func (d *Dir) Journals() *journal.Dir { return d.journals }

// Attachments returns the directory of the files of a session's messages.
func (d *Dir) Attachments(id string) (attachment.Dir, error) { return attachment.Of(d.journals, id) }

// List returns the sessions that a query selects. Its Team is compared with the
// team that each session names. An empty journal, which a crash during its
// creation leaves, is not a session. Nothing is written but the index.
func (d *Dir) List(ctx context.Context, q Query) (*Result, error) {
	entries, lost, err := d.entries(ctx, q.ReadRows)
	if err != nil {
		return nil, err
	}
	return q.answer(ctx, entries, lost)
}

// entries returns all sessions, the most recently updated first, and Result.Lost. The
// index keeps the rows of lost sessions. With readRows, the entries have the lines of their rows.
func (d *Dir) entries(ctx context.Context, readRows bool) (entries []*Entry, lost []string, err error) {
	infos, err := d.journals.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, known := d.currentEntries(infos, readRows)
	entries, learned, gone := d.match(ctx, infos, entries, known)
	if err := ctx.Err(); err != nil {
		return nil, nil, err // what a cancelled fold returned is not an answer
	}
	var missing []*Entry
	if gone > 0 {
		missing = d.lostEntries(infos, known)
	}
	learned += int64(gone-len(missing)) * rowBytes
	if worthWriting(len(entries), learned) {
		d.writeIndex(slices.Concat(entries, missing))
	}
	for _, e := range missing {
		lost = append(lost, filepath.Join(d.journals.Path(), e.id+".jsonl"))
	}
	slices.SortFunc(entries, newestFirst)
	return entries, lost, nil
}

// currentEntries returns an entry for each journal whose row in the index describes it,
// nil for the others, and their rows. Unless readRows is set, the rows of a large index stay in the file.
func (d *Dir) currentEntries(infos []journal.Info, readRows bool) (entries []*Entry, known index) {
	entries = make([]*Entry, len(infos))
	if d.hasRows(manySessions) && d.scanRows(infos, entries, &known, readRows) {
		return entries, known
	}
	clear(entries)
	known = d.readIndex()
	if !known.reformat {
		inParallel(len(infos), func(i int) {
			line := known.lines[infos[i].ID]
			if entries[i] = d.currentEntry(infos[i], []byte(line)); entries[i] != nil {
				entries[i].line = line
			}
		})
	}
	return entries, known
}

// scanRows is currentEntries for a large index. It returns false if the index has another layout.
func (d *Dir) scanRows(infos []journal.Info, entries []*Entry, known *index, readRows bool) bool {
	rows := d.openRows()
	if rows == nil {
		return false
	}
	defer rows.file.Close()
	journals := make(map[string]int, len(infos))
	for i, info := range infos {
		journals[info.ID] = i
	}
	*known = index{lines: map[string]string{}}
	var found sync.Mutex
	return rows.scanAll(func(line []byte, at place) {
		id, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte(rowPrefix)), []byte(`"`))
		i, exists := journals[string(id)]
		var e *Entry
		if exists {
			e = d.currentEntry(infos[i], line)
		}
		if e != nil && readRows {
			e.line = string(line)
		} else if e != nil {
			e.at = at
		}
		found.Lock()
		defer found.Unlock()
		if e != nil {
			entries[i] = e
		} else if id := idOf(string(line)); id != "" {
			known.lines[id] = string(line)
		}
	})
}

// match completes the entries: a journal without one is folded, unless it is empty. known
// has the rows of the index that belong to no entry, and may have others. learned is what
// the index lacks, in bytes that were read for it: the journals that were folded, and the
// rows that another program wrote in its layout. gone is the number of rows without a
// journal.
func (d *Dir) match(
	ctx context.Context, infos []journal.Info, entries []*Entry, known index,
) (complete []*Entry, learned int64, gone int) {
	var outdated []int
	gone = len(known.lines)
	for i, e := range entries {
		if e == nil {
			outdated = append(outdated, i)
		}
		if known.lines[infos[i].ID] != "" {
			gone--
		}
	}
	learned = d.foldEach(ctx, outdated, func(i int) int64 {
		r, cost := d.currentRow(ctx, infos[i], known.row(infos[i].ID))
		if !r.empty() {
			entries[i] = d.entryOf(&r)
		}
		return cost
	})
	return slices.DeleteFunc(entries, func(e *Entry) bool { return e == nil }), learned, gone
}

// foldsPerWorker is the number of journals that are worth another goroutine.
const foldsPerWorker = 64

// foldEach calls fold for each of the journals, from several goroutines if
// there are many, and returns the sum of the costs. It stops when ctx is done.
func (d *Dir) foldEach(ctx context.Context, journals []int, fold func(i int) (cost int64)) (sum int64) {
	if len(journals) == 0 {
		return 0
	}
	var next, done, costs atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(journals)/foldsPerWorker) {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(len(journals)) && ctx.Err() == nil; n = next.Add(1) {
				costs.Add(fold(journals[n-1]))
				if n := int(done.Add(1)); n < len(journals) {
					d.progress(n, len(journals))
				}
			}
		})
	}
	wg.Wait()
	d.progress(len(journals), len(journals))
	return costs.Load()
}

// currentRow returns the row of a session for its file as it is now, and how
// many bytes were read for it.
func (d *Dir) currentRow(ctx context.Context, info journal.Info, known row) (row, int64) {
	if known.describes(info) {
		known.ModTime = info.ModTime.UTC() // as in the index
		return known, rowBytes
	}
	r, cost := d.foldRow(ctx, info, known)
	r.noteLost(known)
	return r, cost
}

// foldRow folds the events after those that the known row covers, or all of them
// if the row does not fit the file. It returns how many bytes it read.
func (d *Dir) foldRow(ctx context.Context, info journal.Info, known row) (row, int64) {
	if info.Err != nil {
		return damagedRow(info, &projection.State{}, info.Err), 0
	}
	state, from := known.seed(info)
	state, loaded, err := foldFrom(ctx, d.reader(info.ID), state, from)
	if errors.Is(err, journal.ErrNotFound) {
		return row{}, 0 // deleted since
	}
	if err != nil {
		return damagedRow(info, state, err), foldBytes + info.Size
	}
	if loaded.At.Seq == 0 {
		return newRow(info, state, loaded.At), 0 // an empty session has no row in the index
	}
	return newRow(info, state, loaded.At), foldBytes + loaded.At.Offset - loaded.From.Offset
}

// Append appends records to a session that is not open, and syncs them. Errors:
// those of OpenToAppend.
func (d *Dir) Append(ctx context.Context, id string, records ...journal.Record) error {
	log, state, err := d.OpenToAppend(ctx, id)
	if err != nil {
		return err
	}
	defer log.Close()
	events, err := log.Append(records...)
	if err == nil {
		// Crash here leaves the records; several of them lack a sync mark.
		var sealed []journal.Event
		sealed, err = log.Seal()
		events = append(events, sealed...)
	}
	for _, e := range events {
		state.Apply(e)
	}
	if err == nil {
		d.UpdateIndex(id, state, log.Position())
	}
	return err
}

// Delete moves a session to the trash and removes its checkpoint and the mark of its history on the hub.
func (d *Dir) Delete(ctx context.Context, id string) error {
	if err := trash.Of(d.journals).Move(ctx, id); err != nil {
		return err
	}
	d.removeCheckpoint(id)
	d.fs.Remove(hub.MarkPath(d.journals, id))
	d.updateRows(map[string]*row{id: nil})
	return nil
}

// Restore moves a session out of the trash, as trash.Trash.Restore does.
func (d *Dir) Restore(ctx context.Context, id string) error {
	return trash.Of(d.journals).Restore(ctx, id)
}
