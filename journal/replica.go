package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Verify checks that lines are whole lines that follow p, with their newlines, and returns
// the position after them. The error describes the first line that is invalid. No lines are
// valid anywhere.
func (p Position) Verify(lines []byte) (Position, error) {
	_, after, err := p.decodeLines(lines, false)
	return after, err
}

// decodeLines is Verify. With events it returns the events of the lines, whose Data aliases
// the lines.
func (p Position) decodeLines(text []byte, events bool) (decoded []Event, after Position, err error) {
	cache := &decodeCache{types: map[string]string{}}
	for len(text) > 0 {
		line, rest, complete := bytes.Cut(text, []byte("\n"))
		if !complete {
			return nil, p, &lineError{p, errIncomplete}
		}
		var e Event
		if events {
			err = e.decode(line, p.Sum, cache)
		} else {
			err = e.decodeSeq(line, p.Sum)
		}
		if err == nil && e.Seq != p.Seq+1 {
			err = fmt.Errorf("its seq is %d, not %d", e.Seq, p.Seq+1)
		}
		if err != nil {
			return nil, p, fmt.Errorf("line %d: %w", p.Seq+1, &lineError{p, err})
		}
		p, text = p.after(e, len(line)+1), rest
		if events {
			decoded = append(decoded, e)
		}
	}
	return decoded, p, nil
}

// AppendLines appends lines of a copy of the journal, byte for byte. They must be valid
// after Position. If the journal has a torn tail, the lines take its place, and no event
// records that: a tail that is not the beginning of the lines is set aside.
//
// After an error of the lines, the journal is unchanged. After a failed write the Log is
// poisoned, as after a failed Append.
func (l *Log) AppendLines(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	events, _, err := l.end.decodeLines(text, true)
	if err != nil || len(events) == 0 {
		return err
	}
	for line := range bytes.Lines(text) {
		if len(line) > l.dir.maxLine {
			return &TooLongError{Type: "line", Bytes: len(line), Limit: l.dir.maxLine}
		}
	}
	if l.file == nil {
		if _, err := l.openFile(text); err != nil {
			return fmt.Errorf("%s: %w", l.files.Live(), err)
		}
	}
	// Crash here leaves nothing of the lines.
	if err := l.writeAll(text); err != nil {
		l.failure = &failure{err: err, batch: bytes.Clone(text), events: events}
		return l.usable()
	}
	// Crash here leaves all lines if only the process dies, and any part of them after a
	// power cut: a torn tail, whose place the next AppendLines takes.
	l.unsynced = append(l.unsynced, text...)
	l.advance(len(text), events)
	return nil
}

// replaceTorn removes a torn tail whose place lines take. It is set aside unless the lines begin with it.
func (l *Log) replaceTorn(file vfs.File, text []byte) error {
	if l.torn.Bytes <= int64(len(text)) {
		tail, err := io.ReadAll(io.NewSectionReader(file, l.torn.Offset, l.torn.Bytes))
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, tail) {
			// Crash here leaves the journal with its torn tail.
			return file.Truncate(l.torn.Offset)
		}
	}
	_, err := l.files.setAside(l.dir.fs, file, l.torn)
	return err
}

// Synced returns the position up to which the journal is on the disk, as far as this Log
// knows: the zero Position before the first Append or AppendLines.
func (l *Log) Synced() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// SyncExisting syncs the lines that the journal had when it was opened, which a crash may have left unsynced. It writes
// nothing. An archive was synced before it got its name.
func (l *Log) SyncExisting() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if l.file != nil {
		return l.sync()
	}
	if l.opened == nil || !l.opened.writable {
		return nil // archived, or on a disk to which nothing is written
	}
	if err := l.opened.File.Sync(); err != nil {
		l.syncFailed = true
		return fmt.Errorf("%s: %w", l.files.Live(), err)
	}
	l.synced = l.end
	return l.dir.fs.SyncDir(l.files.Dir)
}

// maxLinesChunk bounds a part of the lines that Lines reads at once, in bytes, unless one
// line is longer.
const maxLinesChunk = 512 << 10

// Lines returns whole lines of the journal after a position, with their newlines: at least
// one, and then as many as fit into size bytes, or 512 KiB if size is 0. It verifies them,
// and returns the position after them. At the end of the journal, or of its valid lines, it
// returns no lines. The caller may keep them. Errors: a *CorruptError, an error of reading.
func (r *Reader) Lines(from Position, size int) (text []byte, after Position, err error) {
	if size == 0 {
		size = maxLinesChunk
	}
	stream, err := r.src.open(from.Offset)
	if err != nil {
		return nil, from, r.src.readError(from, err)
	}
	defer stream.Close()
	sc := newScanner(stream, from, r.maxLine)
	text = make([]byte, 0, max(0, min(int64(size), r.src.size-from.Offset)))
	for {
		line, err := sc.line()
		if err == nil {
			var e Event
			if err = e.decodeSeq(line, sc.at.Sum); err != nil {
				err = &lineError{sc.at, err}
			} else if len(text) > 0 && len(text)+len(line)+1 > size {
				return text, sc.at, nil
			} else {
				err = sc.advance(&e, line)
			}
		}
		if err != nil {
			at := sc.at
			r.tail, err = r.src.tailAt(sc, err, r.maxLine)
			if len(text) > 0 {
				err = nil // the caller comes to the error when it reads after these lines
			}
			return text, at, err
		}
		text = append(append(text, line...), '\n')
	}
}

// Replace replaces the content of a journal by lines that write writes: the whole journal
// from its first line, valid, or nothing is changed. It keeps the whole previous journal
// aside and returns the name of that file. If the content is equal, it changes nothing and
// returns "". An archived journal is live afterwards, also after an error. Errors:
// ErrNotFound; a *LockedError; that of write; a *CorruptError with the first line of the new
// content, or of the archive, that is invalid.
func (d *Dir) Replace(ctx context.Context, id string, write func(io.Writer) error) (aside string, err error) {
	f, err := d.Files(id)
	if err != nil {
		return "", err
	}
	info, err := f.stat(d.fs)
	if err == nil && info.Archived {
		err = d.unarchive(ctx, id)
	}
	if err != nil {
		return "", err
	}
	// Crash here leaves the journal that was archived.
	held, err := f.acquireLock(ctx, d.fs, d.now())
	if err != nil {
		return "", err
	}
	defer held.Close()
	old, err := d.fs.OpenFile(f.Live(), os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return "", err
	}
	defer old.Close()
	replaced, err := f.replace(held, old, func(file vfs.File) error {
		if err := write(file); err != nil {
			return err
		}
		if err := d.checkWhole(ctx, f.Live(), file); err != nil {
			return err
		}
		equal, err := sameContent(old, file)
		if err != nil || equal {
			return errors.Join(err, errEqual)
		}
		size, err := sizeOf(old)
		if err != nil {
			return err
		}
		aside, err = f.copyAside(d.fs, io.NewSectionReader(old, 0, size))
		// Crash here leaves the previous journal, a copy of it, and a temporary file.
		return err
	})
	if errors.Is(err, errEqual) {
		return "", nil
	}
	if err != nil {
		return aside, err
	}
	return aside, errors.Join(replaced.Close(), d.fs.SyncDir(f.Dir))
}

// errEqual ends a Replace that would change nothing.
var errEqual = errors.New("the content is equal")

// checkWhole checks that every line of a file is valid, and that its last one is complete.
func (d *Dir) checkWhole(ctx context.Context, path string, file vfs.File) error {
	size, err := sizeOf(file)
	if err != nil {
		return err
	}
	src := fileSource(path, file, size).withContext(ctx)
	r, err := src.open(0)
	if err != nil {
		return err
	}
	defer r.Close()
	sc := newScanner(r, Position{}, d.maxLine)
	for err == nil {
		err = sc.checkChain()
	}
	var bad *lineError
	switch {
	case errors.As(err, &bad):
		return bad.corrupt(path)
	case err != io.EOF:
		return err
	case len(sc.lines.Rest()) > 0 || sc.at.Seq == 0:
		return (&lineError{sc.at, errIncomplete}).corrupt(path)
	}
	return nil
}

// sizeOf returns the size of an open file in bytes.
func sizeOf(file vfs.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// sameContent reports whether two files have the same bytes.
func sameContent(a, b vfs.File) (bool, error) {
	size, err := sizeOf(a)
	if err != nil {
		return false, err
	}
	if other, err := sizeOf(b); err != nil || other != size {
		return false, err
	}
	one, other := make([]byte, blockSize), make([]byte, blockSize)
	for offset := int64(0); offset < size; offset += blockSize {
		n := min(blockSize, size-offset)
		if _, err := io.ReadFull(io.NewSectionReader(a, offset, n), one[:n]); err != nil {
			return false, err
		}
		if _, err := io.ReadFull(io.NewSectionReader(b, offset, n), other[:n]); err != nil {
			return false, err
		}
		if !bytes.Equal(one[:n], other[:n]) {
			return false, nil
		}
	}
	return true, nil
}
