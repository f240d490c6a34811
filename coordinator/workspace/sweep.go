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

// Sweep removes from the stores of a home what no tree of roots needs, and stores without such a tree. It returns by
// how many bytes the stores became smaller. Of a store with a damaged tree nothing is removed, and the error says so.
//
// roots returns the trees of each directory. It is called first while captures can take place, which may take long, and
// then for each store while no turn runs in its directory and none can begin: it must then return all trees that were
// recorded until that call, of this store at least. A store in which a turn runs is left as it is.
func Sweep(home string, roots func() (map[string][]objects.Hash, error)) (freed int64, err error) {
	stores, err := storesOf(home)
	if err != nil || len(stores) == 0 {
		return 0, err
	}
	if _, err := roots(); err != nil {
		return 0, err
	}
	var failures []error
	for _, w := range stores {
		n, err := w.sweepIdle(roots)
		freed, failures = freed+n, append(failures, err)
	}
	return freed, errors.Join(failures...)
}

// storesOf returns the stores of a home, after it has removed those that an earlier call has begun to remove.
func storesOf(home string) (stores []*Workspace, err error) {
	dir := filepath.Join(home, storesDir)
	entries, err := vfs.OS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasSuffix(entry.Name(), removedSuffix):
			err = errors.Join(err, os.RemoveAll(path))
		case isStoreName(entry.Name()) && entry.IsDir():
			stores = append(stores, &Workspace{dir: path, home: home, store: objects.Open(vfs.OS, path)})
		}
	}
	return stores, err
}

// sweepIdle sweeps the store unless a turn runs.
func (w *Workspace) sweepIdle(roots func() (map[string][]objects.Hash, error)) (freed int64, err error) {
	release, err := w.lockIdle()
	if err != nil || release == nil {
		return 0, err
	}
	defer release()
	trees, err := roots()
	if err != nil {
		return 0, err
	}
	for root, hashes := range trees {
		if storeName(root) == filepath.Base(w.dir) {
			return w.sweep(hashes)
		}
	}
	return w.sweep(nil)
}

// isStoreName reports whether storeName returns such names.
func isStoreName(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}

// A Meter measures what is stored of trees, each object once.
type Meter struct {
	home    string
	stores  map[string]*objects.Store // by directory
	counted map[string]map[objects.Hash]bool
}

// NewMeter returns a meter of the stores of a home.
func NewMeter(home string) *Meter {
	return &Meter{home, map[string]*objects.Store{}, map[string]map[objects.Hash]bool{}}
}

// Add returns by how many bytes trees of directories add to what was measured before.
func (m *Meter) Add(trees map[string][]objects.Hash) (n int64, err error) {
	for dir, roots := range trees {
		if m.stores[dir] == nil {
			m.stores[dir], m.counted[dir] = Stored(m.home, dir).Store(), map[objects.Hash]bool{}
		}
		added, err := m.stores[dir].Measure(roots, m.counted[dir])
		if err != nil {
			return 0, err
		}
		n += added
	}
	return n, nil
}

// StoredBytes returns the size of all stores of a home, in bytes.
func StoredBytes(home string) (n int64, err error) {
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
