package objects

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
)

// File is a file or link of a tree.
type File struct {
	Path string // below the root, with slashes
	Entry
}

// Tree returns the hash of the tree that has these files, in any order, after put has taken the object of each
// directory; Writer.Put and HashObject are such functions. The paths are clean, and none is a directory of another.
func Tree(files []File, put func(object []byte) (Hash, error)) (Hash, error) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return putDir(files, 0, put)
}

// HashObject returns the hash of an object, and stores nothing.
func HashObject(object []byte) (Hash, error) { return HashOf(object), nil }

// putDir puts the directory that all files have in common: the first skip bytes of their paths.
func putDir(files []File, skip int, put func([]byte) (Hash, error)) (Hash, error) {
	var entries []named
	for len(files) > 0 {
		name, _, isDir := strings.Cut(files[0].Path[skip:], "/")
		if !isDir {
			entries, files = append(entries, named{name, files[0].Entry}), files[1:]
			continue
		}
		prefix := files[0].Path[:skip+len(name)+1]
		n := 1
		for n < len(files) && strings.HasPrefix(files[n].Path, prefix) {
			n++
		}
		h, err := putDir(files[:n], len(prefix), put)
		if err != nil {
			return Hash{}, err
		}
		entries, files = append(entries, named{name, Entry{Mode: ModeDir, Hash: h}}), files[n:]
	}
	return put(encodeDir(entries))
}

// dir returns the entries of a directory.
func (s *Store) readDir(h Hash) ([]named, error) {
	object, err := s.Read(h)
	if err != nil {
		return nil, err
	}
	entries, err := decodeDir(object)
	if err != nil {
		return nil, &DamagedError{s.dir, "object " + h.String() + ": " + err.Error()}
	}
	return entries, nil
}

// Files returns the files and links of a tree, by their paths. The errors are those of Read.
func (s *Store) Files(root Hash) (map[string]Entry, error) {
	files := map[string]Entry{}
	for c, err := range s.Compare(HashOf(nil), root) {
		if err != nil {
			return nil, err
		}
		files[c.Path] = c.After
	}
	return files, nil
}

// Change is a path with different entries in two trees.
type Change struct {
	Path          string
	Before, After Entry // the zero Entry: absent
}

// Compare yields the files and links that differ between two trees, in the order of their names; of a directory that
// became a file, those of the directory are absent afterwards. The errors are those of Read; the sequence ends after
// one.
func (s *Store) Compare(before, after Hash) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		s.compare(before, after, "", func(c Change, err error) bool {
			return err == nil && c.Path == Partial.Path || yield(c, err)
		})
	}
}

// IsPartial reports whether a tree has the mark Partial. The errors are those of Read.
func (s *Store) IsPartial(root Hash) (bool, error) {
	if root == HashOf(nil) { // an empty directory, which need not be stored
		return false, nil
	}
	entries, err := s.readDir(root)
	return slices.Contains(entries, named{Partial.Path, Partial.Entry}), err
}

// compare yields what differs below a directory. It returns false if the sequence has ended.
func (s *Store) compare(before, after Hash, dir string, yield func(Change, error) bool) bool {
	if before == after {
		return true
	}
	var sides [2]map[string]Entry
	for i, h := range []Hash{before, after} {
		entries := []named{}
		if h != HashOf(nil) { // an empty directory, which need not be stored
			var err error
			if entries, err = s.readDir(h); err != nil {
				yield(Change{}, err)
				return false
			}
		}
		sides[i] = map[string]Entry{}
		for _, e := range entries {
			sides[i][e.name] = e.Entry
		}
	}
	names := maps.Clone(sides[0])
	maps.Copy(names, sides[1])
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !s.compareEntries(sides[0][name], sides[1][name], path.Join(dir, name), yield) {
			return false
		}
	}
	return true
}

// compareEntries yields what differs at a path and below it.
func (s *Store) compareEntries(before, after Entry, at string, yield func(Change, error) bool) bool {
	c, dirs := Change{Path: at, Before: before, After: after}, [2]Hash{HashOf(nil), HashOf(nil)}
	for i, side := range []*Entry{&c.Before, &c.After} {
		if side.Type() == ModeDir {
			dirs[i], *side = side.Hash, Entry{}
		}
	}
	if c.Before != c.After && !yield(c, nil) {
		return false
	}
	return s.compare(dirs[0], dirs[1], at, yield)
}
