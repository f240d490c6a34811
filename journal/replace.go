package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// replace replaces the journal's file by a new one with the same permissions, which
// write fills, and returns it: open for appending, and locked by k. The caller
// syncs the directory. old is open, and describes the permissions: it is the previous
// file or the archive. On Windows it is closed first, if it is in the way.
func (f Files) replace(k *lock, old vfs.File, write func(vfs.File) error) (vfs.File, error) {
	tmp := f.Live() + tmpSuffix
	file, err := createLike(k.fs, tmp, old)
	if err != nil {
		return nil, err
	}
	locked, err := tryLock(file)
	if err == nil {
		err = write(file)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		if _, err := k.fs.Stat(f.Live()); err == nil && !replacesOpenFile {
			old.Close()
			k.setOwn(nil, false)
		}
		// Crash here leaves the previous file, which has on the disk everything
		// that was declared synced, and a temporary file.
		err = k.fs.Rename(tmp, f.Live())
	}
	if err != nil {
		file.Close()
		k.fs.Remove(tmp)
		return nil, err
	}
	return k.setOwn(file, locked), nil
}

// createLike creates a temporary file with the permissions of another. It removes what
// a crash left there. The caller holds the lock of the journal.
func createLike(fsys vfs.FS, tmp string, other vfs.File) (vfs.File, error) {
	info, err := other.Stat()
	if err != nil {
		return nil, err
	}
	if err := fsys.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		file.CopyAccess(info)
	}
	return file, err
}

// place describes a directory and its parents, innermost first. It tells a directory
// that was removed from one whose disk was unmounted.
type place []fs.FileInfo // nil: unknown

func placeOf(fsys vfs.FS, dir string) (p place) {
	for {
		info, err := fsys.Stat(dir)
		if err != nil || !fsys.SameFile(info, info) { // Windows reads at the first comparison which file it is
			info = nil
		}
		p = append(p, info)
		parent := filepath.Dir(dir)
		if parent == dir {
			return p
		}
		dir = parent
	}
}

// check returns an error if the directory, or its nearest existing parent, is not the
// one that it was. What is created there would be hidden when the disk is mounted
// again.
func (p place) check(fsys vfs.FS, dir string) error {
	for _, before := range p {
		now, err := fsys.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dir = filepath.Dir(dir)
			continue
		case err == nil && before != nil && !fsys.SameFile(now, before):
			return &fs.PathError{Op: "create", Path: dir, Err: errOtherDir}
		}
		return err
	}
	return nil
}
