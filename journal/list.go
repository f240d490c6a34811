package journal

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// List describes every journal of the directory, archived ones included, in any
// order. Files that are not named like one are ignored; one that the system does
// not describe is listed with the reason. A directory that does not exist is
// empty.
//
// A journal that is archived, or brought back, while the directory is read is
// in the list.
func (d *Dir) List() ([]Info, error) {
	found, err := d.find()
	if err != nil {
		return nil, err
	}
	infos := d.describe(found)
	return slices.DeleteFunc(infos, func(i Info) bool { return i.ID == "" }), nil
}

// found is where a List came across a journal.
type found struct {
	id       string
	entry    fs.DirEntry // nil: only its lock file was seen
	archived bool
}

// find reads the archive first. A journal that is brought back meanwhile is seen
// in both directories; one that is archived meanwhile may be seen in neither,
// but whoever moves it holds its lock, and the lock file stays.
func (d *Dir) find() ([]found, error) {
	archived, err := d.entries(filepath.Join(d.path, archiveDir))
	if err != nil {
		return nil, err
	}
	live, err := d.entries(d.path)
	if err != nil {
		return nil, err
	}
	var all []found
	seen := make(map[string]bool, len(live)/2+len(archived))
	for _, look := range []struct {
		entries []fs.DirEntry
		suffix  string
	}{{live, logSuffix}, {archived, archiveSuffix}, {live, lockSuffix}} {
		for _, entry := range look.entries {
			id, ok := strings.CutSuffix(entry.Name(), look.suffix)
			// Both exist after a crash between writing the one and removing
			// the other: the live one wins.
			if !ok || seen[id] || !ValidID(id) {
				continue
			}
			seen[id] = true
			f := found{id: id, archived: look.suffix == archiveSuffix}
			if look.suffix != lockSuffix {
				f.entry = entry
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// entries reads a directory; one that does not exist is empty.
func (d *Dir) entries(path string) ([]fs.DirEntry, error) {
	entries, err := d.fs.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// describedTogether is how many files one goroutine describes at least.
const describedTogether = 256

// describe asks the system for each of the journals. Those that there are no
// more have the zero Info.
func (d *Dir) describe(all []found) []Info {
	infos := make([]Info, len(all))
	each := max(describedTogether, len(all)/runtime.GOMAXPROCS(0)+1)
	var wg sync.WaitGroup
	for from := 0; from < len(all); from += each {
		wg.Go(func() {
			for i := from; i < min(from+each, len(all)); i++ {
				infos[i] = d.info(all[i])
			}
		})
	}
	wg.Wait()
	return infos
}

func (d *Dir) info(f found) Info {
	files := files{d.path, f.id}
	path := files.path()
	if f.archived {
		path = files.archivePath()
	}
	info, err := d.lookAt(f.entry, path)
	if errors.Is(err, fs.ErrNotExist) { // it went elsewhere since
		i, err := files.stat(d.fs)
		switch {
		case errors.Is(err, ErrNotFound):
			return Info{}
		case err != nil:
			return Info{ID: f.id, Path: path, Err: err}
		}
		return i
	}
	if err != nil {
		return Info{ID: f.id, Path: path, Archived: f.archived, Err: err}
	}
	if !info.Mode().IsRegular() {
		return Info{} // no file, whatever its name
	}
	return newInfo(f.id, path, info, f.archived)
}

// lookAt describes a file that was found in a directory, through links.
func (d *Dir) lookAt(entry fs.DirEntry, path string) (fs.FileInfo, error) {
	if entry == nil {
		return nil, fs.ErrNotExist
	}
	if entry.Type()&fs.ModeSymlink != 0 {
		return d.fs.Stat(path)
	}
	return entry.Info()
}
