package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal/atomicfile"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// FS is the file system of a journal. The zero Options use the operating
// system's; package journaltest has one that fails.
//
// Names are paths as in package os.
type FS interface {
	// OpenFile opens a regular file as os.OpenFile does, and refuses everything
	// else at once.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Mkdir creates one directory as os.Mkdir does.
	Mkdir(name string, perm fs.FileMode) error
	// ReadDir lists a directory as os.ReadDir does, in any order.
	ReadDir(name string) ([]fs.DirEntry, error)
	// StatFiles describes, as Stat does, the files of a directory whose names
	// match, in any order. It calls match from one goroutine. It may stop early
	// with the error of ctx.
	StatFiles(ctx context.Context, dir string, match func(name string) bool) ([]FileStat, error)
	// Stat describes a file as os.Stat does.
	Stat(name string) (fs.FileInfo, error)
	// SameFile reports whether two descriptions returned by this FS are of the
	// same file, as os.SameFile does.
	SameFile(a, b fs.FileInfo) bool
	// Rename renames oldname to newname as os.Rename does, replacing newname.
	Rename(oldname, newname string) error
	// Remove removes a file or an empty directory as os.Remove does.
	Remove(name string) error
	// SyncDir makes the entries of a directory durable: files created, renamed
	// or removed in it.
	SyncDir(name string) error
	// Lock takes the operating system's exclusive lock on the file name, which it
	// creates if it is missing. It does not block: it returns ErrLocked if another
	// process, or another Lock of this one, holds the lock.
	Lock(name string) (unlock func() error, err error)
}

// File is an open file of an FS.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Stat describes the file, even if it was renamed or removed.
	Stat() (fs.FileInfo, error)
	// Sync returns nil when all bytes written are on the disk.
	Sync() error
	// Truncate changes the size of the file, in bytes.
	Truncate(size int64) error
}

// OS is the operating system's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := regularfile.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (osFS) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (osFS) SameFile(a, b fs.FileInfo) bool            { return os.SameFile(a, b) }
func (osFS) Rename(oldname, newname string) error      { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }
func (osFS) Lock(name string) (func() error, error)    { return lockFile(name) }
func (osFS) SyncDir(name string) error                 { return syncDir(name) }

// ReadDir does not sort: for 300,000 names, sorting takes longer than reading.
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// osFile is an *os.File whose Sync does only what durability requires.
type osFile struct{ *os.File }

func (f osFile) Sync() error { return syncFile(f.File) }

// mkdirAll creates dir and its missing parents. It returns the directories whose
// entries changed, outermost first: they must be synced before anything inside
// is durable.
func mkdirAll(fsys FS, dir string, perm fs.FileMode) (changed []string, err error) {
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
		if err := fsys.Mkdir(missing[i], perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return changed, err
		}
		changed = append(changed, filepath.Dir(missing[i]))
	}
	return changed, nil
}

// makeDir creates a directory in an existing one, and syncs its entry, so that
// files moved into it are not lost with it. It also syncs the entry of an existing
// directory: an earlier call may have failed to.
func makeDir(fsys FS, dir string) error {
	if err := fsys.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Crash here leaves an empty directory.
	return fsys.SyncDir(filepath.Dir(dir))
}

// WriteFile replaces the content of the file name by data atomically: a reader
// finds the previous content or the new one. A power cut may undo it or leave the
// file empty, so it is for files that can be rebuilt.
func WriteFile(fsys FS, name string, data []byte) error {
	return atomicfile.ReplaceUnsynced(fsys, name, fileMode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReadFile returns the content of the file name. If the file has more than limit
// bytes, it returns an error and reads no further.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: &regularfile.SizeError{Limit: limit}}
	}
	return data, err
}

// maxNote is the size limit of a lock file or a deletion time, in bytes.
const maxNote = 4 << 10
