package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Log is one journal, open for appending. At most one Log of a journal can append
// at a time, in any process. A Log may be used by several goroutines. The first
// Append creates the file of a new journal.
type Log struct {
	dir   *Dir
	files Files

	mu       sync.Mutex
	file     vfs.File    // nil: not open for appending
	opened   *openedFile // for readers, until the first append; nil: none
	lock     *lock       // nil: it is not held
	lockErr  error       // why Open could not take the lock
	closed   bool
	exists   bool // the journal has a file, live or archived
	wasEmpty bool // it had no event before this Log
	archived bool

	end       Position // of the last valid line; after the first append, of the last acknowledged line
	torn      Torn     // follows end; set aside by the first append
	unended   bool     // the last line lacks its newline; the first append writes it
	synced    Position // the part of the file up to here is on the disk
	maxSynced uint64   // the highest Synced that was written
	unsynced  []byte   // the lines between synced and end
	dirs      []string // directories with entries that may not be on the disk
	place     place    // of the journal's directory

	syncFailed       bool     // a sync failed before anything was appended
	pendingRecovered []Record // journal.recovered events that are not yet written

	failure    *failure // what poisoned the Log; nil: it is not poisoned
	unreturned []Event  // written by a Recover that failed
}

// Create returns a Log of a new journal with the given name, usually a NewID. The
// first Append creates the directory, the lock and the file.
func (d *Dir) Create(id string) (*Log, error) {
	f, err := d.Files(id)
	if err != nil {
		return nil, err
	}
	return &Log{dir: d, files: f, wasEmpty: true}, nil
}

// Open opens an existing journal, live or archived, for appending. It takes the
// lock and checks the last lines, usually those of the last 8 MiB. It writes nothing but the lock file: the first
// Append sets a torn tail aside and unarchives an archived journal.
//
// Errors: ErrNotFound; a *LockedError if the journal has a writer; a
// *regularfile.KindError if its file is not a regular one, such as a symbolic link; a
// *CorruptError; that of ctx, which bounds the check and the wait for the name of the
// lock's holder. If no lock can be taken at all, as on a read-only disk, the Log opens
// nevertheless, and the first Append tries to take it again.
func (d *Dir) Open(ctx context.Context, id string) (*Log, error) {
	f, err := d.Files(id)
	if err != nil {
		return nil, err
	}
	if _, err := f.stat(d.fs); err != nil {
		return nil, err
	}
	l := &Log{dir: d, files: f, exists: true, place: placeOf(d.fs, f.Dir)}
	l.lock, l.lockErr = f.acquireLock(ctx, d.fs, d.now())
	if errors.Is(l.lockErr, ErrLocked) {
		return nil, l.lockErr
	}
	if err := l.inspect(ctx); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// inspect finds the end of the journal.
func (l *Log) inspect(ctx context.Context) error {
	l.closeOpened()
	opened, err := l.open()
	if err != nil {
		return err
	}
	t, err := opened.src.withContext(ctx).findTail(l.dir.maxLine)
	if err != nil {
		opened.Close()
		return err
	}
	l.opened = opened
	l.archived, l.end, l.maxSynced, l.torn = opened.archived, t.end, t.maxSynced, t.torn
	l.wasEmpty = t.end == Position{}
	l.unended = !opened.archived && t.end.Offset > opened.src.size
	return nil
}

// openedFile is the file of a journal before the first append of its Log.
type openedFile struct {
	journalFile
	src source
}

// liveFile describes a live journal that is open for appending.
func liveFile(path string, file vfs.File, size int64) *openedFile {
	return &openedFile{journalFile{File: file, writable: true}, fileSource(path, file, size)}
}

// open returns the file that is locked. If none is, it opens the file.
func (l *Log) open() (*openedFile, error) {
	var file journalFile
	var err error
	if l.lock != nil && l.lock.own.File != nil {
		file = l.lock.own
		file.File = keptOpen{file.File}
	} else if file, err = l.files.open(l.dir.fs, true); err != nil {
		return nil, err
	}
	src, err := l.files.source(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return &openedFile{file, src}, nil
}

// Reader returns a Reader of the journal from a position on, which usually shares the
// open file of the Log. It is valid until the next call of Append, Recover, Seal,
// Discard or Close. A journal without a file is ErrNotFound.
func (l *Log) Reader(from Position) (*Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Reader{file: io.NopCloser(nil), from: from, maxLine: l.dir.maxLine, tail: tail{end: from}}
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.file != nil:
		info, err := l.file.Stat()
		if err != nil {
			return nil, err
		}
		r.src = fileSource(l.files.Live(), l.file, info.Size())
	case l.opened != nil:
		r.src = l.opened.src
	case l.exists: // the first Append has failed
		opened, err := l.open()
		if err != nil {
			return nil, err
		}
		r.src, r.file = opened.src, opened
	default:
		return nil, fmt.Errorf("%s: %w", l.files.Live(), ErrNotFound)
	}
	return r, nil
}

func (l *Log) closeOpened() {
	if l.opened != nil {
		l.opened.Close()
		l.opened = nil
	}
}

// ID returns the journal's name.
func (l *Log) ID() string { return l.files.ID }

// Path returns the path of the live journal, whether it exists or not.
func (l *Log) Path() string { return l.files.Live() }

// Position returns the position after the last event that was appended.
func (l *Log) Position() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Torn describes the torn tail of the journal until the first Append sets it
// aside.
func (l *Log) Torn() Torn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.torn
}

// usable returns the error of a Log that is closed or poisoned.
func (l *Log) usable() error {
	if l.closed {
		return ErrClosed
	}
	if l.failure != nil {
		return fmt.Errorf("%s: %w: %w", l.files.Live(), ErrPoisoned, l.failure.err)
	}
	return nil
}

// Close syncs what was appended and releases the lock. It closes a poisoned Log
// without a sync and returns its failure.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.usable()
	if err == nil {
		err = l.sync()
	}
	l.closed = true
	l.closeOpened()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return errors.Join(err, l.release())
}

// Discard closes the Log and removes the journal, if it had no events before this Log and
// an Append has created or opened its file: the journal could not be completed, and
// nothing refers to it yet. Otherwise it does nothing, and the Log stays open.
func (l *Log) Discard() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.wasEmpty || l.file == nil {
		return nil
	}
	l.closed = true
	err := l.file.Close()
	l.file = nil
	// Crash here leaves the journal, or only its lock file, which is not a
	// journal.
	err = errors.Join(err, vfs.RemoveAll(l.dir.fs, l.files.Live(), l.files.Lock()), l.dir.fs.SyncDir(l.files.Dir))
	return errors.Join(err, l.release())
}

func (l *Log) release() error {
	if l.lock == nil {
		return nil
	}
	held := l.lock
	l.lock = nil
	return held.Close()
}
