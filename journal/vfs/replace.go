package vfs

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

// Replace makes the output of the function write the content of the file called name,
// and gives it the permissions perm. It creates the file if it is missing.
// When Replace returns nil, the content survives a power cut. When it returns
// an error, the file has the previous content, or, if the directory could not
// be synced, perhaps the new one. An error of write is returned unchanged.
//
// The writer that write receives is buffered.
func Replace(fsys FS, name string, perm fs.FileMode, write func(io.Writer) error) error {
	f, tmp, err := createTemp(fsys, name, perm)
	if err != nil {
		return err
	}
	if err := writeAndRename(fsys, f, tmp, name, write, f.Sync); err != nil {
		return err
	}
	// Crash here leaves the previous content or the new one.
	return syncParent(fsys, name)
}

// Create is Replace for a file that must not exist: the error of a name that is in use, even
// by a link to nothing, matches fs.ErrExist. After another error there is no file, or, if the
// directory could not be synced, the whole one. A crash may leave a part of it under its name.
func Create(fsys FS, name string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	// Crash here leaves a part of the content. To rename a complete file could replace another.
	if err := writeAndClose(f, write, f.Sync); err != nil {
		fsys.Remove(name)
		return err
	}
	return syncParent(fsys, name)
}

// syncParent makes the entry of a file durable.
func syncParent(fsys FS, name string) error {
	err := fsys.SyncDir(filepath.Dir(name))
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // this file system cannot sync directories
	}
	return err
}

// WriteFile replaces the content of the file name by data atomically: a reader
// finds the previous content or the new one. A power cut may undo it or leave the
// file empty, so it is for files that can be rebuilt.
func WriteFile(fsys FS, name string, data []byte) error {
	f, tmp, err := createTemp(fsys, name, NewFileMode(fsys, filepath.Dir(name)))
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	return writeAndRename(fsys, f, tmp, name, write, func() error { return nil })
}

// createTemp creates a new temporary file, under a name that was not in use, next to name.
func createTemp(fsys FS, name string, perm fs.FileMode) (f File, tmp string, err error) {
	for range 100 {
		tmp = fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
		f, err = fsys.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, tmp, err
}

func writeAndRename(fsys FS, f File, tmp, name string, write func(io.Writer) error, sync func() error) error {
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
