package journal

import (
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
	lockTries = 100 // while the lock file is removed again and again

	// How often, and how long after another, a lock file is read that does not
	// say yet who has the lock.
	holderLooks = 20
	holderPause = 5 * time.Millisecond
)

// Holder says who writes to a journal. It is written into the lock file for
// messages only; the operating system's lock alone decides.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	StartedAt time.Time `json:"startedAt"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.StartedAt.Local().Format("2006-01-02 15:04:05"))
}

// LockedError says that a journal has a writer already. It is an ErrLocked.
type LockedError struct {
	Path   string // the journal
	Holder Holder // zero when the lock file does not tell
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is held by %s", e.Path, e.Holder)
}

// Is makes a LockedError an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// gone reports whether the process has ended, as far as this machine can tell.
func (h Holder) gone() bool {
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

// lockFile takes the lock of the operating system. Go opens files so that
// executed children do not inherit them: what an agent leaves behind holds no
// lock.
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
		// Whoever moves a journal to the trash removes its lock file. One that
		// was opened before that and locked after it keeps nobody out.
		if named(l, name) {
			return l.Unlock, nil
		}
		l.Unlock()
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errRemoved}
}

// named reports whether the file that is locked still has the name.
func named(l *flock.Flock, name string) bool {
	ours, oursErr := l.Stat()
	there, err := os.Stat(name)
	return oursErr == nil && err == nil && os.SameFile(ours, there)
}

// lock makes this process the only writer of the files, until unlock.
func (f files) lock(fsys FS, now time.Time) (unlock func() error, err error) {
	release, err := fsys.Lock(f.lockPath())
	if err == ErrLocked {
		return nil, &LockedError{Path: f.path(), Holder: f.holder(fsys)}
	}
	if err != nil {
		return nil, err
	}
	writeHolder(fsys, f.lockPath(), Holder{PID: os.Getpid(), Host: hostname(), StartedAt: now.UTC()})
	return func() error {
		// Crash here leaves the last holder's name in the file: wrong only
		// until somebody locks it, and asked only while somebody does.
		writeHolder(fsys, f.lockPath(), Holder{})
		return release()
	}, nil
}

// Writer is who writes to a journal now, as far as the lock file tells: nothing
// is locked to find out. The zero Holder is nobody.
func (d *Dir) Writer(id string) Holder {
	f, err := d.files(id)
	if err != nil {
		return Holder{}
	}
	if h := readHolder(d.fs, f.lockPath()); !h.gone() {
		return h
	}
	return Holder{}
}

// holder is who has the lock. For a moment after somebody took it, the file
// names nobody, or one who died and left his name: that moment is waited for.
func (f files) holder(fsys FS) Holder {
	for range holderLooks {
		if h := readHolder(fsys, f.lockPath()); h.PID != 0 && !h.gone() {
			return h
		}
		time.Sleep(holderPause)
	}
	return Holder{}
}

// writeHolder does its best: a lock without a name is still a lock. The zero
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
	data, err := ReadFile(fsys, name, noteSize)
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
