package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// failure is what the way back needs to know of a failed write or sync.
type failure struct {
	err   error
	sync  bool    // a sync failed, not a write
	lost  bool    // because the file was removed, or another is in its place
	batch []byte  // the lines that the failed write was to append
	event []Event // the same
	said  bool    // one of them tells of the failure
}

// Recover is the way back after a failed Append or Sync. It returns nil when
// every event of the earlier Appends, the failed one included, is in the
// journal and on the disk, and with it the events that no Append returned: the
// failed batch and a TypeRecovered event. While the cause lasts it fails, and
// can be called again. A Log that is not poisoned is left alone.
func (l *Log) Recover() ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.failure == nil:
		return nil, nil
	}
	events, err := l.recover()
	l.arrived = append(l.arrived, events...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.files.path(), err)
	}
	events, l.arrived = l.arrived, nil
	return events, nil
}

// recover returns the events that it has written, even with an error.
func (l *Log) recover() ([]Event, error) {
	if l.failure.sync {
		return l.rewrite()
	}
	events, err := l.finish()
	if err != nil {
		return nil, err
	}
	l.failure = nil
	return events, l.sync()
}

// finish completes a failed write. What the file has behind the last good sync
// is in memory, too. As far as both agree it stays, because a reader may have
// seen it, and the rest is written behind, from the middle of a line if need
// be, as after any short write: a disk that stays full for long costs no file
// that is set aside, and no room. Only bytes that are not from this Log are set
// aside.
func (l *Log) finish() ([]Event, error) {
	if err := l.reopen(); err != nil {
		return nil, err
	}
	ours := l.behindSyncInMemory()
	there, err := l.behindSync(int64(len(ours)) + 1)
	if err != nil {
		return nil, err
	}
	agreed := agreement(there, ours)
	half := agreed - bytes.LastIndexByte(there[:agreed], '\n') - 1
	switch {
	case agreed < len(there):
		err = l.clear(agreed)
	case half > 0 && !l.failure.said:
		l.confess(Recovered{Offset: l.syncedAt.Offset + int64(agreed-half), Bytes: int64(half)})
	}
	if err != nil {
		return nil, err
	}
	// Crash here leaves a prefix of what is in memory, perhaps with half a line.
	if err := l.writeAll(l.behindSyncInMemory()[agreed:]); err != nil {
		return nil, err
	}
	l.acknowledge(l.failure.batch, l.failure.event)
	return l.failure.event, nil
}

// reopen opens the file again. After a disk was taken out and mounted again it
// is another one, which has to be the same journal, and to be locked anew.
func (l *Log) reopen() error {
	file, err := l.dir.fs.OpenFile(l.files.path(), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if !l.sameFile(file, l.file) {
		err = l.adopt(file)
	}
	if err != nil {
		file.Close()
		return err
	}
	l.file.Close()
	l.file = file
	return nil
}

// sameFile reports whether two open files are one. What cannot be looked at
// counts as another.
func (l *Log) sameFile(a, b File) bool {
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && l.dir.fs.SameFile(infoA, infoB)
}

// adopt takes a file for the journal that has everything that was synced.
func (l *Log) adopt(file File) error {
	end, err := fileSource(l.files.path(), file, l.syncedAt.Offset).findEnding(l.dir.maxLine)
	if err != nil || end.at != l.syncedAt {
		return errUsurped
	}
	if err := l.release(); err != nil {
		return err
	}
	l.unlock, err = l.files.lock(l.dir.fs, l.dir.now())
	return err
}

// behindSync is what the file has behind the last good sync, but no more than
// the given number of bytes.
func (l *Log) behindSync(most int64) ([]byte, error) {
	info, err := l.file.Stat()
	if err != nil {
		return nil, err
	}
	length := info.Size() - l.syncedAt.Offset
	if length < 0 {
		return nil, cutError(info.Size(), l.syncedAt.Offset)
	}
	return io.ReadAll(io.NewSectionReader(l.file, l.syncedAt.Offset, min(length, most)))
}

// behindSyncInMemory is what it should have.
func (l *Log) behindSyncInMemory() []byte {
	return append(bytes.Clone(l.unsynced), l.failure.batch...)
}

// agreement is how many bytes two texts have in common at their beginning.
func agreement(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// clear sets aside what stands behind the bytes that file and memory agree on.
// Whole lines there that check are somebody's, who writes without the lock.
func (l *Log) clear(agreed int) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	found, err := fileSource(l.files.path(), l.file, info.Size()).scanEnding(l.syncedAt, l.dir.maxLine)
	if err != nil {
		return err
	}
	strange := l.syncedAt.Offset + int64(agreed)
	if found.at.Offset > strange {
		return errors.New("somebody else has written to it")
	}
	torn := found.torn
	torn.Offset, torn.Bytes = strange, info.Size()-strange
	what, err := l.files.setAside(l.dir.fs, l.file, torn)
	if err == nil {
		l.confess(what)
	}
	return err
}

// confess adds an event to the failed batch that says what became of it.
func (l *Log) confess(what Recovered) {
	f := l.failure
	what.Reason = "a write failed: " + f.err.Error()
	line, e := l.behind(f.event[len(f.event)-1], recoveredRecord(what, l.dir))
	f.batch, f.event = append(bytes.Clone(f.batch), line...), append(f.event, e)
	f.said = true
}

// behind encodes one record as the line after an event.
func (l *Log) behind(last Event, r Record) ([]byte, Event) {
	e := Event{Seq: last.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
	return encode(nil, &e, last.Sum), e
}

// rewrite is the way back after a failed sync: the page cache may show bytes
// that the disk never got, so the lines since the last good sync come from
// memory, in a new file. They keep their numbers and their sums, because a
// reader may have seen them.
func (l *Log) rewrite() ([]Event, error) {
	f := l.failure
	if f.lost {
		if err := l.takePlace(); err != nil {
			return nil, err
		}
	}
	if f.batch == nil {
		what := Recovered{Reason: "a sync failed: " + f.err.Error(), Offset: l.syncedAt.Offset}
		line, e := l.behind(Event{Seq: l.end.Seq, Sum: l.end.Sum}, recoveredRecord(what, l.dir))
		f.batch, f.event = line, []Event{e}
	}
	file, err := l.replace(l.syncedAt, append(bytes.Clone(l.unsynced), f.batch...))
	if err != nil {
		return nil, err
	}
	l.file.Close()
	l.file = file
	l.dirs = append(l.dirs, l.files.dir)
	for len(l.dirs) > 0 {
		// Crash here leaves the old file or the new one.
		if err := l.dir.fs.SyncDir(l.dirs[0]); err != nil {
			return nil, err
		}
		l.dirs = l.dirs[1:]
	}
	l.failure = nil
	l.acknowledge(f.batch, f.event)
	l.syncedAt, l.unsynced = l.end, nil
	return f.event, nil
}

// takePlace makes room for a new file where somebody removed the old one, and
// perhaps its directory and its lock. What still is open has every line.
func (l *Log) takePlace() error {
	if _, err := l.dir.fs.Stat(l.files.path()); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, errUsurped)
	}
	changed, err := mkdirAll(l.dir.fs, l.files.dir, dirMode)
	l.dirs = append(l.dirs, changed...)
	if err != nil {
		return err
	}
	if err := l.release(); err != nil {
		return err
	}
	l.unlock, err = l.files.lock(l.dir.fs, l.dir.now())
	return err
}

// replace puts a new file in the place of the journal's, and returns it: what
// the old one has up to a position, and the given lines behind it.
func (l *Log) replace(upTo Position, lines []byte) (File, error) {
	tmp := l.files.path() + tmpSuffix
	file, err := l.dir.fs.OpenFile(tmp, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, err
	}
	err = l.fill(file, upTo, lines)
	if err == nil {
		// Crash here leaves the old file, of which everything that was called
		// synced is on the disk, and a *.tmp that nobody reads.
		err = l.dir.fs.Rename(tmp, l.files.path())
	}
	if err != nil {
		file.Close()
		l.dir.fs.Remove(tmp)
		return nil, err
	}
	return file, nil
}

// fill writes and syncs the content of a new file.
func (l *Log) fill(file File, upTo Position, lines []byte) error {
	old := l.file
	if old == nil {
		var err error
		if old, err = l.dir.fs.OpenFile(l.files.path(), os.O_RDONLY, 0); err != nil {
			return err
		}
		defer old.Close()
	}
	if _, err := io.Copy(file, io.NewSectionReader(old, 0, upTo.Offset)); err != nil {
		return err
	}
	copied, err := fileSource(l.files.path(), file, upTo.Offset).findEnding(l.dir.maxLine)
	if err == nil && copied.at != upTo {
		err = fmt.Errorf("only %d of its %d events can still be read", copied.at.Seq, upTo.Seq)
	}
	if err != nil {
		return err
	}
	if _, err := file.Write(lines); err != nil {
		return err
	}
	return file.Sync()
}

// renew puts a new file in the place of one whose sync failed before anything
// was appended. No memory has its lines: they are copied as the system shows
// them, and must check.
func (l *Log) renew() error {
	if !l.suspect {
		return nil
	}
	f, err := l.replace(l.end, nil)
	if err != nil {
		return err
	}
	l.suspect = false
	return f.Close()
}
