package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

const (
	lockTries = 100 // while the lock file keeps being removed

	// How often, and at what interval, a lock file is read that does not name
	// its holder yet.
	holderTries    = 20
	holderInterval = 5 * time.Millisecond
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

// LockFile opens the file name, which it creates if it is missing, and takes the
// operating system's exclusive lock on it, until Close. It does not block: it returns
// ErrLocked if another process, or another LockFile of this one, holds the lock. It
// refuses a symbolic link. Package os opens files so that child processes do not
// inherit them: orphaned processes hold no lock.
func LockFile(fsys FS, name string) (File, error) {
	for range lockTries {
		f, err := fsys.OpenFile(name, os.O_RDWR|regularfile.NoFollow, 0)
		if errors.Is(err, fs.ErrNotExist) {
			perm := newFileMode(fsys, filepath.Dir(name))
			f, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		// Moving a journal to the trash removes its lock file. The lock of a file
		// that was opened before that and locked after it excludes no one.
		named, err := lockNamed(fsys, f, name)
		if named {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errLockRemoved}
}

// lockNamed locks an open file and reports whether it still has its name.
func lockNamed(fsys FS, f File, name string) (bool, error) {
	if err := f.Lock(); err != nil {
		return false, err
	}
	open, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && fsys.SameFile(open, named), err
}

// lock makes this process the only writer of a journal. The lock file excludes the
// writers of every journal of this name, also before the journal exists and while
// another file takes its place. The lock of the journal's own file excludes those that
// reach it by another name, such as a link, or after the lock file was removed. The
// journal is read and written by the handle that is locked.
type lock struct {
	fs   FS
	file File        // the lock file; nil if retake has failed
	own  journalFile // no File if there is none, or the system cannot lock it

	named bool // the lock file names the holder
}

// lock locks the journal until release.
func (f files) lock(ctx context.Context, fsys FS, now time.Time) (*lock, error) {
	k := &lock{fs: fsys}
	if err := k.retake(ctx, f, now); err != nil {
		return nil, err
	}
	var err error
	if k.own, err = f.lockOwn(fsys); err != nil {
		k.release()
		return nil, &LockedError{Path: f.path()} // its lock file is elsewhere
	}
	return k, nil
}

// retake replaces the lock on the lock file by one on the file that now has its name.
func (k *lock) retake(ctx context.Context, f files, now time.Time) error {
	k.releaseFile()
	file, err := LockFile(k.fs, f.lockPath())
	if err == ErrLocked {
		return &LockedError{Path: f.path(), Holder: f.holder(ctx, k.fs)}
	}
	if err != nil {
		return err
	}
	k.file = file
	k.name(Holder{PID: os.Getpid(), Host: hostname(), StartedAt: now.UTC()})
	return nil
}

// lockOwn opens and locks the journal's file, live or archived. It returns none if
// there is none, or it cannot be opened or locked. Its only error is ErrLocked.
func (f files) lockOwn(fsys FS) (journalFile, error) {
	for range locateTries {
		own, err := f.tryOpen(fsys, true)
		if err != nil {
			break
		}
		path := Info{ID: f.id, Dir: f.dir, Archived: own.archived}.Path()
		named, err := lockNamed(fsys, own, path)
		if named {
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
func tryLock(f File) (locked bool, err error) {
	err = f.Lock()
	if err == ErrLocked {
		return false, err
	}
	return err == nil, nil
}

// setOwn closes the journal's file, and so releases its lock, in favour of another one,
// open for appending, or of none. It returns that file for reading and writing: if it
// is locked, the lock closes it.
func (k *lock) setOwn(file File, locked bool) File {
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
type keptOpen struct{ File }

func (keptOpen) Close() error { return nil }

// name writes the holder to the lock file. It ignores errors: a lock without a name is
// still a lock. A lock file that has another name, too, may be any file, and keeps its
// content.
func (k *lock) name(h Holder) {
	if info, err := k.file.Stat(); err == nil && links(info) == 1 && k.file.Truncate(0) == nil {
		k.named = true
		json.NewEncoder(k.file).Encode(h)
	}
}

func (k *lock) release() (err error) {
	if k.own.File != nil {
		err = k.own.Close()
	}
	return errors.Join(err, k.releaseFile())
}

func (k *lock) releaseFile() error {
	if k.file == nil {
		return nil
	}
	// Crash here leaves the holder in the file. It is read only while the file is
	// locked, and then soon replaced.
	if k.named {
		k.file.Truncate(0)
	}
	file := k.file
	k.file, k.named = nil, false
	return file.Close()
}

// Writer returns the process that writes to a journal, according to the lock file.
// It does not test the lock. The zero Holder means none.
func (d *Dir) Writer(id string) Holder {
	f, err := d.files(id)
	if err != nil {
		return Holder{}
	}
	if h := readHolder(d.fs, f.lockPath()); !h.ended() {
		return h
	}
	return Holder{}
}

// holder returns the process that holds the lock. Right after the lock was taken,
// the file is empty or names an earlier process: holder waits for the new name.
func (f files) holder(ctx context.Context, fsys FS) Holder {
	for range holderTries {
		if h := readHolder(fsys, f.lockPath()); h.PID != 0 && !h.ended() {
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

func readHolder(fsys FS, name string) (h Holder) {
	data, err := ReadFile(fsys, name, maxNote)
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
