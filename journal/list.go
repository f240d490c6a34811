package journal

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"strings"
)

// List describes every journal of the directory, archived ones included, in any
// order. Files that are not named like one are ignored; one that the system does
// not describe is listed with the reason. A directory that does not exist is
// empty.
//
// A journal that is archived, or brought back, while the directory is read is
// in the list.
func (d *Dir) List() ([]Info, error) {
	// The archive first: a journal that is brought back meanwhile is seen in both
	// directories. One that is archived meanwhile may be seen in neither, but
	// whoever moves it holds its lock, and the lock file stays.
	archived, err := d.describe(filepath.Join(d.path, archiveDir), archiveSuffix)
	if err != nil {
		return nil, err
	}
	live, err := d.describe(d.path, logSuffix)
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(live.files)+len(archived.files))
	if live.paired && len(archived.files) == 0 {
		for _, file := range live.files {
			infos = d.appendInfo(infos, strings.TrimSuffix(file.Name, logSuffix), file, false)
		}
		return infos, nil
	}
	return d.unite(infos, live, archived), nil
}

// unite adds each journal once, of those that are live or archived, or on their
// way.
func (d *Dir) unite(infos []Info, live, archived described) []Info {
	seen := make(map[string]bool, cap(infos))
	for _, found := range []struct {
		files  []Described
		suffix string
	}{{live.files, logSuffix}, {archived.files, archiveSuffix}} {
		for _, file := range found.files {
			// Both exist after a crash between writing the one and removing
			// the other: the live one wins.
			if id := strings.TrimSuffix(file.Name, found.suffix); !seen[id] {
				seen[id] = true
				infos = d.appendInfo(infos, id, file, found.suffix == archiveSuffix)
			}
		}
	}
	for _, id := range live.locked {
		if !seen[id] {
			infos = d.appendStat(infos, id)
		}
	}
	return infos
}

// described is what a directory holds.
type described struct {
	files  []Described // journals
	locked []string    // the ids that have a lock file
	paired bool        // those are the ids of the journals
}

// describe describes the journals in a directory. One that does not exist is
// empty.
func (d *Dir) describe(path, suffix string) (found described, err error) {
	// Of 100,000 sessions each has both files, nearly always. To know that they
	// are the same, no list of them is needed: the sums of their hashes are.
	var journals, locks uint64
	seed := maphash.MakeSeed()
	found.files, err = d.fs.Describe(path, func(name string) bool {
		if id, ok := strings.CutSuffix(name, lockSuffix); ok && ValidID(id) {
			found.locked = append(found.locked, id)
			locks += maphash.String(seed, id)
		}
		id, ok := strings.CutSuffix(name, suffix)
		if !ok || !ValidID(id) {
			return false
		}
		journals += maphash.String(seed, id)
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		return described{paired: true}, nil
	}
	found.paired = journals == locks && len(found.files) == len(found.locked)
	return found, err
}

// appendInfo adds a journal that was found in a directory.
func (d *Dir) appendInfo(infos []Info, id string, file Described, archived bool) []Info {
	switch {
	case errors.Is(file.Err, fs.ErrNotExist): // it went elsewhere since
		return d.appendStat(infos, id)
	case file.Err == nil && !file.Regular: // no file, whatever its name
		return infos
	}
	return append(infos, Info{
		ID: id, Dir: d.path, Archived: archived, Size: file.Size, ModTime: file.ModTime, Inode: file.Inode, Err: file.Err,
	})
}

// appendStat adds a journal that has to be looked for.
func (d *Dir) appendStat(infos []Info, id string) []Info {
	info, err := files{d.path, id}.stat(d.fs)
	switch {
	case errors.Is(err, ErrNotFound):
		return infos
	case err != nil:
		info = Info{ID: id, Dir: d.path, Err: err}
	}
	return append(infos, info)
}

// entries reads a directory; one that does not exist is empty.
func (d *Dir) entries(path string) ([]fs.DirEntry, error) {
	entries, err := d.fs.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
