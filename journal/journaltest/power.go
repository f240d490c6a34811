package journaltest

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"iter"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// PageSize is the unit in which the content of a file reaches the disk, in bytes.
const PageSize = 4096

// content is the content of a file, in the cache and on the disk.
type content struct {
	cached []byte
	disk   []byte
	dirty  map[int]bool // the pages of cached that the next sync writes
}

func (c *content) write(p []byte, at int64) {
	from, to := int(at), int(at)+len(p)
	if to > len(c.cached) {
		c.cached = append(c.cached, make([]byte, to-len(c.cached))...)
	}
	copy(c.cached[from:], p)
	c.touch(from, to)
}

func (c *content) truncate(size int64) {
	before := len(c.cached)
	if int(size) <= before {
		c.cached = c.cached[:size:size]
	} else {
		c.cached = append(c.cached, make([]byte, int(size)-before)...)
	}
	c.touch(min(before, int(size)), max(before, int(size)))
}

func (c *content) touch(from, to int) {
	if c.dirty == nil {
		c.dirty = map[int]bool{}
	}
	for page := from / PageSize; page*PageSize < to; page++ {
		c.dirty[page] = true
	}
}

func (c *content) sync() {
	c.disk = c.mixed(len(c.cached), func(page int) bool { return c.dirty[page] })
	c.dirty = nil
}

// mixed returns the content of a file of the given size in which some pages come from
// the cache and the others from the disk, or are NUL where the disk has none.
func (c *content) mixed(size int, fromCache func(page int) bool) []byte {
	file := make([]byte, size)
	copy(file, c.disk)
	for page := 0; page*PageSize < size; page++ {
		if fromCache(page) {
			from, to := page*PageSize, min((page+1)*PageSize, size)
			clear(file[from:to])
			if from < len(c.cached) {
				copy(file[from:to], c.cached[from:])
			}
		}
	}
	return file
}

// cut returns what a power cut leaves of the file.
func (c *content) cut(keep func() bool) content {
	disk := c.mixed(c.cutSize(keep), func(page int) bool { return c.dirty[page] && keep() })
	return content{cached: disk, disk: slices.Clone(disk)}
}

// cutSize returns the size on the disk, the size in the cache, or, if the file grew,
// a page boundary between them.
func (c *content) cutSize(keep func() bool) int {
	size, cached := len(c.disk), len(c.cached)
	if keep() {
		return cached
	}
	for size < cached && keep() {
		size = min(cached, (size/PageSize+1)*PageSize)
	}
	return size
}

// change is an atomic change of directory entries: a node is created, removed or
// renamed.
type change struct {
	node     *node
	from, to place
	synced   []*node // those of its directories that were synced
}

// place is an entry of a directory. The zero place means none.
type place struct {
	dir  *node
	name string
}

// apply applies a change to the cache.
func (m *Mem) apply(c *change) {
	c.change(func(dir *node) map[string]*node { return dir.entries })
	m.changes = append(m.changes, c)
}

func (c *change) change(entries func(dir *node) map[string]*node) {
	if c.from.dir != nil {
		if from := entries(c.from.dir); from[c.from.name] == c.node {
			delete(from, c.from.name)
		}
	}
	if c.to.dir != nil {
		entries(c.to.dir)[c.to.name] = c.node
	}
}

func (m *Mem) syncDir(dir *node) {
	for _, c := range m.changes {
		if c.from.dir == dir || c.to.dir == dir {
			c.synced = append(c.synced, dir)
		}
	}
	for len(m.changes) > 0 && m.changes[0].durable() {
		m.changes[0].change(func(dir *node) map[string]*node { return dir.kept })
		m.changes = m.changes[1:]
	}
}

func (c *change) durable() bool {
	for _, p := range []place{c.from, c.to} {
		if p.dir != nil && !slices.Contains(c.synced, p.dir) {
			return false
		}
	}
	return true
}

// PowerCut returns a new file system with what a power cut at this moment leaves on
// the disk. m is unchanged. Synced data is kept. Of the rest, each page, each size
// and each change of a directory is kept if keep returns true, with two rules: a
// rename is atomic, and it is kept only with the earlier changes of the same file.
func (m *Mem) PowerCut(keep func() bool) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := &Mem{now: m.now, inodes: m.inodes}
	left.root = m.cutNode(m.root, m.keptEntries(keep), keep)
	return left
}

// keptEntries returns, for each directory, the entries that the cut leaves.
func (m *Mem) keptEntries(keep func() bool) func(dir *node) map[string]*node {
	kept := map[*node]map[string]*node{}
	entries := func(dir *node) map[string]*node {
		if kept[dir] == nil {
			kept[dir] = maps.Clone(dir.kept)
		}
		return kept[dir]
	}
	for _, c := range m.chosen(keep) {
		c.change(entries)
	}
	return entries
}

func (m *Mem) chosen(keep func() bool) []*change {
	var chosen []*change
	needed := map[*node]bool{}
	for _, c := range slices.Backward(m.changes) {
		if c.durable() || needed[c.node] || keep() {
			needed[c.node] = true
			chosen = append(chosen, c)
		}
	}
	slices.Reverse(chosen)
	return chosen
}

func (m *Mem) cutNode(n *node, entries func(*node) map[string]*node, keep func() bool) *node {
	left := &node{inode: n.inode, dir: n.dir, modTime: n.modTime}
	if !n.dir {
		left.content = n.cut(keep)
		return left
	}
	left.entries = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(entries(n))) {
		left.entries[name] = m.cutNode(entries(n)[name], entries, keep)
	}
	left.kept = maps.Clone(left.entries)
	return left
}

// DropCaches drops the cached pages that differ from the disk, except those that the
// next sync writes. After a failed sync, reads return the content of the disk.
func (m *Mem) DropCaches() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root.dropCaches()
}

func (n *node) dropCaches() {
	n.cached = n.mixed(len(n.cached), func(page int) bool { return n.dirty[page] })
	for _, entry := range n.entries {
		entry.dropCaches()
	}
}

// Sum returns a checksum of all names and contents.
func (m *Mem) Sum() [sha256.Size]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := sha256.New()
	m.root.sum(h, "/")
	return [sha256.Size]byte(h.Sum(nil))
}

func (n *node) sum(h hash.Hash, name string) {
	fmt.Fprintf(h, "%q %v %d\n", name, n.dir, len(n.cached))
	h.Write(n.cached)
	for _, base := range slices.Sorted(maps.Keys(n.entries)) {
		n.entries[base].sum(h, path.Join(name, base))
	}
}

// Images returns possible results of a power cut: only synced data ("none"), all of
// the cache ("all"), and a number of random selections ("some 1" and so on), which
// are the same in every run with the same seed.
func (m *Mem) Images(parts int, seed uint64) iter.Seq2[string, *Mem] {
	return func(yield func(string, *Mem) bool) {
		if !yield("none", m.PowerCut(func() bool { return false })) ||
			!yield("all", m.PowerCut(func() bool { return true })) {
			return
		}
		for part := range parts {
			rng := rand.New(rand.NewPCG(seed, uint64(part)))
			odds := 1 + rng.IntN(3) // of 4
			keep := func() bool { return rng.IntN(4) < odds }
			if !yield(fmt.Sprint("some ", part+1), m.PowerCut(keep)) {
				return
			}
		}
	}
}
