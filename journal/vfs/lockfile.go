package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// ErrLocked is returned by File.Lock and LockFile if another process, or another File of
// this one, holds the lock.
var ErrLocked = errors.New("file is locked")

var errLockRemoved = errors.New("the lock file keeps being removed")

const lockTries = 100 // while the lock file keeps being removed

// LockFile opens the file name, which it creates if it is missing, and takes the
// operating system's exclusive lock on it, until Close. It does not block: it returns
// ErrLocked if another process, or another LockFile of this one, holds the lock. It
// refuses a symbolic link. Package os opens files close-on-exec, so a child that
// outlives this process does not hold the lock.
func LockFile(fsys FS, name string) (File, error) {
	for range lockTries {
		f, err := fsys.OpenFile(name, os.O_RDWR|regularfile.NoFollow, 0)
		if errors.Is(err, fs.ErrNotExist) {
			perm := NewFileMode(fsys, filepath.Dir(name))
			f, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		// Moving a journal to the trash removes its lock file. If that happens
		// between OpenFile and Lock, the lock is on a removed file and excludes no
		// one: try again.
		hasName, err := LockNamed(fsys, f, name)
		if hasName {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errLockRemoved}
}

// LockNamed locks f and reports whether name still refers to it; if not, that is no
// error.
func LockNamed(fsys FS, f File, name string) (bool, error) {
	if err := f.Lock(); err != nil {
		return false, err
	}
	open, err := f.Stat()
	if err != nil {
		return false, err
	}
	atName, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && fsys.SameFile(open, atName), err
}
