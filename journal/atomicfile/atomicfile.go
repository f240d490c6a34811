package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// FS is the part of a file system that this package uses. journal.FS
// implements it.
type FS[F File] interface {
	OpenFile(name string, flag int, perm fs.FileMode) (F, error)
	Rename(oldname, newname string) error
	Remove(name string) error
	SyncDir(name string) error
}

// File is an open file of an FS.
type File interface {
	io.WriteCloser
	Sync() error
}

// Replace makes the output of the function write the content of the file called name,
// and gives it the permissions perm. It creates the file if it is missing.
// When Replace returns nil, the content survives a power cut. When it returns
// an error, the file has the previous content, or, if the directory could not
// be synced, perhaps the new one. An error of write is returned unchanged.
//
// The writer that write receives is buffered.
func Replace[F File](fsys FS[F], name string, perm fs.FileMode, write func(io.Writer) error) error {
	f, tmp, err := create(fsys, name, perm)
	if err != nil {
		return err
	}
	if err := writeAndRename(fsys, f, tmp, name, write, f.Sync); err != nil {
		return err
	}
	// Crash here leaves the previous content or the new one.
	return syncDir(fsys, name)
}

// Create is Replace for a file that must not exist: the error of a name that is in use, even
// by a link to nothing, matches fs.ErrExist. After another error there is no file, or, if the
// directory could not be synced, the whole one. A crash may leave a part of it under its name.
func Create[F File](fsys FS[F], name string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	// Crash here leaves a part of the content. To rename a complete file could replace another.
	if err := writeAndClose(f, write, f.Sync); err != nil {
		fsys.Remove(name)
		return err
	}
	return syncDir(fsys, name)
}

// syncDir makes the entry of a file durable.
func syncDir[F File](fsys FS[F], name string) error {
	err := fsys.SyncDir(filepath.Dir(name))
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // this file system cannot sync directories
	}
	return err
}

// ReplaceUnsynced is Replace without the syncs. After a power cut the file may
// have either content or be empty, so it is for files that can be rebuilt.
func ReplaceUnsynced[F File](fsys FS[F], name string, perm fs.FileMode, write func(io.Writer) error) error {
	f, tmp, err := create(fsys, name, perm)
	if err != nil {
		return err
	}
	return writeAndRename(fsys, f, tmp, name, write, func() error { return nil })
}

// create creates a new temporary file, under a name that was not in use, next to name.
func create[F File](fsys FS[F], name string, perm fs.FileMode) (f F, tmp string, err error) {
	for range 100 {
		tmp = fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
		f, err = fsys.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, tmp, err
}

func writeAndRename[F File](
	fsys FS[F], f F, tmp, name string, write func(io.Writer) error, sync func() error,
) error {
	err := writeAndClose(f, write, sync)
	if err == nil {
		// Crash here leaves the previous content and a temporary file.
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		fsys.Remove(tmp)
	}
	return err
}

func writeAndClose(f File, write func(io.Writer) error, sync func() error) error {
	w := bufio.NewWriter(f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
