package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Append adds a batch of events with one write and returns them as they are in
// the journal, preceded by a TypeRecovered event if a torn tail was set aside.
// When it returns nil, the batch survives a killed process; it survives a power
// cut only after Sync. The Log does not keep the records. The returned events
// share the Data of records whose Data was compact.
//
// After ErrTooLong, or another error of a record, the journal is unchanged. The first
// Append also opens or creates the file; after an error of that, it may be retried.
// After a failed write, the error matches ErrPoisoned: the Log keeps the
// batch and refuses every call until Recover has completed the write.
func (l *Log) Append(batch ...Record) ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return nil, err
	}
	records, err := l.normalize(batch)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	if l.file == nil {
		recovered, err := l.openFile(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.files.Live(), err)
		}
		records = append(recovered, records...)
	}
	return l.write(records)
}

// Fits returns the error with which Append would reject a record of the batch, such as
// a *TooLongError. It does not access the disk.
func (l *Log) Fits(batch ...Record) error {
	_, err := l.normalize(batch)
	return err
}

func (l *Log) normalize(batch []Record) ([]Record, error) {
	now := l.dir.now()
	records := make([]Record, 0, len(batch)+1)
	for _, r := range batch {
		normal, err := r.normalize(now, l.dir.maxLine)
		if err != nil {
			return nil, err
		}
		records = append(records, normal)
	}
	return records, nil
}

// openFile opens the file for the first append. It creates a new journal,
// unarchives an archived one, and sets a torn tail aside. It returns the events
// that record this; with text, the lines to be appended, none: they take the place of the torn tail.
func (l *Log) openFile(text []byte) ([]Record, error) {
	ctx := context.Background() // Append is not cancelled
	if !l.exists {
		return nil, l.create(ctx)
	}
	if err := l.retryLock(ctx); err != nil {
		return nil, err
	}
	// Remove temporary files that a crash left. Without the lock, another writer
	// could be using them.
	l.dir.fs.Remove(l.files.Live() + tmpSuffix)
	l.dir.fs.Remove(l.files.Archive() + tmpSuffix)
	if l.archived {
		if err := l.unarchive(); err != nil {
			return nil, err
		}
		l.archived = false
		l.dirs = append(l.dirs, filepath.Dir(l.files.Archive()))
	}
	if err := l.replaceUnsyncable(ctx); err != nil {
		return nil, err
	}
	hasTrash, err := vfs.Exists(l.dir.fs, l.files.Trash())
	if err != nil {
		return nil, err
	}
	file, err := l.fileToAppend()
	if err != nil {
		return nil, err
	}
	recovered, err := l.settleFile(file, text)
	if err != nil {
		file.Close()
		return nil, err
	}
	l.file, l.pendingRecovered, l.unended = file, nil, false
	// The process that created the journal may have died before it synced the
	// directory, and one that restored it from the trash before it synced that.
	l.dirs = append(l.dirs, l.files.Dir)
	if hasTrash {
		l.dirs = append(l.dirs, l.files.Trash())
	}
	return recovered, nil
}

// fileToAppend returns the file that Open opened if it is writable and still has the
// journal's name. Otherwise it opens the file. The file must still
// end where Open found its end, because the next line is chained to the last one.
func (l *Log) fileToAppend() (file vfs.File, err error) {
	if o := l.opened; o != nil && o.writable && l.checkName(o) == nil {
		file, l.opened = o.File, nil
	} else {
		l.closeOpened()
		if file, err = l.openLocked(); err != nil {
			return nil, err
		}
	}
	info, err := file.Stat()
	if err == nil && info.Size() != l.end.Offset+l.torn.Bytes {
		err = l.endLine(file, info.Size())
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// endLine writes the newline that the last line of a file of so many bytes lacks. If that is not all that the file
// lacks, it returns an error.
func (l *Log) endLine(file vfs.File, size int64) error {
	if l.end.Seq == 0 || l.torn.Bytes > 0 || size != l.end.Offset-1 {
		return grownError(size, l.end.Offset+l.torn.Bytes)
	}
	// Crash here leaves the line without its newline, or with it: an event in both cases.
	_, err := file.Write([]byte("\n"))
	return err
}

// openLocked opens the live file for appending, and locks it instead of the one that was
// locked before.
func (l *Log) openLocked() (vfs.File, error) {
	file, err := l.dir.fs.OpenFile(l.files.Live(), appendFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", l.files.Live(), ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	l.lock.setOwn(nil, false) // if it is the same file, its lock excludes the new handle, too
	locked, err := tryLock(file)
	if err == nil {
		err = l.checkName(file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return l.lock.setOwn(file, locked), nil
}

// create creates the directory, the lock and the empty file.
func (l *Log) create(ctx context.Context) error {
	changed, err := vfs.MkdirAll(l.dir.fs, l.files.Dir)
	l.dirs = append(l.dirs, changed...)
	if err != nil {
		return err
	}
	if l.lock == nil {
		if l.lock, err = l.files.acquireLock(ctx, l.dir.fs, l.dir.now()); err != nil {
			return err
		}
	}
	// Crash here leaves a lock file, which is not a journal.
	archived, err := vfs.Exists(l.dir.fs, l.files.Archive())
	if err != nil {
		return err
	}
	if archived {
		return &fs.PathError{Op: "create", Path: l.files.Archive(), Err: fs.ErrExist}
	}
	file, err := l.dir.fs.OpenFile(l.files.Live(), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL,
		vfs.NewFileMode(l.dir.fs, l.files.Dir))
	if err != nil {
		return err
	}
	// Crash here leaves an empty journal, which readers do not list as a session.
	l.dirs = append(l.dirs, l.files.Dir)
	l.exists, l.place = true, placeOf(l.dir.fs, l.files.Dir)
	locked, err := tryLock(file)
	if err != nil {
		file.Close()
		return err
	}
	l.file = l.lock.setOwn(file, locked)
	return nil
}

// retryLock takes the lock that Open could not take. It fails if the journal has
// changed since: the caller does not know its last events.
func (l *Log) retryLock(ctx context.Context) error {
	if l.lock != nil {
		return nil
	}
	var err error
	if l.lock, err = l.files.acquireLock(ctx, l.dir.fs, l.dir.now()); err != nil {
		return err
	}
	want := l.end
	err = l.inspect(ctx)
	if err == nil && l.end != want {
		err = fmt.Errorf("it was changed concurrently: it has %d events, not %d", l.end.Seq, want.Seq)
		l.end = want
	}
	if err != nil {
		l.release()
	}
	return err
}

// settleFile sets a torn tail aside and syncs the file, so that the first batch
// can declare the existing lines synced. It returns the events that record this,
// including those of an earlier attempt.
func (l *Log) settleFile(file vfs.File, text []byte) ([]Record, error) {
	switch {
	case l.torn.Bytes > 0 && text != nil:
		if err := l.replaceTorn(file, text); err != nil {
			return nil, err
		}
		l.torn = Torn{}
	case l.torn.Bytes > 0:
		what, err := l.files.setAside(l.dir.fs, file, l.torn)
		if err != nil {
			return nil, err
		}
		l.pendingRecovered = append(l.pendingRecovered, l.dir.recoveredRecord(what))
		l.torn = Torn{}
	}
	if err := file.Sync(); err != nil {
		what := Recovered{Reason: syncFailedReason + err.Error(), Offset: l.end.Offset}
		l.pendingRecovered = append(l.pendingRecovered, l.dir.recoveredRecord(what))
		l.syncFailed = true
		return nil, err
	}
	l.synced = l.end
	return l.pendingRecovered, nil
}

// settle sets a torn tail aside and records that, or ends the last line, for a caller that has
// nothing to append, and syncs.
func (l *Log) settle() error {
	if l.file == nil && (l.torn.Bytes > 0 || l.unended) {
		recovered, err := l.openFile(nil)
		if err != nil {
			return err
		}
		if _, err := l.write(recovered); err != nil {
			return err
		}
	}
	return l.sync()
}

// How the Reason of a Recovered starts.
const (
	syncFailedReason  = "a sync failed: "
	writeFailedReason = "a write failed: "
	repairedReason    = "repaired: "
)

// maxReason bounds an error text of the system, in bytes: escaped, each takes up
// to six, and the line must fit any limit.
const maxReason = 256

func (d *Dir) recoveredRecord(what Recovered) Record {
	what.Reason = what.Reason[:min(len(what.Reason), maxReason)]
	data, err := json.Marshal(what)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	r, err := Record{Type: TypeRecovered, Data: data}.normalize(d.now(), d.maxLine)
	if err != nil {
		panic(err)
	}
	return r
}

// write appends the lines of the records with one write.
func (l *Log) write(records []Record) ([]Event, error) {
	if len(records) == 0 {
		return nil, nil
	}
	all, events := l.encode(l.unsynced, records)
	lines := all[len(l.unsynced):]
	// Crash here leaves nothing of the batch.
	if err := l.writeAll(lines); err != nil {
		for i := range events { // the caller may change the records before Recover
			events[i].Data = bytes.Clone(events[i].Data)
		}
		l.failure = &failure{err: err, batch: lines, events: events}
		return nil, l.usable()
	}
	// Crash here leaves the whole batch if only the process dies, and any part of
	// it after a power cut.
	l.unsynced = all
	l.advance(len(lines), events)
	return events, nil
}

// encode appends the lines of the records to dst, numbered and chained from the
// end of the journal.
func (l *Log) encode(dst []byte, records []Record) ([]byte, []Event) {
	size := 0
	for _, r := range records {
		size += len(r.Data) + len(r.Type) + envelopeMax
	}
	dst = slices.Grow(dst, size)
	events := make([]Event, 0, len(records))
	prev := l.end
	for i, r := range records {
		e := Event{Seq: prev.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
		if i == 0 && l.synced.Seq > l.maxSynced {
			e.Synced = l.synced.Seq
		}
		before := len(dst)
		dst = encode(dst, &e, prev.Sum)
		prev = prev.after(e, len(dst)-before)
		events = append(events, e)
	}
	return dst, events
}

func (l *Log) writeAll(lines []byte) error {
	n, err := l.file.Write(lines)
	if err == nil && n < len(lines) {
		err = &fs.PathError{Op: "write", Path: l.files.Live(), Err: errors.New("short write")}
	}
	return err
}

// advance moves the end of the journal past events whose lines have the given
// length.
func (l *Log) advance(length int, events []Event) {
	for _, e := range events {
		l.maxSynced = max(l.maxSynced, e.Synced)
	}
	last := events[len(events)-1]
	l.end = Position{Seq: last.Seq, Offset: l.end.Offset + int64(length), Sum: last.Sum}
}
