package journal

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// List describes every journal of the directory, including archived ones, in any
// order. It ignores files with other names. A file that the system cannot
// describe is listed with the error. A directory that does not exist is empty.
//
// A journal that is archived or unarchived while the directory is read is listed.
// When ctx is done, List returns its error.
func (d *Dir) List(ctx context.Context) ([]Info, error) {
	// The archive is read first: a journal that is unarchived meanwhile is seen in
	// both directories. One that is archived meanwhile may be seen in neither,
	// but its lock file stays.
	archived, err := d.scan(ctx, filepath.Join(d.path, archiveDir), archiveSuffix)
	if err != nil {
		return nil, err
	}
	live, err := d.scan(ctx, d.path, logSuffix)
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
	return d.merge(infos, live, archived), nil
}

// merge appends each journal that is live, archived, or being moved, once.
func (d *Dir) merge(infos []Info, live, archived listing) []Info {
	seen := make(map[string]bool, cap(infos))
	for _, found := range []struct {
		files  []vfs.FileStat
		suffix string
	}{{live.files, logSuffix}, {archived.files, archiveSuffix}} {
		for _, file := range found.files {
			// Both exist after a crash between writing one and removing the
			// other: the live one takes precedence.
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

// listing is the content of a directory.
type listing struct {
	files  []vfs.FileStat // journals
	locked []string       // ids that have a lock file
	paired bool           // the journals and the lock files have the same ids
}

// scan lists the journals in a directory. One that does not exist is empty.
func (d *Dir) scan(ctx context.Context, path, suffix string) (found listing, err error) {
	// Nearly always, each journal has a lock file. Comparing the sums of the hashes
	// of their ids avoids a set of 100,000 ids.
	var journals, locks uint64
	seed := maphash.MakeSeed()
	found.files, err = d.fs.StatFiles(ctx, path, func(name string) bool {
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
		return listing{paired: true}, nil
	}
	found.paired = journals == locks && len(found.files) == len(found.locked)
	return found, err
}

// appendInfo appends a journal that was found in a directory.
func (d *Dir) appendInfo(infos []Info, id string, file vfs.FileStat, archived bool) []Info {
	switch {
	case errors.Is(file.Err, fs.ErrNotExist): // it was moved since
		return d.appendStat(infos, id)
	case file.Err == nil && !file.Regular:
		return infos
	}
	return append(infos, Info{
		ID: id, Dir: d.path, Archived: archived,
		Size: file.Size, ModTime: file.ModTime, Inode: file.Inode, Err: file.Err,
	})
}

// appendStat appends a journal, wherever it is.
func (d *Dir) appendStat(infos []Info, id string) []Info {
	info, err := Files{d.path, id}.stat(d.fs)
	switch {
	case errors.Is(err, ErrNotFound):
		return infos
	case err != nil:
		info = Info{ID: id, Dir: d.path, Err: err}
	}
	return append(infos, info)
}
