package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	// holder reads a lock file up to holderTries times, at this interval, until it
	// names its holder.
	holderTries    = 20
	holderInterval = 5 * time.Millisecond

	maxNote = 4 << 10 // limit of a lock file or a deletion time, in bytes
)

// Holder is the process that writes to a journal. It is written to the lock file
// for messages only; the operating system's lock decides.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	StartedAt time.Time `json:"startedAt"`
}

// String describes the holder; the zero Holder is "another process".
func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.StartedAt.Local().Format("2006-01-02 15:04:05"))
}

// LockedError is the error of a journal that has a writer. It matches ErrLocked.
type LockedError struct {
	Path   string // of the journal
	Holder Holder // zero if the lock file does not name one
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder)
}

// Is makes a LockedError match ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// ended reports whether the process has ended, as far as this machine can tell.
func (h Holder) ended() bool {
	return h.Host == hostname() && processEnded(h.PID)
}

// lock makes this process the only writer of a journal. The lock file excludes other
// writers of this path, even before the journal's file exists and while it is being
// replaced. The lock of the journal's own file excludes those that reach it by another
// name, such as a link, or after the lock file was removed. The journal is read and
// written by the handle that is locked.
type lock struct {
	fs   vfs.FS
	file vfs.File    // the lock file; nil if retake has failed
	own  journalFile // the journal's file, locked; no File if there is none or the system cannot lock it

	namesHolder bool // the lock file names this process
}

// acquireLock locks the journal until release.
func (f Files) acquireLock(ctx context.Context, fsys vfs.FS, now time.Time) (*lock, error) {
	k := &lock{fs: fsys}
	if err := k.retake(ctx, f, now); err != nil {
		return nil, err
	}
	var err error
	if k.own, err = f.lockOwn(fsys); err != nil {
		k.Close()
		return nil, &LockedError{Path: f.Live()} // the other writer uses another lock file, so the holder is unknown
	}
	return k, nil
}

// retake closes the lock file, opens or creates the file now at lockPath, and locks
// that.
func (k *lock) retake(ctx context.Context, f Files, now time.Time) error {
	k.releaseFile()
	file, err := vfs.LockFile(k.fs, f.Lock())
	if err == ErrLocked {
		return &LockedError{Path: f.Live(), Holder: f.holder(ctx, k.fs)}
	}
	if err != nil {
		return err
	}
	k.file = file
	k.writeHolder(Holder{PID: os.Getpid(), Host: hostname(), StartedAt: now.UTC()})
	return nil
}

// lockOwn opens and locks the journal's file, live or archived. The result
// has no File if the journal has none, or if it cannot be opened or locked. The only
// error is ErrLocked.
func (f Files) lockOwn(fsys vfs.FS) (journalFile, error) {
	for range locateTries {
		own, err := f.tryOpen(fsys, true)
		if err != nil {
			break
		}
		path := Info{ID: f.ID, Dir: f.Dir, Archived: own.archived}.Path()
		hasName, err := vfs.LockNamed(fsys, own, path)
		if hasName {
			return own, nil
		}
		own.Close()
		if err == ErrLocked {
			return journalFile{}, err
		}
		if err != nil {
			break
		}
	}
	return journalFile{}, nil
}

// tryLock locks an open file. It returns false if the system cannot lock it. Its only
// error is ErrLocked.
func tryLock(f vfs.File) (locked bool, err error) {
	err = f.Lock()
	if err == ErrLocked {
		return false, err
	}
	return err == nil, nil
}

// setOwn closes k.own, which releases its lock. If locked, file, which is open for
// appending, becomes k.own, and the result is file with a Close that does nothing:
// release closes it. Otherwise k.own is empty and the result is file, which may be nil.
func (k *lock) setOwn(file vfs.File, locked bool) vfs.File {
	if k.own.File != nil {
		k.own.Close()
	}
	if !locked {
		k.own = journalFile{}
		return file
	}
	k.own = journalFile{File: file, writable: true}
	return keptOpen{file}
}

// keptOpen is a file that Close leaves open, because it is locked.
type keptOpen struct{ vfs.File }

func (keptOpen) Close() error { return nil }

// writeHolder writes the holder to the lock file. It ignores errors: the lock excludes
// other writers without it. A lock file with several hard links is not written: it may
// also be a file of another program.
func (k *lock) writeHolder(h Holder) {
	if info, err := k.file.Stat(); err == nil && links(info) == 1 && k.file.Truncate(0) == nil {
		k.namesHolder = true
		json.NewEncoder(k.file).Encode(h)
	}
}

// Close releases the lock.
func (k *lock) Close() (err error) {
	if k.own.File != nil {
		err = k.own.Close()
	}
	return errors.Join(err, k.releaseFile())
}

func (k *lock) releaseFile() error {
	if k.file == nil {
		return nil
	}
	// A crash here leaves the name of a process that has ended. Readers on this
	// machine ignore it (ended); the next writer replaces it.
	if k.namesHolder {
		k.file.Truncate(0)
	}
	file := k.file
	k.file, k.namesHolder = nil, false
	return file.Close()
}

// Lock takes the lock of a journal's writer, until Close, for a caller that moves its files. It
// returns a *LockedError if the journal has a writer. ctx bounds the wait for the name of
// that writer.
func (d *Dir) Lock(ctx context.Context, id string) (io.Closer, error) {
	f, err := d.Files(id)
	if err != nil {
		return nil, err
	}
	held, err := f.acquireLock(ctx, d.fs, d.now())
	if err != nil {
		return nil, err
	}
	return held, nil
}

// Writer returns the process that writes to a journal, according to the lock file.
// It does not test the lock. The zero Holder means that the file names none, or one
// of this machine that has ended.
func (d *Dir) Writer(id string) Holder {
	f, err := d.Files(id)
	if err != nil {
		return Holder{}
	}
	if h := readHolder(d.fs, f.Lock()); !h.ended() {
		return h
	}
	return Holder{}
}

// holder returns the process that holds the lock. Right after the lock was taken,
// the file is empty or names an earlier process: holder waits for the new name.
func (f Files) holder(ctx context.Context, fsys vfs.FS) Holder {
	for range holderTries {
		if h := readHolder(fsys, f.Lock()); h.PID != 0 && !h.ended() {
			return h
		}
		select {
		case <-ctx.Done():
			return Holder{}
		case <-time.After(holderInterval):
		}
	}
	return Holder{}
}

func readHolder(fsys vfs.FS, name string) (h Holder) {
	data, err := vfs.ReadFile(fsys, name, maxNote)
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
