package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	timeSuffix = ".trashed" // of the file with the time at which a journal was moved to the trash
	maxTime    = 4 << 10    // limit of that file, in bytes
)

// Trash is the trash of a directory of journals. It reads each directory only once, and does
// not see files that are created after that, so it should be short-lived. A Trash is for one
// goroutine.
type Trash struct {
	journals *journal.Dir
	fs       vfs.FS
	now      func() time.Time

	names  map[string]map[string][]string // directory -> name up to the first dot -> names
	synced map[string]bool                // directories, since they were read
}

// Of returns the trash of a directory. It does not touch the disk.
func Of(journals *journal.Dir) *Trash {
	o := journals.Options()
	return &Trash{
		journals: journals, fs: o.FS, now: o.Now,
		names: map[string]map[string][]string{}, synced: map[string]bool{},
	}
}

// dir returns the path of the trash.
func (t *Trash) dir() string { return journal.Files{Dir: t.journals.Path()}.Trash() }

// named returns the names in the directory of a journal's files that start with a prefix,
// which is the id and what follows a dot.
func (t *Trash) named(f journal.Files, prefix string) ([]string, error) {
	known, ok := t.names[f.Dir]
	if !ok {
		entries, err := t.entries(f.Dir)
		if err != nil {
			return nil, err
		}
		known = make(map[string][]string, len(entries))
		for _, entry := range entries {
			first, _, _ := strings.Cut(entry.Name(), ".")
			known[first] = append(known[first], entry.Name())
		}
		t.names[f.Dir] = known
	}
	var names []string
	first, _, _ := strings.Cut(f.ID, ".")
	for _, name := range known[first] {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Move moves a journal, live or archived, and the files set aside from it to the trash,
// which List and Reader of the directory ignore. An earlier journal of that name in the
// trash is set aside there. It returns journal.ErrNotFound if the journal does not exist, and
// a *journal.LockedError if it has a writer.
func (t *Trash) Move(ctx context.Context, id string) error {
	f, err := t.journals.Files(id)
	if err != nil {
		return err
	}
	if _, err := t.journals.Stat(id); err != nil {
		return err
	}
	held, err := t.journals.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer held.Close()
	return t.move(f)
}

func (t *Trash) move(f journal.Files) error {
	if err := vfs.MakeDir(t.fs, t.dir()); err != nil {
		return err
	}
	if err := t.writeTime(f.ID); err != nil {
		return err
	}
	// An earlier journal of that name was deleted, but not purged.
	for _, path := range t.inTrash(f) {
		if err := t.renameAside(path, t.trashed(f)); err != nil {
			return err
		}
	}
	// Crash here leaves a journal in its place, and an unused time in the trash.
	// Crash while a live and an archived journal are moved leaves the live one, which
	// is newer, in its place.
	moved, err := t.rename(inPlace(f), t.inTrash(f))
	if err != nil {
		return err
	}
	if !moved {
		return fmt.Errorf("%s: %w", f.Live(), journal.ErrNotFound)
	}
	// Crash here leaves the journal in the trash and the files set aside from it, and its
	// attachments, in the directory, where Restore and Purge find them.
	if err := t.moveAside(f, t.trashed(f)); err != nil {
		return err
	}
	if err := t.moveAttachments(f, t.trashed(f)); err != nil {
		return err
	}
	// Crash here leaves the journal in the trash and its lock file in the directory.
	if err := vfs.RemoveAll(t.fs, f.Lock()); err != nil {
		return err
	}
	if err := t.fs.SyncDir(t.dir()); err != nil {
		return err
	}
	return t.fs.SyncDir(f.Dir)
}

// trashed returns the paths of a journal's files in the trash.
func (t *Trash) trashed(f journal.Files) journal.Files { return journal.Files{Dir: t.dir(), ID: f.ID} }

// inPlace and inTrash return the paths of a journal, archived and live, in the directory and
// in the trash. If both exist, the archive is older.
func inPlace(f journal.Files) []string { return []string{f.Archive(), f.Live()} }

func (t *Trash) inTrash(f journal.Files) []string {
	return []string{filepath.Join(t.dir(), filepath.Base(f.Archive())), t.trashed(f).Live()}
}

// rename renames the files that exist, in order.
func (t *Trash) rename(from, to []string) (moved bool, err error) {
	for i := range from {
		err := t.fs.Rename(from[i], to[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return moved, err
		}
		moved = moved || err == nil
	}
	return moved, nil
}

// moveAside moves the files that were set aside from a journal.
func (t *Trash) moveAside(from, to journal.Files) error {
	names, err := t.named(from, filepath.Base(from.AsidePrefix()))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := t.moveOneAside(filepath.Join(from.Dir, name), filepath.Join(to.Dir, name), to); err != nil {
			return err
		}
	}
	return nil
}

// moveOneAside renames a file that was set aside. If the name is taken, the file gets
// another number.
func (t *Trash) moveOneAside(from, to string, f journal.Files) error {
	taken, err := vfs.Exists(t.fs, to)
	switch {
	case err != nil:
		return err
	case taken:
		return t.renameAside(from, f)
	}
	if err := t.fs.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// renameAside renames a file, if it exists, to the first unused name for a file set aside
// from a journal.
func (t *Trash) renameAside(path string, f journal.Files) error {
	if exists, err := vfs.Exists(t.fs, path); !exists {
		return err
	}
	for n := 1; ; n++ {
		taken, err := vfs.Exists(t.fs, f.Aside(n))
		if err != nil {
			return err
		}
		if !taken {
			return t.fs.Rename(path, f.Aside(n))
		}
	}
}

// moveAttachments moves the directory of a journal's attachments. If there is one of an earlier journal, it gets what
// is in it: files of the same name have the same content.
func (t *Trash) moveAttachments(from, to journal.Files) error {
	entries, err := t.entries(from.Attachments())
	if err != nil || len(entries) == 0 {
		return err
	}
	exists, err := vfs.Exists(t.fs, to.Attachments())
	switch {
	case err != nil:
		return err
	case !exists:
		return t.fs.Rename(from.Attachments(), to.Attachments())
	}
	for _, entry := range entries {
		old, moved := filepath.Join(from.Attachments(), entry.Name()), filepath.Join(to.Attachments(), entry.Name())
		if err := t.fs.Rename(old, moved); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := t.fs.SyncDir(to.Attachments()); err != nil {
		return err
	}
	// Crash here leaves an empty directory.
	return vfs.RemoveAll(t.fs, from.Attachments())
}

// Item is a journal in the trash.
type Item struct {
	ID    string
	Bytes int64     // size of its files
	Since time.Time // when it was moved there; zero: unknown
}

// List describes the journals in the trash, sorted by name.
func (t *Trash) List() ([]Item, error) {
	entries, err := t.entries(t.dir())
	if err != nil {
		return nil, err
	}
	bytes := map[string]int64{}
	for _, entry := range entries {
		id, _, _ := strings.Cut(entry.Name(), ".")
		isJournal := slices.Contains(t.inTrash(journal.Files{ID: id}), filepath.Join(t.dir(), entry.Name()))
		if !isJournal || !journal.ValidID(id) {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // restored since, or not a regular file
		}
		bytes[id] += info.Size() // the live and the archived file are one journal
	}
	var all []Item
	for _, id := range slices.Sorted(maps.Keys(bytes)) {
		all = append(all, Item{ID: id, Bytes: bytes[id], Since: t.since(id)})
	}
	return all, nil
}

// entries lists a directory; one that does not exist is empty.
func (t *Trash) entries(dir string) ([]fs.DirEntry, error) {
	entries, err := t.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Reader opens a journal in the trash for reading, live or archived. It returns
// journal.ErrNotFound if the journal is not there.
func (t *Trash) Reader(id string) (*journal.Reader, error) {
	f, err := t.journals.Files(id)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Backward(t.inTrash(f)) {
		r, err := journal.OpenReader(path, t.journals.Options())
		if !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	return nil, notInTrash(id)
}

func notInTrash(id string) error {
	return fmt.Errorf("%s: not in the trash: %w", id, journal.ErrNotFound)
}

// RecordTime records the current time as the time at which a journal was moved to the trash.
// It is for a journal whose time is unknown.
func (t *Trash) RecordTime(id string) error {
	if _, err := t.journals.Files(id); err != nil {
		return err
	}
	return t.writeTime(id)
}

// timePath returns the path of the file that holds the time at which a journal was moved to
// the trash.
func (t *Trash) timePath(id string) string { return filepath.Join(t.dir(), id+timeSuffix) }

func (t *Trash) writeTime(id string) error {
	return vfs.WriteFile(t.fs, t.timePath(id), []byte(t.now().UTC().Format(time.RFC3339)+"\n"))
}

func (t *Trash) since(id string) time.Time {
	text, err := vfs.ReadFile(t.fs, t.timePath(id), maxTime)
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
// journal.ErrNotFound if the journal is not in the trash, an error that matches
// fs.ErrExist if the directory has a journal of that name, and a *journal.LockedError if
// one is being created.
func (t *Trash) Restore(ctx context.Context, id string) error {
	f, err := t.journals.Files(id)
	if err != nil {
		return err
	}
	if err := t.checkRestorable(f); err != nil {
		return err
	}
	held, err := t.journals.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := t.checkRestorable(f); err != nil {
		return err
	}
	return t.restore(f)
}

// checkRestorable returns an error if a journal cannot be restored.
func (t *Trash) checkRestorable(f journal.Files) error {
	switch _, err := t.journals.Stat(f.ID); {
	case err == nil:
		return &fs.PathError{Op: "restore", Path: f.Live(), Err: fs.ErrExist}
	case !errors.Is(err, journal.ErrNotFound):
		return err
	}
	for _, path := range t.inTrash(f) {
		if trashed, err := vfs.Exists(t.fs, path); trashed || err != nil {
			return err
		}
	}
	return notInTrash(f.ID)
}

func (t *Trash) restore(f journal.Files) error {
	if err := vfs.MakeDir(t.fs, filepath.Dir(f.Archive())); err != nil {
		return err
	}
	if err := Of(t.journals).moveAside(t.trashed(f), f); err != nil { // the names may have changed since they were read
		return err
	}
	if err := t.moveAttachments(t.trashed(f), f); err != nil {
		return err
	}
	// Crash here leaves the journal in the trash and the files set aside from it, and its attachments, in
	// the directory, as a crash in Move does.
	from, to := t.inTrash(f), inPlace(f)
	slices.Reverse(from) // the live journal, which is newer, first
	slices.Reverse(to)
	if _, err := t.rename(from, to); err != nil {
		return err
	}
	// Crash here leaves an unused time in the trash.
	if err := vfs.RemoveAll(t.fs, t.timePath(f.ID)); err != nil {
		return err
	}
	for _, dir := range []string{f.Dir, filepath.Dir(f.Archive()), t.dir()} {
		if err := t.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Purge removes a journal from the trash permanently, with all files that belong
// to it, including those that a crash has left in the directory. It returns nil if
// there are none.
func (t *Trash) Purge(id string) error {
	f, err := t.journals.Files(id)
	if err != nil {
		return err
	}
	dirs := []string{t.dir()}
	if _, err := t.journals.Stat(id); errors.Is(err, journal.ErrNotFound) {
		dirs = []string{f.Dir, filepath.Dir(f.Archive()), t.dir()}
	}
	for _, dir := range dirs {
		if err := t.purgeIn(dir, f); err != nil {
			return err
		}
	}
	return nil
}

// purgeIn removes the files of a journal from a directory, but not a live or
// archived journal in its place, which was restored meanwhile.
func (t *Trash) purgeIn(dir string, f journal.Files) error {
	names, err := t.named(journal.Files{Dir: dir, ID: f.ID}, f.ID+".")
	if err != nil || len(names) == 0 && t.synced[dir] {
		return err
	}
	var last []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if slices.Contains(inPlace(f), path) {
			continue
		}
		if strings.HasSuffix(path, timeSuffix) {
			last = append(last, path)
			continue
		}
		// Crash here leaves a part of the files, and the time, so that the next
		// retention pass purges them.
		if err := t.remove(path, journal.Files{Dir: dir, ID: f.ID}); err != nil {
			return err
		}
	}
	if err := vfs.RemoveAll(t.fs, last...); err != nil {
		return err
	}
	// Even if there was nothing to remove: an earlier Purge may have died before it
	// synced.
	if err := t.fs.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t.synced[dir] = true
	return nil
}

// remove removes a file of a journal, or the directory of its attachments.
func (t *Trash) remove(path string, of journal.Files) error {
	if path == of.Attachments() {
		entries, err := t.entries(path)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := vfs.RemoveAll(t.fs, filepath.Join(path, entry.Name())); err != nil {
				return err
			}
		}
	}
	return vfs.RemoveAll(t.fs, path)
}
