package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// trashedSuffix is the suffix of the file that holds the time at which a journal
// was moved to the trash.
const trashedSuffix = ".trashed"

// Trash moves a journal, live or archived, and the files set aside from it to the
// directory's trash, which List and Reader ignore. An earlier journal of that name
// in the trash is set aside there. It returns ErrNotFound if the journal does not
// exist, and a *LockedError if it has a writer.
func (d *Dir) Trash(ctx context.Context, id string) error { return d.TrashBatch().Trash(ctx, id) }

// TrashBatch moves many journals to the trash, or removes many from it, and reads
// each directory only once. It does not see files that are created after that, so
// it should be short-lived. A TrashBatch is for one goroutine.
type TrashBatch struct {
	dir   *Dir
	names map[string]map[string][]string // directory -> name up to the first dot -> names

	synced map[string]bool // directories, since they were read
}

// TrashBatch returns a TrashBatch that has not read any directory yet.
func (d *Dir) TrashBatch() *TrashBatch {
	return &TrashBatch{dir: d, names: map[string]map[string][]string{}, synced: map[string]bool{}}
}

// named returns the names in a directory that start with id and infix, which
// starts with a dot.
func (b *TrashBatch) named(dir, id, infix string) ([]string, error) {
	known, ok := b.names[dir]
	if !ok {
		entries, err := b.dir.entries(dir)
		if err != nil {
			return nil, err
		}
		known = make(map[string][]string, len(entries))
		for _, entry := range entries {
			first, _, _ := strings.Cut(entry.Name(), ".")
			known[first] = append(known[first], entry.Name())
		}
		b.names[dir] = known
	}
	var names []string
	first, _, _ := strings.Cut(id, ".")
	for _, name := range known[first] {
		if strings.HasPrefix(name, id+infix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Trash is like Dir.Trash.
func (b *TrashBatch) Trash(ctx context.Context, id string) error {
	d := b.dir
	f, err := d.files(id)
	if err != nil {
		return err
	}
	if _, err := f.stat(d.fs); err != nil {
		return err
	}
	held, err := f.acquireLock(ctx, d.fs, d.now())
	if err != nil {
		return err
	}
	defer held.release()
	return b.moveToTrash(f)
}

func (d *Dir) trash() string { return filepath.Join(d.path, trashDir) }

func (b *TrashBatch) moveToTrash(f files) error {
	d := b.dir
	if err := vfs.MakeDir(d.fs, d.trash()); err != nil {
		return err
	}
	if err := d.writeTrashTime(f); err != nil {
		return err
	}
	// An earlier journal of that name was deleted, but not purged.
	for _, path := range f.inTrash() {
		if err := d.renameAside(path, files{d.trash(), f.id}); err != nil {
			return err
		}
	}
	// Crash here leaves a journal in its place, and an unused time in the trash.
	// Crash while a live and an archived journal are moved leaves the live one, which
	// is newer, in its place.
	moved, err := d.move(f.inPlace(), f.inTrash())
	if err != nil {
		return err
	}
	if !moved {
		return fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	// Crash here leaves the journal in the trash and the files set aside from it in
	// the directory, where Restore and Purge find them.
	if err := b.moveAside(f.id, f.dir, d.trash()); err != nil {
		return err
	}
	// Crash here leaves the journal in the trash and its lock file in the directory.
	if err := d.removeAll(f.lockPath()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(d.trash()); err != nil {
		return err
	}
	return d.fs.SyncDir(f.dir)
}

// inPlace and inTrash are the paths of a journal, archived and live, in the
// directory and in the trash. If both exist, the archive is older.
func (f files) inPlace() []string { return []string{f.archivePath(), f.path()} }

func (f files) inTrash() []string {
	trash := filepath.Join(f.dir, trashDir)
	return []string{filepath.Join(trash, f.id+archiveSuffix), filepath.Join(trash, f.id+logSuffix)}
}

// move renames the files that exist, in order.
func (d *Dir) move(from, to []string) (moved bool, err error) {
	for i := range from {
		err := d.fs.Rename(from[i], to[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return moved, err
		}
		moved = moved || err == nil
	}
	return moved, nil
}

func (b *TrashBatch) moveAside(id, from, to string) error {
	names, err := b.named(from, id, asideInfix)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := b.dir.moveOneAside(id, filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// moveOneAside renames a file that was set aside. If the name is taken, the file
// gets another number.
func (d *Dir) moveOneAside(id, from, to string) error {
	taken, err := vfs.Exists(d.fs, to)
	switch {
	case err != nil:
		return err
	case taken:
		return d.renameAside(from, files{filepath.Dir(to), id})
	}
	if err := d.fs.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *Dir) removeAll(paths ...string) error {
	for _, path := range paths {
		if err := d.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Trashed is a journal in the trash.
type Trashed struct {
	ID    string
	Bytes int64     // size of its files
	Since time.Time // when it was moved there; zero: unknown
}

// ListTrash describes the journals in the trash, sorted by name.
func (d *Dir) ListTrash() ([]Trashed, error) {
	entries, err := d.entries(d.trash())
	if err != nil {
		return nil, err
	}
	bytes := map[string]int64{}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(strings.TrimSuffix(entry.Name(), zstSuffix), logSuffix)
		if !ok || !ValidID(id) {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // restored since, or not a regular file
		}
		bytes[id] += info.Size() // the live and the archived file are one journal
	}
	var all []Trashed
	for _, id := range slices.Sorted(maps.Keys(bytes)) {
		all = append(all, Trashed{ID: id, Bytes: bytes[id], Since: d.trashedSince(id)})
	}
	return all, nil
}

// TrashReader opens a journal in the trash for reading, live or archived. It returns
// ErrNotFound if the journal is not there.
func (d *Dir) TrashReader(id string) (*Reader, error) {
	f, err := d.files(id)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Backward(f.inTrash()) {
		file, err := d.fs.OpenFile(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		src, err := sourceAt(path, journalFile{File: file, archived: strings.HasSuffix(path, zstSuffix)})
		if err != nil {
			file.Close()
			return nil, err
		}
		return &Reader{src: src, file: file, maxLine: d.maxLine}, nil
	}
	return nil, notInTrash(id)
}

func notInTrash(id string) error { return fmt.Errorf("%s: not in the trash: %w", id, ErrNotFound) }

// RecordTrashTime records the current time as the time at which a journal was moved
// to the trash. It is for a journal whose time is unknown.
func (d *Dir) RecordTrashTime(id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	return d.writeTrashTime(f)
}

func (d *Dir) writeTrashTime(f files) error {
	path := filepath.Join(d.trash(), f.id+trashedSuffix)
	return vfs.WriteFile(d.fs, path, []byte(d.now().UTC().Format(time.RFC3339)+"\n"))
}

func (d *Dir) trashedSince(id string) time.Time {
	text, err := vfs.ReadFile(d.fs, filepath.Join(d.trash(), id+trashedSuffix), maxNote)
	if err != nil {
		return time.Time{}
	}
	since, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}
	}
	return since
}

// Restore moves a journal from the trash back to the directory. It returns
// ErrNotFound if the journal is not in the trash, an error that matches
// fs.ErrExist if the directory has a journal of that name, and a *LockedError if
// one is being created.
func (d *Dir) Restore(ctx context.Context, id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	if err := d.checkRestorable(f); err != nil {
		return err
	}
	held, err := f.acquireLock(ctx, d.fs, d.now())
	if err != nil {
		return err
	}
	defer held.release()
	if err := d.checkRestorable(f); err != nil {
		return err
	}
	return d.restore(f)
}

// checkRestorable returns an error if a journal cannot be restored.
func (d *Dir) checkRestorable(f files) error {
	switch _, err := f.stat(d.fs); {
	case err == nil:
		return &fs.PathError{Op: "restore", Path: f.path(), Err: fs.ErrExist}
	case !errors.Is(err, ErrNotFound):
		return err
	}
	for _, path := range f.inTrash() {
		if trashed, err := vfs.Exists(d.fs, path); trashed || err != nil {
			return err
		}
	}
	return notInTrash(f.id)
}

func (d *Dir) restore(f files) error {
	if err := vfs.MakeDir(d.fs, filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	if err := d.TrashBatch().moveAside(f.id, d.trash(), f.dir); err != nil {
		return err
	}
	// Crash here leaves the journal in the trash and the files set aside from it in
	// the directory, as a crash in Trash does.
	from, to := f.inTrash(), f.inPlace()
	slices.Reverse(from) // the live journal, which is newer, first
	slices.Reverse(to)
	if _, err := d.move(from, to); err != nil {
		return err
	}
	// Crash here leaves an unused time in the trash.
	if err := d.removeAll(filepath.Join(d.trash(), f.id+trashedSuffix)); err != nil {
		return err
	}
	for _, dir := range []string{f.dir, filepath.Dir(f.archivePath()), d.trash()} {
		if err := d.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Purge removes a journal from the trash permanently, with all files that belong
// to it, including those that a crash has left in the directory. It returns nil if
// there are none.
func (d *Dir) Purge(id string) error { return d.TrashBatch().Purge(id) }

// Purge is like Dir.Purge.
func (b *TrashBatch) Purge(id string) error {
	d := b.dir
	f, err := d.files(id)
	if err != nil {
		return err
	}
	dirs := []string{d.trash()}
	if _, err := f.stat(d.fs); errors.Is(err, ErrNotFound) {
		dirs = []string{f.dir, filepath.Dir(f.archivePath()), d.trash()}
	}
	for _, dir := range dirs {
		if err := b.purgeIn(dir, f); err != nil {
			return err
		}
	}
	return nil
}

// purgeIn removes the files of a journal from a directory, but not a live or
// archived journal in its place, which was restored meanwhile.
func (b *TrashBatch) purgeIn(dir string, f files) error {
	names, err := b.named(dir, f.id, ".")
	if err != nil || len(names) == 0 && b.synced[dir] {
		return err
	}
	d := b.dir
	var last []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if slices.Contains(f.inPlace(), path) {
			continue
		}
		if strings.HasSuffix(path, trashedSuffix) {
			last = append(last, path)
			continue
		}
		// Crash here leaves a part of the files, and the time, so that the next
		// retention pass purges them.
		if err := d.removeAll(path); err != nil {
			return err
		}
	}
	if err := d.removeAll(last...); err != nil {
		return err
	}
	// Even if there was nothing to remove: an earlier Purge may have died before it
	// synced.
	if err := d.fs.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.synced[dir] = true
	return nil
}
