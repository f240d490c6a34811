package objects

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Sweep removes what no tree of roots needs: packs without such objects, and packs that mostly have others, after the
// objects that are needed were copied to one new pack with the name id. It returns by how many bytes the store became
// smaller. If a tree is missing or damaged, nothing is removed, and the error says what. The caller holds the lock of
// the store.
func (s *Store) Sweep(id string, roots []Hash) (freed int64, err error) {
	if err := s.prepare(); err != nil {
		return 0, err
	}
	before, err := s.Bytes()
	if err != nil {
		return 0, err
	}
	live := map[Hash]bool{}
	for _, root := range roots {
		if p, _ := s.find(root); p == nil && len(s.damaged) == 0 {
			continue // another machine's tree
		}
		if err := s.mark(root, live); err != nil {
			return 0, err
		}
	}
	var sparse []*pack
	for name, p := range s.packs {
		if needed := p.needed(live); needed < (p.size-int64(len(packMagic)))/2 {
			sparse = append(sparse, p)
			delete(s.packs, name) // its objects are not found, and so copied
		}
	}
	if err := s.copyTo(id, sparse, live); err != nil {
		return 0, err
	}
	// Crash here leaves objects in two packs; the next Sweep removes the sparse one.
	for _, p := range sparse {
		if err := s.fs.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	after, err := s.Bytes()
	return before - after, err
}

// mark adds the objects of a tree to live.
func (s *Store) mark(dir Hash, live map[Hash]bool) error {
	if live[dir] || dir == HashOf(nil) {
		return nil
	}
	entries, err := s.readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Type() {
		case ModeDir:
			err = errors.Join(err, s.mark(e.Hash, live))
		case ModeInGit: // no object
		default:
			live[e.Hash] = true
		}
	}
	live[dir] = true
	return err
}

// Measure returns the compressed bytes of the objects that trees need, except those in counted, to which it adds them.
// Trees that the store does not have are left out.
func (s *Store) Measure(roots []Hash, counted map[Hash]bool) (n int64, err error) {
	if err := s.load(); err != nil {
		return 0, err
	}
	live := map[Hash]bool{}
	for _, root := range roots {
		if p, _ := s.find(root); p == nil && len(s.damaged) == 0 {
			continue
		}
		if err := s.mark(root, live); err != nil {
			return 0, err
		}
	}
	for h := range live {
		if p, at := s.find(h); p != nil && !counted[h] {
			n += int64(at.length) + int64(indexRow)
			counted[h] = true
		}
	}
	return n, nil
}

// needed returns how many bytes of the pack have live objects.
func (p *pack) needed(live map[Hash]bool) (n int64) {
	for h, at := range p.index {
		if live[h] {
			n += int64(at.length) + int64(indexRow)
		}
	}
	return n
}

// copyTo copies the live objects of packs that no other pack has into a new one.
func (s *Store) copyTo(id string, packs []*pack, live map[Hash]bool) error {
	from := map[Hash]*pack{}
	for _, p := range packs {
		for h := range p.index {
			if other, _ := s.find(h); live[h] && other == nil {
				from[h] = p
			}
		}
	}
	if len(from) == 0 {
		return nil
	}
	path := filepath.Join(s.dir, id+packSuffix)
	return vfs.Replace(s.fs, path, 0o600, func(w io.Writer) error {
		out, err := newPackWriter(w)
		if err != nil {
			return err
		}
		for _, h := range slices.SortedFunc(maps.Keys(from), compareHashes) {
			p := from[h]
			if _, err := p.read(s.fs, h, p.index[h]); err != nil {
				return err
			}
			data, err := p.compressed(s.fs, p.index[h])
			if err != nil {
				return err
			}
			if err := out.add(h, data, p.index[h].size); err != nil {
				return err
			}
		}
		return out.close()
	})
}
