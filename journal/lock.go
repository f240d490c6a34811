package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
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
	if h.Host != hostname() {
		return false
	}
	p, err := os.FindProcess(h.PID)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// lockFile takes the lock of the operating system. Package os opens files so that
// child processes do not inherit them: orphaned processes hold no lock.
func lockFile(name string) (func() error, error) {
	for range lockTries {
		l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
		ok, err := l.TryLock()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, ErrLocked
		}
		// Moving a journal to the trash removes its lock file. The lock of a file
		// that was opened before that and locked after it excludes no one.
		locked, lockedErr := l.Stat()
		named, err := os.Stat(name)
		if lockedErr == nil && err == nil && os.SameFile(locked, named) {
			return l.Unlock, nil
		}
		l.Unlock()
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errLockRemoved}
}

// lock makes this process the only writer of the journal, until unlock.
func (f files) lock(ctx context.Context, fsys FS, now time.Time) (unlock func() error, err error) {
	release, err := fsys.Lock(f.lockPath())
	if err == ErrLocked {
		return nil, &LockedError{Path: f.path(), Holder: f.holder(ctx, fsys)}
	}
	if err != nil {
		return nil, err
	}
	writeHolder(fsys, f.lockPath(), Holder{PID: os.Getpid(), Host: hostname(), StartedAt: now.UTC()})
	return func() error {
		// Crash here leaves the previous holder in the file. It is read only while
		// the file is locked, and then soon replaced.
		writeHolder(fsys, f.lockPath(), Holder{})
		return release()
	}, nil
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

// writeHolder ignores errors: a lock without a name is still a lock. The zero
// Holder empties the file.
func writeHolder(fsys FS, name string, h Holder) {
	w, err := fsys.OpenFile(name, os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return
	}
	defer w.Close()
	if h != (Holder{}) {
		json.NewEncoder(w).Encode(h)
	}
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
