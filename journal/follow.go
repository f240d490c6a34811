package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Follow returns the events of a journal from a position on, existing and future
// ones, until ctx is done, which ends the sequence without an error. It waits for
// a journal that does not exist yet. A journal that is archived meanwhile is read
// to its end, and Follow waits for it to be unarchived.
//
// An error ends the sequence: a *CorruptError; ErrReplaced if the file was
// replaced by one with another history; ErrNotFound if it was deleted. Incomplete
// lines, torn tails and lost notifications delay events, but never lose one.
// Follow takes no lock and writes nothing.
func (d *Dir) Follow(ctx context.Context, id string, from Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := d.Files(id)
		if err != nil {
			yield(Event{}, err)
			return
		}
		w := d.watch.join(f)
		defer w.leave()
		t := newFollower(d, f, from)
		defer t.close()
		for {
			more, err := t.deliver(ctx, yield)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !more || !w.wait(ctx) {
				return
			}
		}
	}
}

// follower is the state of one Follow.
type follower struct {
	dir    *Dir
	files  Files
	at     Position // after the last event that was delivered
	synced uint64   // the highest Synced of the lines up to at

	file        vfs.File    // nil: none is open
	tail        *tailReader // of file, if it is not an archive
	sc          *scanner
	existed     bool        // the journal existed at some time
	readArchive fs.FileInfo // the archive that was read to its end; nil: none
}

func newFollower(d *Dir, f Files, from Position) *follower {
	return &follower{dir: d, files: f, at: from, existed: from.Seq > 0}
}

// deliver yields the new events. It returns false if yield did.
func (t *follower) deliver(ctx context.Context, yield func(Event, error) bool) (more bool, err error) {
	if err := t.reopen(); err != nil || t.file == nil {
		return err == nil, err
	}
	if !replacesOpenFile {
		defer t.close() // a writer may have to replace the file while the follower waits
	}
	for ctx.Err() == nil {
		e, err := t.sc.next()
		var bad *lineError
		switch {
		case err == io.EOF:
			return true, t.atEOF()
		case t.archived() && err != nil && !vfs.IsFileError(err):
			// The archive was compared with its journal when it was written, so it
			// has been corrupted since.
			if !errors.As(err, &bad) {
				bad = &lineError{t.sc.at, err}
			}
			return false, bad.corrupt(t.files.Archive())
		case errors.As(err, &bad):
			wait, err := t.handleInvalid(bad)
			if wait || err != nil {
				return true, err
			}
			continue
		case err != nil:
			return false, err
		}
		// A file that is read again from its start may have another line in place
		// of the last one that was delivered.
		if e.Seq == t.at.Seq && e.Sum != t.at.Sum || e.Seq > t.at.Seq+1 {
			return false, t.replacedError()
		}
		if e.Seq <= t.at.Seq {
			continue // delivered before the file was replaced
		}
		t.at, t.synced = t.sc.at, t.sc.maxSynced
		e.Data = bytes.Clone(e.Data)
		if !yield(e, nil) {
			return false, nil
		}
	}
	return false, nil
}

// archived reports whether the open file is an archive.
func (t *follower) archived() bool {
	_, ok := t.file.(archiveFile)
	return ok
}

// short reports whether the file, read again from its start, has not yet reached
// the last event that was delivered.
func (t *follower) short() bool { return t.sc.at.Seq < t.at.Seq }

func (t *follower) replacedError() error {
	return fmt.Errorf("%s: %w", t.files.Live(), ErrReplaced)
}

// atEOF handles the end of the file. An incomplete line is read again next time: a
// writer may set it aside and write another one in its place. The file may also
// have been replaced, so that the bytes are in the middle of another line.
func (t *follower) atEOF() error {
	if t.short() {
		return t.replacedError()
	}
	if len(t.sc.lines.Rest()) == 0 || t.archived() {
		return nil
	}
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	whole := wholeNext(t.sc.lines.Rest(), t.sc.at, true)
	switch current := t.isCurrent(info); {
	case current && whole != nil:
		return (&lineError{t.sc.at, whole}).corrupt(t.files.Live())
	case current:
		t.rewind()
	default:
		t.close()
	}
	return nil
}

// handleInvalid handles an invalid line. The line may be valid now, if a writer
// has set aside the incomplete line that was read. At a torn tail, the follower
// waits until that happens. If the file no longer has the journal's name, or its
// content has changed, the line means nothing.
func (t *follower) handleInvalid(bad *lineError) (wait bool, err error) {
	info, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	src := fileSource(t.files.Live(), t.file, info.Size())
	torn, corrupt := src.classify(bad, t.sc.maxSynced, t.dir.maxLine)
	switch {
	case corrupt == nil && torn.Bytes == 0:
		t.rewind()
		return false, nil
	case !t.isCurrent(info):
		t.close()
		return true, nil
	case corrupt == nil && t.short():
		return false, t.replacedError()
	}
	t.rewind()
	return true, corrupt
}

// isCurrent reports whether the open file still has the journal's name, and still
// contains the last line that was read.
func (t *follower) isCurrent(open fs.FileInfo) bool {
	named, err := t.dir.fs.Stat(t.files.Live())
	return err == nil && t.dir.fs.SameFile(open, named) && t.holds(open, t.sc.at)
}

// holds reports whether a position is one of the open file.
func (t *follower) holds(open fs.FileInfo, p Position) bool {
	return fileSource(t.files.Live(), t.file, open.Size()).holds(p, t.dir.maxLine)
}

// rewind makes the next read start after the last valid line.
func (t *follower) rewind() {
	maxSynced := t.sc.maxSynced
	t.scanFrom(t.sc.at)
	t.sc.maxSynced = maxSynced
}

// reopen ensures that the open file is the one with the journal's name.
func (t *follower) reopen() error {
	info, err := t.dir.fs.Stat(t.files.Live())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return t.reopenMissing()
	case err != nil:
		return err
	}
	t.existed, t.readArchive = true, nil
	if t.file != nil {
		open, err := t.file.Stat()
		if err != nil {
			return err
		}
		if t.dir.fs.SameFile(open, info) && info.Size() >= t.tail.offset {
			return nil
		}
	}
	return t.open()
}

// open opens the live file. It starts reading after the last delivered event if
// the file contains it, else at its beginning.
func (t *follower) open() error {
	t.close()
	file, err := t.dir.fs.OpenFile(t.files.Live(), os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	t.file = file
	if t.holds(info, t.at) {
		t.scanFrom(t.at)
		t.sc.maxSynced = t.synced
	} else {
		t.scanFrom(Position{})
	}
	return nil
}

func (t *follower) scanFrom(from Position) {
	t.tail = &tailReader{t.file, from.Offset}
	t.sc = newScanner(t.tail, from, t.dir.maxLine)
}

// reopenMissing handles a journal without a live file: it does not exist yet, is
// archived, or was deleted.
func (t *follower) reopenMissing() error {
	t.close()
	info, err := t.dir.fs.Stat(t.files.Archive())
	old := t.readArchive
	switch {
	case err == nil && old != nil && t.dir.fs.SameFile(info, old) &&
		info.Size() == old.Size() && info.ModTime().Equal(old.ModTime()):
		return nil
	case err == nil:
		return t.openArchive(info)
	case !errors.Is(err, os.ErrNotExist):
		return err
	case !t.existed:
		return nil
	}
	if _, err := t.files.stat(t.dir.fs); err != nil {
		return err
	}
	return t.open() // it was unarchived between the two calls of Stat
}

// openArchive opens an archive, which is read to its end once.
func (t *follower) openArchive(info fs.FileInfo) error {
	file, err := t.dir.fs.OpenFile(t.files.Archive(), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was unarchived since
	}
	if err != nil {
		return err
	}
	var stream io.ReadCloser
	src, err := sourceAt(t.files.Archive(), journalFile{File: file, archived: true})
	if err == nil {
		stream, err = src.open(0)
	}
	if err != nil {
		file.Close()
		return err
	}
	t.existed, t.readArchive = true, info
	t.file, t.tail = archiveFile{file, stream}, nil
	t.sc = newScanner(stream, Position{}, t.dir.maxLine)
	return nil
}

// archiveFile closes the decompressor with the file.
type archiveFile struct {
	vfs.File
	stream io.Closer
}

func (a archiveFile) Close() error {
	a.stream.Close()
	return a.File.Close()
}

func (t *follower) close() {
	if t.file != nil {
		t.file.Close()
		t.file, t.sc = nil, nil
	}
}

// tailReader reads a growing file from an offset on.
type tailReader struct {
	file   io.ReaderAt
	offset int64
}

func (r *tailReader) Read(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.offset)
	r.offset += int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, err
}
