package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// failure describes a failed write or sync, for Recover.
type failure struct {
	err      error
	sync     bool    // a sync failed, not a write
	lost     bool    // the cause is that the file was removed or replaced
	batch    []byte  // the lines that the failed write was to append
	events   []Event // their events
	reported bool    // one of them is a TypeRecovered event for this failure
}

// Recover resolves a failed Append or Sync. When it returns nil, every event of
// the earlier Appends, including the failed one, is in the journal and on the
// disk. It returns the events that no Append has returned: the failed batch and a
// TypeRecovered event. While the cause persists it fails, and may be called
// again, as after the error of ctx. It does nothing if the Log is not poisoned.
func (l *Log) Recover(ctx context.Context) ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.failure == nil:
		return nil, nil
	}
	events, err := l.recover(ctx)
	l.unreturned = append(l.unreturned, events...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.files.Live(), err)
	}
	events, l.unreturned = l.unreturned, nil
	return events, nil
}

// recover returns the events that it has written, even with an error.
func (l *Log) recover(ctx context.Context) ([]Event, error) {
	f := l.failure
	if f.batch == nil {
		what := Recovered{Reason: syncFailedReason + f.err.Error(), Offset: l.synced.Offset}
		line, e := encodeAfter(Event{Seq: l.end.Seq, Sum: l.end.Sum}, l.dir.recoveredRecord(what))
		f.batch, f.events = line, []Event{e}
	}
	if f.sync {
		// A file that was lost exists again when its disk is mounted again.
		_, err := l.dir.fs.Stat(l.files.Live())
		if missing := errors.Is(err, fs.ErrNotExist); missing || !f.lost {
			return l.rewrite(ctx)
		}
	}
	events, err := l.completeWrite(ctx)
	if err != nil {
		return nil, err
	}
	l.failure = nil
	return events, l.sync()
}

// completeWrite completes a failed write. The lines after the last successful
// sync are in memory, too. The common prefix of file and memory stays, because a
// reader may have seen it, and the rest is appended to it, from the middle of a
// line if necessary, as after any short write. So a disk that stays full costs no
// space. Only bytes that this Log did not write are set aside.
func (l *Log) completeWrite(ctx context.Context) ([]Event, error) {
	if err := l.reopen(ctx); err != nil {
		return nil, err
	}
	memory := l.unsyncedInMemory()
	disk, err := l.unsyncedOnDisk(int64(len(memory)) + 1)
	if err != nil {
		return nil, err
	}
	common := commonPrefix(disk, memory)
	partial := common - bytes.LastIndexByte(disk[:common], '\n') - 1 // of the last line
	switch {
	case common < len(disk):
		err = l.setAsideForeign(common)
	case partial > 0 && !l.failure.reported:
		l.reportRecovery(Recovered{Offset: l.synced.Offset + int64(common-partial), Bytes: int64(partial)})
	}
	if err != nil {
		return nil, err
	}
	// Crash here leaves a prefix of the lines, perhaps with an incomplete line.
	if err := l.writeAll(l.unsyncedInMemory()[common:]); err != nil {
		return nil, err
	}
	return l.acknowledgeBatch(), nil
}

// acknowledgeBatch adds the events of the failed batch, which have been written.
func (l *Log) acknowledgeBatch() []Event {
	f := l.failure
	l.unsynced = append(l.unsynced, f.batch...)
	l.advance(len(f.batch), f.events)
	return f.events
}

// reopen opens the file again. If a disk was unmounted and mounted again, it is
// another file, which must have all lines that were synced and must be locked.
func (l *Log) reopen(ctx context.Context) error {
	file, err := l.dir.fs.OpenFile(l.files.Live(), appendFlags, 0)
	if err != nil {
		return err
	}
	reopened, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	previous, err := l.file.Stat()
	if err != nil || !l.dir.fs.SameFile(reopened, previous) {
		return l.takeOther(ctx, file)
	}
	if l.lock.file == nil {
		err = l.lock.retake(ctx, l.files, l.dir.now())
	}
	if err != nil {
		file.Close()
		return err
	}
	l.file.Close() // not the one that is locked
	l.file = file
	return nil
}

// takeOther continues in another file, which it locks.
func (l *Log) takeOther(ctx context.Context, file vfs.File) error {
	var locked bool
	t, err := fileSource(l.files.Live(), file, l.synced.Offset).findTail(l.dir.maxLine)
	if t.end != l.synced && !vfs.IsFileError(err) {
		err = errOtherFile
	}
	if err == nil {
		err = l.lock.retake(ctx, l.files, l.dir.now())
	}
	if err == nil {
		locked, err = tryLock(file)
	}
	if err != nil {
		file.Close()
		return err
	}
	l.file.Close()
	l.file = l.lock.setOwn(file, locked)
	return nil
}

// unsyncedOnDisk returns the bytes that the file has after the last successful
// sync, but at most limit bytes.
func (l *Log) unsyncedOnDisk(limit int64) ([]byte, error) {
	info, err := l.file.Stat()
	if err != nil {
		return nil, err
	}
	length := info.Size() - l.synced.Offset
	if length < 0 {
		return nil, truncatedError(info.Size(), l.synced.Offset)
	}
	return io.ReadAll(io.NewSectionReader(l.file, l.synced.Offset, min(length, limit)))
}

// unsyncedInMemory returns the bytes that the file should have after the last successful
// sync.
func (l *Log) unsyncedInMemory() []byte {
	return append(bytes.Clone(l.unsynced), l.failure.batch...)
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// setAsideForeign sets aside the bytes after the common prefix of file and memory.
// It fails if there are valid lines among them: then another program writes to
// the journal without the lock.
func (l *Log) setAsideForeign(common int) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	found, err := fileSource(l.files.Live(), l.file, info.Size()).scanTail(l.synced, l.dir.maxLine)
	if err != nil {
		return err
	}
	foreign := l.synced.Offset + int64(common)
	if found.end.Offset > foreign {
		return errors.New("another program has written to it")
	}
	torn := found.torn
	torn.Offset, torn.Bytes = foreign, info.Size()-foreign
	what, err := l.files.setAside(l.dir.fs, l.file, torn)
	if err == nil {
		l.reportRecovery(what)
	}
	return err
}

// reportRecovery adds a TypeRecovered event to the failed batch.
func (l *Log) reportRecovery(what Recovered) {
	f := l.failure
	what.Reason = writeFailedReason + f.err.Error()
	line, e := encodeAfter(f.events[len(f.events)-1], l.dir.recoveredRecord(what))
	f.batch, f.events = append(bytes.Clone(f.batch), line...), append(f.events, e)
	f.reported = true
}

// encodeAfter encodes a record as the line after an event.
func encodeAfter(last Event, r Record) ([]byte, Event) {
	e := Event{Seq: last.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
	return encode(nil, &e, last.Sum), e
}

// rewrite recovers from a failed sync. The page cache may hold bytes that the disk
// never got, so the lines since the last successful sync are written from memory,
// to a new file. They keep their numbers and sums, because a reader may have seen
// them.
func (l *Log) rewrite(ctx context.Context) ([]Event, error) {
	if l.failure.lost {
		if err := l.prepareName(ctx); err != nil {
			return nil, err
		}
	}
	file, err := l.replaceFile(ctx, l.synced, l.unsyncedInMemory())
	if err != nil {
		return nil, err
	}
	l.file.Close()
	l.file = file
	l.dirs = append(l.dirs, l.files.Dir)
	for len(l.dirs) > 0 {
		// Crash here leaves the previous file or the new one.
		if err := l.dir.fs.SyncDir(l.dirs[0]); err != nil {
			return nil, err
		}
		l.dirs = l.dirs[1:]
	}
	events := l.acknowledgeBatch()
	l.failure = nil
	l.synced, l.unsynced = l.end, nil
	return events, nil
}

// prepareName prepares the creation of the journal's file after it was removed,
// perhaps with its directory and its lock. The open file still has every line.
func (l *Log) prepareName(ctx context.Context) error {
	if err := l.place.check(l.dir.fs, l.files.Dir); err != nil {
		return err
	}
	changed, err := vfs.MkdirAll(l.dir.fs, l.files.Dir)
	l.dirs = append(l.dirs, changed...)
	if err != nil {
		return err
	}
	l.place = placeOf(l.dir.fs, l.files.Dir)
	return l.lock.retake(ctx, l.files, l.dir.now())
}

// replaceFile replaces the journal's file by a new one and returns that, open: it
// has the content of the previous one up to a position, and the given lines.
func (l *Log) replaceFile(ctx context.Context, upTo Position, lines []byte) (vfs.File, error) {
	old := l.file
	if old == nil {
		var err error
		if old, err = l.dir.fs.OpenFile(l.files.Live(), os.O_RDONLY|vfs.NoLink, 0); err != nil {
			return nil, err
		}
		defer old.Close()
	}
	file, err := l.files.replace(l.lock, old, func(file vfs.File) error {
		return l.copyTo(ctx, file, old, upTo, lines)
	})
	if err != nil && l.file != nil {
		if _, closed := old.Stat(); closed != nil {
			if reopened, err := l.openLocked(); err == nil {
				l.file = reopened
			}
		}
	}
	return file, err
}

// copyTo writes the content of a new file for replaceFile.
func (l *Log) copyTo(ctx context.Context, file, old vfs.File, upTo Position, lines []byte) error {
	synced := contextReader{io.NopCloser(io.NewSectionReader(old, 0, upTo.Offset)), ctx, l.files.Live()}
	n, err := io.Copy(file, synced)
	if err == nil && n == upTo.Offset-1 { // the last line lacks its newline: if it is that line is checked below
		_, err = file.Write([]byte("\n"))
	}
	if err != nil {
		return err
	}
	copied, err := fileSource(l.files.Live(), file, upTo.Offset).findTail(l.dir.maxLine)
	if err == nil && copied.end != upTo {
		err = fmt.Errorf("only %d of its %d events can still be read", copied.end.Seq, upTo.Seq)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(lines)
	return err
}

// replaceUnsyncable replaces a file whose sync failed before anything was
// appended. Its lines are not in memory: they are copied as the system returns
// them, and must be valid.
func (l *Log) replaceUnsyncable(ctx context.Context) error {
	if !l.syncFailed {
		return nil
	}
	l.closeOpened()
	file, err := l.replaceFile(ctx, l.end, nil)
	if err != nil {
		return err
	}
	l.opened = liveFile(l.files.Live(), file, l.end.Offset)
	l.syncFailed = false
	return nil
}
