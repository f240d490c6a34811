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
)

// Follow yields the events of a journal from a position on, those that are
// there and then those to come, until ctx is done: then the sequence ends
// without an error. A journal that does not exist yet is waited for; one that
// is archived meanwhile is read to its end and waited for.
//
// Errors end the sequence: a *CorruptError; ErrReplaced when the file was
// replaced by one that does not go on where the old one was left; ErrNotFound
// when it was deleted. Half lines, torn tails and lost notifications cost time,
// never an event. Follow takes no lock and writes nothing.
func (d *Dir) Follow(ctx context.Context, id string, from Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := d.files(id)
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

// follower is where one Follow stands.
type follower struct {
	dir   *Dir
	files files
	at    Position // behind the last event that was yielded

	file File // nil: none is open
	tail *tailReader
	sc   *scanner    // on tail
	seen bool        // the journal existed once
	old  fs.FileInfo // the archive that was read to its end; nil: none
}

func newFollower(d *Dir, f files, from Position) *follower {
	return &follower{dir: d, files: f, at: from, seen: from.Seq > 0}
}

// deliver yields what has come since the last call. It reports false when the
// receiver wants no more.
func (t *follower) deliver(ctx context.Context, yield func(Event, error) bool) (more bool, err error) {
	if err := t.reopen(); err != nil || t.file == nil {
		return err == nil, err
	}
	for ctx.Err() == nil {
		e, err := t.sc.next()
		var bad *badLine
		switch {
		case err == io.EOF:
			return true, t.pause()
		case t.archived() && err != nil:
			return false, t.damagedArchive(err)
		case errors.As(err, &bad):
			wait, err := t.judge(bad)
			if wait || err != nil {
				return true, err
			}
			continue
		case err != nil:
			return false, err
		}
		if t.diverges(e) {
			return false, t.replaced()
		}
		if e.Seq <= t.at.Seq {
			continue // read again after the file was replaced
		}
		t.at = t.sc.at
		e.Data = bytes.Clone(e.Data)
		if !yield(e, nil) {
			return false, nil
		}
	}
	return false, nil
}

// archived reports whether it is an archive that is read.
func (t *follower) archived() bool {
	_, ok := t.file.(archiveFile)
	return ok
}

// damagedArchive is any error of reading one: what was compressed was compared,
// so the archive was changed.
func (t *follower) damagedArchive(err error) error {
	var bad *badLine
	if !errors.As(err, &bad) {
		bad = &badLine{t.sc.at, err}
	}
	return bad.corrupt(t.files.archivePath())
}

// diverges reports whether a file that is read again from its beginning has
// another line in the place of the last one yielded.
func (t *follower) diverges(e Event) bool {
	return e.Seq == t.at.Seq && e.Sum != t.at.Sum || e.Seq > t.at.Seq+1
}

// short reports whether the file was read again from its beginning and not as
// far as the last line yielded.
func (t *follower) short() bool { return t.sc.at.Seq < t.at.Seq }

func (t *follower) replaced() error {
	return fmt.Errorf("%s: %w", t.files.path(), ErrReplaced)
}

// pause is at the end of what there is. Half a line is read again next time: a
// writer may set it aside and write something else in its place. It may also be
// somewhere in a file that was written anew, from its beginning.
func (t *follower) pause() error {
	if t.short() {
		return t.replaced()
	}
	if len(t.sc.lines.Rest()) == 0 || t.archived() {
		return nil
	}
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	if t.stands(info) {
		t.rewind()
	} else {
		t.close()
	}
	return nil
}

// judge decides what to do at a line that does not check. It may check now: the
// half of it that had been read is gone, a writer set it aside. A torn tail is
// left alone until that happens. In a file that is not the journal's any more,
// or not as it was read, the line means nothing.
func (t *follower) judge(bad *badLine) (wait bool, err error) {
	info, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	src := fileSource(t.files.path(), t.file, info.Size())
	torn, damage := src.classify(bad, t.sc.claimed, t.dir.maxLine)
	switch {
	case damage == nil && torn.Bytes == 0:
		t.rewind()
		return false, nil
	case !t.stands(info):
		t.close()
		return true, nil
	case damage == nil && t.short():
		return false, t.replaced()
	}
	t.rewind()
	return true, damage
}

// stands reports whether the open file has the journal's name still, and the
// last line that was read of it in its place.
func (t *follower) stands(open fs.FileInfo) bool {
	there, err := t.dir.fs.Stat(t.files.path())
	if err != nil || !t.dir.fs.SameFile(open, there) {
		return false
	}
	return t.reader(open).Holds(t.sc.at)
}

// reader reads the open file as it is.
func (t *follower) reader(open fs.FileInfo) *Reader {
	return &Reader{src: fileSource(t.files.path(), t.file, open.Size()), maxLine: t.dir.maxLine}
}

// rewind reads from the last good line again, next time.
func (t *follower) rewind() {
	at := t.sc.at
	claimed := t.sc.claimed
	t.read(at)
	t.sc.claimed = claimed
}

// reopen makes sure that the file which is read is the one that has the
// journal's name.
func (t *follower) reopen() error {
	info, err := t.dir.fs.Stat(t.files.path())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return t.missing()
	case err != nil:
		return err
	}
	t.seen, t.old = true, nil
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

// open starts on a new file: where the old one was left, when that is a place
// of the new one, else at its beginning.
func (t *follower) open() error {
	t.close()
	file, err := t.dir.fs.OpenFile(t.files.path(), os.O_RDONLY, 0)
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
	from := Position{}
	if t.reader(info).Holds(t.at) {
		from = t.at
	}
	t.read(from)
	return nil
}

func (t *follower) read(from Position) {
	t.tail = &tailReader{t.file, from.Offset}
	t.sc = newScanner(t.tail, from, t.dir.maxLine)
}

// missing is a journal without a live file: not there yet, archived, or gone.
func (t *follower) missing() error {
	t.close()
	info, err := t.dir.fs.Stat(t.files.archivePath())
	switch {
	case err == nil && t.old != nil && t.sameArchive(info, t.old):
		return nil
	case err == nil:
		return t.openArchive(info)
	case !errors.Is(err, os.ErrNotExist):
		return err
	case !t.seen:
		return nil
	}
	if _, err := t.files.stat(t.dir.fs); err != nil {
		return err
	}
	return t.open() // it was brought back between the two looks
}

func (t *follower) sameArchive(a, b fs.FileInfo) bool {
	return t.dir.fs.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// openArchive reads an archive to its end, once.
func (t *follower) openArchive(info fs.FileInfo) error {
	src, file, err := t.files.archiveSource(t.dir.fs)
	if errors.Is(err, ErrNotFound) {
		return nil // it came back in this moment
	}
	if err != nil {
		return err
	}
	stream, err := src.open(0)
	if err != nil {
		file.Close()
		return err
	}
	t.seen, t.old = true, info
	t.file, t.tail = archiveFile{file.(File), stream}, nil
	t.sc = newScanner(stream, Position{}, t.dir.maxLine)
	return nil
}

// archiveFile closes the decompressor with the file.
type archiveFile struct {
	File
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
