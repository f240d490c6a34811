package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// maxSpare is how much memory a Log keeps for the lines of its next batches, in
// bytes.
const maxSpare = 4 << 20

// Log is one journal, open to be appended to. At most one Log of a journal is
// open anywhere; it may be used from many goroutines. Nothing is on the disk
// before the first Append.
type Log struct {
	dir   *Dir
	files files

	mu       sync.Mutex
	file     File         // nil: nothing was appended yet
	unlock   func() error // nil: the lock is not held
	lockErr  error        // why Open could not take the lock
	closed   bool
	exists   bool // the journal has a file, live or archived
	fresh    bool // it had no event before this Log
	archived bool

	end      Position // behind the last acknowledged line
	torn     Torn     // what stands behind it, to be set aside by the first append
	syncedAt Position // how much of the file is known to be on the disk
	claimed  uint64   // the highest Synced that was written
	unsynced []byte   // the lines between syncedAt and end
	dirs     []string // directories with entries that are not known to be on the disk

	suspect bool     // the file's sync failed before anything was appended to it
	owed    []Record // journal.recovered events that were not written yet

	failure *failure // what poisoned the handle
	arrived []Event  // what Recover has written and could not return yet
}

// Create prepares a new journal with the given name, usually a NewID. The file,
// its lock and the directory come into being with the first Append.
func (d *Dir) Create(id string) (*Log, error) {
	f, err := d.files(id)
	if err != nil {
		return nil, err
	}
	return &Log{dir: d, files: f, fresh: true}, nil
}

// Open prepares an existing journal, live or archived, for appending. It takes
// the lock, checks the last 8 MiB, and writes nothing else: a torn tail is set
// aside, an archived journal brought back, by the first Append.
//
// Errors: ErrNotFound; a *LockedError when somebody else writes; a
// *CorruptError. Where no lock can be taken at all, as on a read-only disk, the
// Log opens all the same and the first Append says why not.
func (d *Dir) Open(id string) (*Log, error) {
	f, err := d.files(id)
	if err != nil {
		return nil, err
	}
	if _, err := f.stat(d.fs); err != nil {
		return nil, err
	}
	l := &Log{dir: d, files: f, exists: true}
	l.unlock, l.lockErr = f.lock(d.fs, d.now())
	if errors.Is(l.lockErr, ErrLocked) {
		return nil, l.lockErr
	}
	if err := l.inspect(); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// inspect finds the end of the journal.
func (l *Log) inspect() error {
	info, err := l.files.stat(l.dir.fs)
	if err != nil {
		return err
	}
	src, file, err := l.files.source(l.dir.fs)
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := src.findEnding(l.dir.maxLine)
	if err != nil {
		return err
	}
	l.archived, l.end, l.claimed, l.torn = info.Archived, end.at, end.claimed, end.torn
	l.fresh = end.at == Position{}
	return nil
}

// ID is the journal's name.
func (l *Log) ID() string { return l.files.id }

// Path is where the journal is, or will be, when it is not archived.
func (l *Log) Path() string { return l.files.path() }

// Position is behind the last event that was appended.
func (l *Log) Position() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Torn is what a crash left behind the last good line, until the first Append
// sets it aside.
func (l *Log) Torn() Torn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.torn
}

// Append adds a batch of events with one write and returns them as they stand
// in the journal, preceded by a TypeRecovered event when a torn tail had to be
// set aside. When it returns nil, a killed process loses nothing of the batch;
// a lost power supply loses nothing only after Sync. The Log keeps nothing of
// the batch; the events have the Data of the records where it was compact.
//
// ErrTooLong and events that cannot be encoded leave the journal as it was. So
// do errors of the first Append that come before its write: it can be called
// again. An error that is ErrPoisoned comes with the failed write, after which
// the Log keeps the batch and refuses everything until Recover has appended
// what did not arrive of it.
func (l *Log) Append(batch ...Record) ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return nil, err
	}
	records, err := l.compact(batch)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	if l.file == nil {
		recovered, err := l.start()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.files.path(), err)
		}
		records = append(recovered, records...)
	}
	return l.write(records)
}

// Fits returns the error with which Append would refuse a batch whatever the
// disk does, such as a *TooLongError.
func (l *Log) Fits(batch ...Record) error {
	_, err := l.compact(batch)
	return err
}

func (l *Log) usable() error {
	if l.closed {
		return ErrClosed
	}
	if l.failure != nil {
		return fmt.Errorf("%s: %w: %w", l.files.path(), ErrPoisoned, l.failure.err)
	}
	return nil
}

func (l *Log) compact(batch []Record) ([]Record, error) {
	now := l.dir.now()
	records := make([]Record, 0, len(batch)+1)
	for _, r := range batch {
		c, err := compactRecord(r, now, l.dir.maxLine)
		if err != nil {
			return nil, err
		}
		records = append(records, c)
	}
	return records, nil
}

// start makes the file ready for the first append: it is the moment at which
// a new journal comes into being, an archived one comes back and a torn tail
// goes aside.
func (l *Log) start() ([]Record, error) {
	if !l.exists {
		return nil, l.create()
	}
	if err := l.lockLate(); err != nil {
		return nil, err
	}
	l.tidy()
	if l.archived {
		if err := l.dir.bringBack(l.files); err != nil {
			return nil, err
		}
		l.archived = false
		l.dirs = append(l.dirs, filepath.Dir(l.files.archivePath()))
	}
	if err := l.renew(); err != nil {
		return nil, err
	}
	hasTrash, err := l.dir.hasTrash()
	if err != nil {
		return nil, err
	}
	file, err := l.dir.fs.OpenFile(l.files.path(), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	recovered, err := l.settleFile(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	l.file, l.owed = file, nil
	// Its writer may have died before it synced the directory, and whoever took
	// it out of the trash before its name was gone from there for good.
	l.dirs = append(l.dirs, l.files.dir)
	if hasTrash {
		l.dirs = append(l.dirs, l.dir.trash())
	}
	return recovered, nil
}

// create makes the directory, the lock and the empty file.
func (l *Log) create() error {
	changed, err := mkdirAll(l.dir.fs, l.files.dir, dirMode)
	l.dirs = append(l.dirs, changed...)
	if err != nil {
		return err
	}
	if l.unlock == nil {
		if l.unlock, err = l.files.lock(l.dir.fs, l.dir.now()); err != nil {
			return err
		}
	}
	// Crash here leaves a lock file, which is no journal.
	if _, err := l.dir.fs.Stat(l.files.archivePath()); err == nil {
		return &fs.PathError{Op: "create", Path: l.files.archivePath(), Err: fs.ErrExist}
	}
	file, err := l.dir.fs.OpenFile(l.files.path(), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	// Crash here leaves an empty journal, which readers take for no session.
	l.dirs = append(l.dirs, l.files.dir)
	l.file, l.exists = file, true
	return nil
}

// lockLate takes the lock that Open could not get. Somebody may have written
// since: then what is to be appended does not belong behind it.
func (l *Log) lockLate() error {
	if l.unlock != nil {
		return nil
	}
	unlock, err := l.files.lock(l.dir.fs, l.dir.now())
	if err != nil {
		return err
	}
	l.unlock = unlock
	want := l.end
	err = l.inspect()
	if err == nil && l.end != want {
		err = fmt.Errorf("it was changed meanwhile: it has %d events, not %d", l.end.Seq, want.Seq)
		l.end = want
	}
	if err != nil {
		l.release()
	}
	return err
}

// settleFile makes durable what was found in the file, so that the first batch
// can call it synced, and sets a torn tail aside. It returns what is to be
// recorded of that, even when it happened in an earlier attempt.
func (l *Log) settleFile(file File) ([]Record, error) {
	if l.torn.Bytes > 0 {
		what, err := l.files.setAside(l.dir.fs, file, l.torn)
		if err != nil {
			return nil, err
		}
		l.owed = append(l.owed, recoveredRecord(what, l.dir))
		l.torn = Torn{}
	}
	if err := file.Sync(); err != nil {
		what := Recovered{Reason: "a sync failed: " + err.Error(), Offset: l.end.Offset}
		l.owed = append(l.owed, recoveredRecord(what, l.dir))
		l.suspect = true
		return nil, err
	}
	l.syncedAt = l.end
	return l.owed, nil
}

// settle does what the first Append would do, for somebody who has nothing to
// append.
func (l *Log) settle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.torn.Bytes == 0 {
		return nil
	}
	recovered, err := l.start()
	if err != nil {
		return err
	}
	if _, err := l.write(recovered); err != nil {
		return err
	}
	return l.sync()
}

func recoveredRecord(what Recovered, d *Dir) Record {
	what.Reason = what.Reason[:min(len(what.Reason), maxReason)]
	data, err := json.Marshal(what)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	r, err := compactRecord(Record{Type: TypeRecovered, Data: data}, d.now(), d.maxLine)
	if err != nil {
		panic(err)
	}
	return r
}

// maxReason bounds what the system said, in bytes: each takes up to six in a
// line, which has to fit whatever the limit is.
const maxReason = 256

// write encodes the records behind the last line and hands them to the file in
// one piece.
func (l *Log) write(records []Record) ([]Event, error) {
	if len(records) == 0 {
		return nil, nil
	}
	all, events := l.encode(l.unsynced, records)
	lines := all[len(l.unsynced):]
	// Crash here leaves nothing of the batch.
	if err := l.writeAll(lines); err != nil {
		l.failure = &failure{err: err, batch: lines, event: withOwnData(events)}
		return nil, l.usable()
	}
	// Crash here leaves the whole batch when only the process dies, and any
	// part of it when the power goes.
	l.unsynced = all
	l.moveEnd(len(lines), events)
	return events, nil
}

// withOwnData are events to be returned later, when somebody may have changed
// the records that they came from.
func withOwnData(events []Event) []Event {
	for i := range events {
		events[i].Data = bytes.Clone(events[i].Data)
	}
	return events
}

// encode gives the records their place behind the end of the journal, and
// appends their lines.
func (l *Log) encode(lines []byte, records []Record) ([]byte, []Event) {
	size := 0
	for _, r := range records {
		size += len(r.Data) + len(r.Type) + envelopeMax
	}
	lines = slices.Grow(lines, size)
	events := make([]Event, 0, len(records))
	prev := l.end
	for i, r := range records {
		e := Event{Seq: prev.Seq + 1, Time: r.Time, Type: r.Type, Data: r.Data}
		if i == 0 && l.syncedAt.Seq > l.claimed {
			e.Synced = l.syncedAt.Seq
		}
		before := len(lines)
		lines = encode(lines, &e, prev.Sum)
		prev = prev.after(e, len(lines)-before)
		events = append(events, e)
	}
	return lines, events
}

func (l *Log) writeAll(lines []byte) error {
	n, err := l.file.Write(lines)
	if err == nil && n < len(lines) {
		err = &fs.PathError{Op: "write", Path: l.files.path(), Err: errors.New("short write")}
	}
	return err
}

// acknowledge takes lines for written that are in the file.
func (l *Log) acknowledge(lines []byte, events []Event) {
	l.unsynced = append(l.unsynced, lines...)
	l.moveEnd(len(lines), events)
}

// moveEnd moves the end behind events whose lines have the given length.
func (l *Log) moveEnd(length int, events []Event) {
	for _, e := range events {
		l.claimed = max(l.claimed, e.Synced)
	}
	last := events[len(events)-1]
	l.end = Position{Seq: last.Seq, Offset: l.end.Offset + int64(length), Sum: last.Sum}
}
