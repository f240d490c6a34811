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

// PageSize is how much of a file reaches the disk in one piece, in bytes.
const PageSize = 4096

// content is what a file holds: as the system shows it, and as the disk has it.
type content struct {
	shown []byte
	disk  []byte
	dirty map[int]bool // the pages of shown that the next sync brings to the disk
}

func (c *content) write(p []byte, at int64) {
	from, to := int(at), int(at)+len(p)
	if to > len(c.shown) {
		c.shown = append(c.shown, make([]byte, to-len(c.shown))...)
	}
	copy(c.shown[from:], p)
	c.touch(from, to)
}

func (c *content) truncate(size int64) {
	before := len(c.shown)
	if int(size) <= before {
		c.shown = c.shown[:size:size]
	} else {
		c.shown = append(c.shown, make([]byte, int(size)-before)...)
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
	c.disk = c.mixed(len(c.shown), func(page int) bool { return c.dirty[page] })
	c.dirty = nil
}

// mixed is a file of some size with the pages that are meant as they are shown,
// and the others as the disk has them: NUL where it has nothing.
func (c *content) mixed(size int, shown func(page int) bool) []byte {
	file := make([]byte, size)
	copy(file, c.disk)
	for page := 0; page*PageSize < size; page++ {
		if shown(page) {
			from, to := page*PageSize, min((page+1)*PageSize, size)
			clear(file[from:to])
			if from < len(c.shown) {
				copy(file[from:to], c.shown[from:])
			}
		}
	}
	return file
}

// cut is what a power cut leaves of the file.
func (c *content) cut(keep func() bool) content {
	disk := c.mixed(c.cutSize(keep), func(page int) bool { return c.dirty[page] && keep() })
	return content{shown: disk, disk: slices.Clone(disk)}
}

// cutSize is the size that the disk has, or the one that the system shows, or,
// where the file grew, one at the border of a page between them.
func (c *content) cutSize(keep func() bool) int {
	size, shown := len(c.disk), len(c.shown)
	if keep() {
		return shown
	}
	for size < shown && keep() {
		size = min(shown, (size/PageSize+1)*PageSize)
	}
	return size
}

// change is one of a directory's entries, or of two in one step: a node comes,
// goes, or is renamed.
type change struct {
	node     *node
	from, to place
	synced   []*node // the directories of it that are synced
}

// place is an entry of a directory. The zero place is none.
type place struct {
	dir  *node
	name string
}

// apply makes a change that the disk does not have yet.
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

// PowerCut returns what the disk holds when the power goes now, as a file
// system of its own; m goes on as if nothing had happened. What was synced is
// there. Of all else, each page of a file, each size and each change of a
// directory is there when keep says so, with two rules: a rename is done or
// undone, and one does not come without the earlier changes of the same file.
func (m *Mem) PowerCut(keep func() bool) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := &Mem{now: m.now, inodes: m.inodes}
	left.root = m.cutNode(m.root, m.keptEntries(keep), keep)
	return left
}

// keptEntries returns, for every directory, the entries that the cut leaves.
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

// DropCaches forgets what the system shows and the disk does not have, except
// for what is still to be synced: the pages of a failed sync read as the disk
// has them.
func (m *Mem) DropCaches() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root.dropCaches()
}

func (n *node) dropCaches() {
	n.shown = n.mixed(len(n.shown), func(page int) bool { return n.dirty[page] })
	for _, entry := range n.entries {
		entry.dropCaches()
	}
}

// Sum is a checksum of all names and contents.
func (m *Mem) Sum() [sha256.Size]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := sha256.New()
	m.root.sum(h, "/")
	return [sha256.Size]byte(h.Sum(nil))
}

func (n *node) sum(h hash.Hash, name string) {
	fmt.Fprintf(h, "%q %v %d\n", name, n.dir, len(n.shown))
	h.Write(n.shown)
	for _, base := range slices.Sorted(maps.Keys(n.entries)) {
		n.entries[base].sum(h, path.Join(name, base))
	}
}

// Images yields what a power cut can leave: nothing but what was synced ("none"),
// all that the system shows ("all"), and a number of random parts of the rest
// ("some 1" and so on), which are the same in every run with the same seed.
func (m *Mem) Images(parts int, seed uint64) iter.Seq2[string, *Mem] {
	return func(yield func(string, *Mem) bool) {
		if !yield("none", m.PowerCut(func() bool { return false })) || !yield("all", m.PowerCut(func() bool { return true })) {
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
