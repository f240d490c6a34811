package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// trashedSuffix names the file that says since when a journal is in the trash.
const trashedSuffix = ".trashed"

// Trash moves a journal, live or archived, and what was set aside from it, to
// the directory's trash, where no reader looks. An earlier journal of that name
// which is still there is set aside from it. It returns ErrNotFound when there is
// none and a LockedError when somebody writes to it.
func (d *Dir) Trash(id string) error { return d.Bin().Trash(id) }

// Bin puts many journals into the trash, or removes them from it, and reads each
// directory once for all of them. What comes into a directory behind that it
// does not see. A Bin is for one goroutine, and for a moment.
type Bin struct {
	dir   *Dir
	names map[string]map[string][]string // of a directory, by their part before the first dot

	synced map[string]bool // directories, since they were read
}

// Bin begins with nothing read.
func (d *Dir) Bin() *Bin {
	return &Bin{dir: d, names: map[string]map[string][]string{}, synced: map[string]bool{}}
}

// named are the names in a directory that begin with an id and something behind
// it, which begins with a dot.
func (b *Bin) named(dir, id, infix string) ([]string, error) {
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

// Trash is Dir.Trash.
func (b *Bin) Trash(id string) error {
	d := b.dir
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
	return b.moveToTrash(f)
}

func (d *Dir) trash() string { return filepath.Join(d.path, trashDir) }

// hasTrash reports whether anything was ever in the trash.
func (d *Dir) hasTrash() (bool, error) { return d.exists(d.trash()) }

func (d *Dir) exists(path string) (bool, error) {
	_, err := d.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (b *Bin) moveToTrash(f files) error {
	d := b.dir
	if err := makeDir(d.fs, d.trash()); err != nil {
		return err
	}
	if err := d.date(f); err != nil {
		return err
	}
	if err := d.makeRoom(f); err != nil {
		return err
	}
	// Crash here leaves a journal that is not in the trash, and a date that
	// nobody asks for. Crash while both move leaves the newer one in its place.
	moved, err := d.move(f.inPlace(), f.inTrash())
	if err != nil {
		return err
	}
	if !moved {
		return fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	// Crash here leaves a journal in the trash and what was set aside from it
	// beside its old place, where Restore and Purge find it.
	if err := b.moveAside(f.id, f.dir, d.trash()); err != nil {
		return err
	}
	// Crash here leaves a journal in the trash and its lock file, which nobody
	// takes for one.
	if err := d.removeAll(f.lockPath()); err != nil {
		return err
	}
	if err := d.fs.SyncDir(d.trash()); err != nil {
		return err
	}
	return d.fs.SyncDir(f.dir)
}

// makeRoom sets aside, in the trash, what an earlier journal of that name has left
// there: somebody deleted that one, and has not given it up for good.
func (d *Dir) makeRoom(f files) error {
	for _, path := range f.inTrash() {
		if err := d.keepAside(path, files{d.trash(), f.id}); err != nil {
			return err
		}
	}
	return nil
}

// keepAside gives a file, if there is one, a name beside a journal that no file
// has yet.
func (d *Dir) keepAside(path string, beside files) error {
	if exists, err := d.exists(path); !exists {
		return err
	}
	for n := 1; ; n++ {
		taken, err := d.exists(beside.asidePath(n))
		if err != nil {
			return err
		}
		if !taken {
			return d.fs.Rename(path, beside.asidePath(n))
		}
	}
}

// inPlace and inTrash are where the files of a journal are, and where they go.
// Where both exist, the archive is the older one.
func (f files) inPlace() []string { return []string{f.archivePath(), f.path()} }

func (f files) inTrash() []string {
	trash := filepath.Join(f.dir, trashDir)
	return []string{filepath.Join(trash, f.id+archiveSuffix), filepath.Join(trash, f.id+logSuffix)}
}

// move renames whichever of the files there are, one after another.
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

func (b *Bin) moveAside(id, from, to string) error {
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

// moveOneAside renames a file that was set aside, and changes its number where
// another one has it.
func (d *Dir) moveOneAside(id, from, to string) error {
	taken, err := d.exists(to)
	switch {
	case err != nil:
		return err
	case taken:
		return d.keepAside(from, files{filepath.Dir(to), id})
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
	Bytes int64     // of its files
	Since time.Time // when it was put there; zero when that is not known
}

// ListTrash describes what is in the trash, in the order of the names.
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
			continue // restored since, or not a file
		}
		bytes[id] += info.Size() // both were there, and both are one journal
	}
	var all []Trashed
	for _, id := range slices.Sorted(maps.Keys(bytes)) {
		all = append(all, Trashed{ID: id, Bytes: bytes[id], Since: d.trashedSince(id)})
	}
	return all, nil
}

// DateTrash writes down that a journal is in the trash since now, for one of
// which nobody knows since when.
func (d *Dir) DateTrash(id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	return d.date(f)
}

func (d *Dir) date(f files) error {
	since := filepath.Join(d.trash(), f.id+trashedSuffix)
	return WriteFile(d.fs, since, []byte(d.now().UTC().Format(time.RFC3339)+"\n"))
}

func (d *Dir) trashedSince(id string) time.Time {
	text, err := ReadFile(d.fs, filepath.Join(d.trash(), id+trashedSuffix), noteSize)
	if err != nil {
		return time.Time{}
	}
	since, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}
	}
	return since
}

// Restore takes a journal out of the trash again. It returns ErrNotFound when
// it is not there, an error that is fs.ErrExist when there is a journal of that
// name already, and a LockedError when somebody is about to make one.
func (d *Dir) Restore(id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	if err := d.restorable(f); err != nil {
		return err
	}
	unlock, err := f.lock(d.fs, d.now())
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.restorable(f); err != nil {
		return err
	}
	return d.restore(f)
}

// restorable reports why a journal cannot be taken out of the trash.
func (d *Dir) restorable(f files) error {
	if _, err := f.stat(d.fs); err == nil {
		return &fs.PathError{Op: "restore", Path: f.path(), Err: fs.ErrExist}
	}
	if !d.isTrashed(f) {
		return fmt.Errorf("%s: not in the trash: %w", f.id, ErrNotFound)
	}
	return nil
}

func (d *Dir) restore(f files) error {
	if err := makeDir(d.fs, filepath.Dir(f.archivePath())); err != nil {
		return err
	}
	if err := d.Bin().moveAside(f.id, d.trash(), f.dir); err != nil {
		return err
	}
	// Crash here leaves a journal in the trash and what was set aside from it
	// beside its old place, as a crash in Trash does.
	if _, err := d.move(newestFirst(f.inTrash()), newestFirst(f.inPlace())); err != nil {
		return err
	}
	// Crash here leaves a date that nobody asks for.
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

// isTrashed reports whether there is something to be restored.
func (d *Dir) isTrashed(f files) bool {
	return slices.ContainsFunc(f.inTrash(), func(path string) bool {
		_, err := d.fs.Stat(path)
		return err == nil
	})
}

func newestFirst(paths []string) []string {
	slices.Reverse(paths)
	return paths
}

// Purge removes a journal from the trash for good, and all that belongs to it,
// also what a crash has left beside its old place. What is not there is no
// error.
func (d *Dir) Purge(id string) error { return d.Bin().Purge(id) }

// Purge is Dir.Purge.
func (b *Bin) Purge(id string) error {
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

// purgeIn removes what is called like a journal from a directory, but no
// journal that has come back to its place in the meantime.
func (b *Bin) purgeIn(dir string, f files) error {
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
		// Crash here leaves a part, which the next Purge removes, and the date,
		// so that it still knows that the part is old enough.
		if err := d.removeAll(path); err != nil {
			return err
		}
	}
	if err := d.removeAll(last...); err != nil {
		return err
	}
	// Where there is nothing to remove, somebody may have died before this.
	if err := d.fs.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b.synced[dir] = true
	return nil
}
