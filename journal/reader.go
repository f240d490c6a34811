package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Reader reads the events of one journal in order. It takes no lock and writes
// nothing; a writer may append meanwhile. A Reader is for one goroutine.
type Reader struct {
	src     source
	file    io.Closer
	from    Position
	maxLine int
	tail    tail
}

// Reader opens a journal, live or archived, for reading from a position on. The
// zero Position is its beginning; any other must come from the same journal. It
// returns ErrNotFound if the journal does not exist.
func (d *Dir) Reader(id string, from Position) (*Reader, error) {
	f, err := d.Files(id)
	if err != nil {
		return nil, err
	}
	src, file, err := f.openSource(d.fs)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, file: file, from: from, maxLine: d.maxLine, tail: tail{end: from}}, nil
}

// OpenReader opens the journal in one file for reading from its beginning; a name that ends
// in .zst is an archive. Of the options it uses FS and MaxLine.
func OpenReader(name string, o Options) (*Reader, error) {
	d := NewDir(filepath.Dir(name), o)
	file, err := d.fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	src, err := sourceAt(name, journalFile{File: file, archived: strings.HasSuffix(name, zstSuffix)})
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Reader{src: src, file: file, maxLine: d.maxLine}, nil
}

// Check checks the last lines of a journal as Open does, without a lock. It
// returns nil, ErrNotFound, a *CorruptError, or an error of reading. A torn tail
// is not an error.
func (d *Dir) Check(id string) error {
	f, err := d.Files(id)
	if err != nil {
		return err
	}
	src, file, err := f.openSource(d.fs)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = src.findTail(d.maxLine)
	return err
}

// All returns the events up to the end that the journal had when the Reader was
// opened. An error ends the sequence: a *CorruptError, or an error of reading. A
// torn tail ends the events without an error; Torn describes it.
func (r *Reader) All() iter.Seq2[Event, error] { return r.After(r.from) }

// After returns the events after a position of the journal, as All does.
func (r *Reader) After(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range r.ScanAfter(p) {
			e.Data = bytes.Clone(e.Data)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Scan is All in less than half the time: the Data of an event is valid only
// until the next event.
func (r *Reader) Scan() iter.Seq2[Event, error] { return r.ScanAfter(r.from) }

// ScanAfter is After with events whose Data is valid only until the next event.
func (r *Reader) ScanAfter(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r.tail = tail{end: p}
		stream, err := r.src.open(p.Offset)
		if err != nil {
			yield(Event{}, r.src.readError(p, err))
			return
		}
		defer stream.Close()
		sc := newScanner(stream, p, r.maxLine)
		for {
			e, err := sc.next()
			if err != nil {
				if r.tail, err = r.src.tailAt(sc, err, r.maxLine); err != nil {
					yield(Event{}, err)
				}
				return
			}
			r.tail.end, r.tail.maxSynced = sc.at, sc.maxSynced
			if !yield(e, nil) {
				return
			}
		}
	}
}

// CheckChain checks the sums and sequence numbers of all events, and nothing else
// of them, which is faster than Scan. It returns the error that would end Scan,
// except that Scan also fails at a line that has a valid sum and is not an event.
// Position, Synced and Torn then describe the end of the journal. When ctx is done,
// it stops with an error.
func (r *Reader) CheckChain(ctx context.Context) (err error) {
	r.tail, err = r.src.withContext(ctx).scanTailWith((*scanner).checkChain, r.from, r.maxLine)
	return err
}

// CheckFile checks every byte of an archive, also those that do not matter to its
// lines. It returns nil for a live journal, and for an archive of a version of this
// package that wrote no checksum. Errors: a *CorruptError with line 1; that of ctx; an
// error of reading.
func (r *Reader) CheckFile(ctx context.Context) error {
	if !r.src.archived() {
		return nil
	}
	intact, err := r.src.archive.Intact(ctx)
	if err == nil && !intact {
		err = (&lineError{reason: errArchiveSum}).corrupt(r.src.path)
	}
	return err
}

var errArchiveSum = errors.New("the checksum of the archive does not match")

// Position returns the position after the last event that All, After, Scan or ScanAfter
// returned, or before the last one that Before returned; after CheckChain, that of the
// end.
func (r *Reader) Position() Position { return r.tail.end }

// Synced returns the highest sequence number that the sync marks of the events before
// Position cover: the events up to it were on the disk. In an archive, every event is.
func (r *Reader) Synced() uint64 {
	if r.src.archived() {
		return r.tail.end.Seq
	}
	return r.tail.maxSynced
}

// Torn describes the torn tail that All, Scan, CheckChain or End found.
func (r *Reader) Torn() Torn { return r.tail.torn }

// Grown reports whether the file has more bytes than when the Reader was opened.
// A writer is active then, and the torn tail may have been an incomplete write.
func (r *Reader) Grown() bool {
	file, ok := r.file.(vfs.File)
	if !ok || r.src.archived() {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Size() > r.src.size
}

// StopWith makes reading fail when ctx is done, with an *fs.PathError that wraps the error
// of ctx.
func (r *Reader) StopWith(ctx context.Context) { r.src = r.src.withContext(ctx) }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Holds reports whether a position is one of this journal: whether an event with
// its sequence number and sum ends there.
func (r *Reader) Holds(p Position) bool { return r.src.holds(p, r.maxLine) }
