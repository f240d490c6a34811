package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// FS is a file system. OS is the operating system's; package journaltest has one that fails.
//
// Names are paths as in package os.
type FS interface {
	// OpenFile opens a regular file as regularfile.OpenFile does. With os.O_EXCL,
	// the file that it creates has the permissions perm, whatever the umask.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Mkdir creates one directory as os.Mkdir does, but with the permissions perm,
	// whatever the umask.
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
	// Lock takes the operating system's exclusive lock on the file, until Close. It
	// does not block: it returns ErrLocked if the file was opened and locked
	// elsewhere, in this process or another.
	Lock() error
	// CopyAccess gives the file the permissions and the group of another file, as far
	// as the system permits it. If it does not permit the group, the group gets no
	// permissions.
	CopyAccess(from fs.FileInfo)
}

// OS is the operating system's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if flag&os.O_EXCL != 0 && perm&^private != 0 {
		f.Chmod(perm) // the umask may have removed the permissions of the group
	}
	return &osFile{File: f, appends: flag&os.O_APPEND != 0}, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error {
	err := os.Mkdir(name, perm)
	if err == nil && perm&^private != 0 {
		shareDir(name, perm)
	}
	return err
}

func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }
func (osFS) SameFile(a, b fs.FileInfo) bool        { return os.SameFile(a, b) }
func (osFS) Rename(oldname, newname string) error  { return rename(oldname, newname) }
func (osFS) Remove(name string) error              { return os.Remove(name) }
func (osFS) Link(oldname, newname string) error    { return os.Link(oldname, newname) }
func (osFS) SyncDir(name string) error             { return syncDir(name) }

// ReadDir does not sort: for 300,000 names, sorting takes longer than reading.
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// osFile is a file of the operating system.
type osFile struct {
	*os.File
	appends bool // it was opened with os.O_APPEND
	locked  bool
}

// Sync makes the content and the size of the file durable, not necessarily its times.
func (f *osFile) Sync() error { return syncFile(f.File) }

// Lock locks the file.
func (f *osFile) Lock() error {
	err := lockOpen(f.File)
	f.locked = f.locked || err == nil
	return err
}

// Close unlocks the file first: a child process that is being started may have the
// file open for another moment.
func (f *osFile) Close() error {
	if f.locked {
		unlockOpen(f.File)
	}
	return f.File.Close()
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

// IsFileError reports whether an error comes from the file system, and not from the content
// of a file.
func IsFileError(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}
