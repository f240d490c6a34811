package journal

import (
	"errors"
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
	archived, _, err := d.describe(filepath.Join(d.path, archiveDir), archiveSuffix)
	if err != nil {
		return nil, err
	}
	live, locked, err := d.describe(d.path, logSuffix)
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(live)+len(archived))
	seen := make(map[string]bool, len(live)+len(archived))
	for _, found := range []struct {
		files  []Described
		suffix string
	}{{live, logSuffix}, {archived, archiveSuffix}} {
		for _, file := range found.files {
			// Both exist after a crash between writing the one and removing
			// the other: the live one wins.
			if id := strings.TrimSuffix(file.Name, found.suffix); !seen[id] {
				seen[id] = true
				infos = d.appendInfo(infos, id, file, found.suffix == archiveSuffix)
			}
		}
	}
	for _, id := range locked {
		if !seen[id] {
			infos = d.appendStat(infos, id)
		}
	}
	return infos, nil
}

// describe describes the journals in a directory, and names those that have a
// lock file there. A directory that does not exist is empty.
func (d *Dir) describe(path, suffix string) (found []Described, locked []string, err error) {
	found, err = d.fs.Describe(path, func(name string) bool {
		if id, ok := strings.CutSuffix(name, lockSuffix); ok && ValidID(id) {
			locked = append(locked, id)
		}
		id, ok := strings.CutSuffix(name, suffix)
		return ok && ValidID(id)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return found, locked, err
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
