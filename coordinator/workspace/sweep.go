package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Sweep removes from the stores of a home what no tree of roots needs, and stores without such a tree. roots returns
// the trees of each directory. It is called while no capture can take place, so that none is missing; a store in which
// a turn runs is left as it is. Sweep returns by how many bytes the stores became smaller. Of a store with a damaged
// tree nothing is removed, and the error says so.
func Sweep(home string, roots func() (map[string][]objects.Hash, error)) (freed int64, err error) {
	stores := filepath.Join(home, storesDir)
	entries, err := vfs.OS.ReadDir(stores)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var idle []*Workspace
	var failures []error
	for _, entry := range entries {
		dir := filepath.Join(stores, entry.Name())
		if strings.HasSuffix(entry.Name(), removedSuffix) {
			failures = append(failures, os.RemoveAll(dir))
		}
		if !isStoreName(entry.Name()) || !entry.IsDir() {
			continue
		}
		w := &Workspace{dir: dir, home: home, store: objects.Open(vfs.OS, dir)}
		release, err := w.lockIdle()
		failures = append(failures, err)
		if release != nil {
			defer release()
			idle = append(idle, w)
		}
	}
	if len(idle) == 0 {
		return 0, errors.Join(failures...)
	}
	trees, err := roots()
	if err != nil {
		return 0, errors.Join(append(failures, err)...)
	}
	named := map[string][]objects.Hash{}
	for root, hashes := range trees {
		named[storeName(root)] = hashes
	}
	for _, w := range idle {
		n, err := w.sweep(named[filepath.Base(w.dir)])
		freed, failures = freed+n, append(failures, err)
	}
	return freed, errors.Join(failures...)
}

// isStoreName reports whether storeName returns such names.
func isStoreName(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}

// storedBytes returns the size of all stores of a home, in bytes.
func storedBytes(home string) (n int64, err error) {
	err = filepath.WalkDir(filepath.Join(home, storesDir), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoringMissing(err)
		}
		info, err := entry.Info()
		if err == nil {
			n += info.Size()
		}
		return ignoringMissing(err)
	})
	return n, err
}

func ignoringMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	return err
}

// lockIdle takes the lock of the store unless a process has it or a turn runs: then it returns nil.
func (w *Workspace) lockIdle() (release func(), err error) {
	f, err := vfs.LockFile(vfs.OS, filepath.Join(w.dir, "lock"))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	running, err := w.running()
	if err != nil || len(running) > 0 {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

// sweep removes what no root needs; without roots the whole store.
func (w *Workspace) sweep(roots []objects.Hash) (freed int64, err error) {
	if len(roots) > 0 {
		return w.store.Sweep(ulid.Make().String(), roots)
	}
	if freed, err = w.store.Bytes(); err != nil {
		return 0, err
	}
	// A turn that begins meanwhile makes another store. Crash here leaves one that the next call of Sweep removes.
	removed := w.dir + removedSuffix
	if os.Rename(w.dir, removed) != nil {
		removed = w.dir
	}
	return freed, os.RemoveAll(removed)
}

// removedSuffix ends the name of a store that is being removed.
const removedSuffix = ".removed"
