package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Trash moves a journal, live or archived, and what was set aside from it, to
// the directory's trash, where no reader looks. It returns ErrNotFound when
// there is none and a LockedError when somebody writes to it.
func (d *Dir) Trash(id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	if _, err := f.stat(d.fs); err != nil {
		return err
	}
	unlock, err := f.lock(d.fs, d.now())
	if err != nil {
		return err
	}
	defer unlock()
	return d.moveToTrash(f)
}

func (d *Dir) moveToTrash(f files) error {
	trash := filepath.Join(f.dir, trashDir)
	if _, err := mkdirAll(d.fs, trash, dirMode); err != nil {
		return err
	}
	moved := 0
	for _, path := range []string{f.path(), f.archivePath()} {
		err := d.fs.Rename(path, filepath.Join(trash, filepath.Base(path)))
		if err == nil {
			moved++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if moved == 0 {
		return fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	// Crash here leaves the journal in the trash and files beside its old
	// place that no reader takes for one.
	if err := d.moveAside(f, trash); err != nil {
		return err
	}
	if err := d.fs.Remove(f.lockPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.fs.SyncDir(trash); err != nil {
		return err
	}
	return d.fs.SyncDir(f.dir)
}

func (d *Dir) moveAside(f files, trash string) error {
	entries, err := d.fs.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), f.id+asideInfix) {
			continue
		}
		if err := d.fs.Rename(filepath.Join(f.dir, entry.Name()), filepath.Join(trash, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
