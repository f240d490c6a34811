package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600

	// What a group gets, too, in a directory that it shares.
	groupFile  fs.FileMode = 0o060
	groupDir   fs.FileMode = 0o070 | fs.ModeSetgid
	groupWrite fs.FileMode = 0o020
	private    fs.FileMode = 0o700 // the permissions that no umask withholds
)

var errNotDir = errors.New("not a directory")

// NewFileMode returns the permissions of a new file in a directory. In one that is
// shared by a group, the group may read and write the file, so that its members can
// take turns.
func NewFileMode(fsys FS, dir string) fs.FileMode {
	if isShared(fsys, dir) {
		return fileMode | groupFile
	}
	return fileMode
}

// newDirMode is NewFileMode for a directory.
func newDirMode(fsys FS, parent string) fs.FileMode {
	if isShared(fsys, parent) {
		return dirMode | groupDir
	}
	return dirMode
}

// isShared reports whether a directory is shared by its group: what is created in it
// belongs to that group, which may create files there itself.
func isShared(fsys FS, dir string) bool {
	info, err := fsys.Stat(dir)
	return err == nil && info.Mode()&fs.ModeSetgid != 0 && info.Mode()&groupWrite != 0
}

// MkdirAll creates dir and its missing parents. It returns the directories whose
// entries changed, outermost first: they must be synced before anything inside
// is durable.
func MkdirAll(fsys FS, dir string) (changed []string, err error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		info, err := fsys.Stat(d)
		if err == nil && !info.IsDir() {
			return nil, &fs.PathError{Op: "mkdir", Path: d, Err: errNotDir}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(d) == d {
			return nil, err
		}
		missing = append(missing, d)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		parent := filepath.Dir(missing[i])
		if err := fsys.Mkdir(missing[i], newDirMode(fsys, parent)); err != nil && !errors.Is(err, fs.ErrExist) {
			return changed, err
		}
		changed = append(changed, parent)
	}
	return changed, nil
}

// MakeDir creates a directory in an existing one, and syncs its entry, so that
// files moved into it are not lost with it. It also syncs the entry of an existing
// directory: an earlier call may have failed to.
func MakeDir(fsys FS, dir string) error {
	parent := filepath.Dir(dir)
	if err := fsys.Mkdir(dir, newDirMode(fsys, parent)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Crash here leaves an empty directory.
	return fsys.SyncDir(parent)
}

// Exists reports whether a file or directory has the name.
func Exists(fsys FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// RemoveAll removes files that may be missing.
func RemoveAll(fsys FS, names ...string) error {
	for _, name := range names {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
