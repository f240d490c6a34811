package workspace

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// stat is what tells whether a file has changed.
type stat struct {
	mode  uint32 // as stat(2) has it
	size  int64
	mtime int64 // in nanoseconds since 1970
	ctime int64
	inode uint64
}

// cached is a file of the last capture.
type cached struct {
	path string
	stat stat
	hash objects.Hash
}

// cache has the files of the last capture. It can be deleted at any time: the next capture then reads every file.
type cache struct {
	packs   []string // of the store: without one of these, contents may be missing
	tree    objects.Hash
	started int64    // when the capture started, in nanoseconds since 1970
	files   []cached // sorted by path
}

const (
	cacheName  = "cache"
	cacheMagic = "agent-chatter files 1\n"
	maxCache   = 1 << 30 // in bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the file: cacheMagic, the names of the packs, the tree, the time, the files, and the CRC-32C of all
// that.
func (c *cache) encode() []byte {
	data := []byte(cacheMagic)
	text := func(s string) {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	data = binary.AppendUvarint(data, uint64(len(c.packs)))
	for _, name := range c.packs {
		text(name)
	}
	data = append(data, c.tree[:]...)
	data = binary.BigEndian.AppendUint64(data, uint64(c.started))
	data = binary.AppendUvarint(data, uint64(len(c.files)))
	for _, f := range c.files {
		text(f.path)
		data = binary.BigEndian.AppendUint32(data, f.stat.mode)
		for _, n := range []uint64{uint64(f.stat.size), uint64(f.stat.mtime), uint64(f.stat.ctime), f.stat.inode} {
			data = binary.BigEndian.AppendUint64(data, n)
		}
		data = append(data, f.hash[:]...)
	}
	return binary.BigEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// decodeCache returns nil if the data is damaged or of another version.
func decodeCache(data []byte) *cache {
	n := len(data) - 4
	if n < len(cacheMagic) || string(data[:len(cacheMagic)]) != cacheMagic ||
		crc32.Checksum(data[:n], castagnoli) != binary.BigEndian.Uint32(data[n:]) {
		return nil
	}
	d := decoder{rest: data[len(cacheMagic):n]}
	c := &cache{}
	for range d.uvarint() {
		c.packs = append(c.packs, string(d.next(d.uvarint())))
	}
	copy(c.tree[:], d.next(uint64(len(c.tree))))
	c.started = int64(d.uint64())
	for range d.uvarint() {
		f := cached{path: string(d.next(d.uvarint()))}
		f.stat = stat{d.uint32(), int64(d.uint64()), int64(d.uint64()), int64(d.uint64()), d.uint64()}
		copy(f.hash[:], d.next(uint64(len(f.hash))))
		c.files = append(c.files, f)
	}
	return c
}

// decoder reads data whose checksum is correct.
type decoder struct{ rest []byte }

func (d *decoder) next(n uint64) []byte {
	var part []byte
	part, d.rest = d.rest[:n], d.rest[n:]
	return part
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	d.next(uint64(size))
	return n
}

func (d *decoder) uint32() uint32 { return binary.BigEndian.Uint32(d.next(4)) }
func (d *decoder) uint64() uint64 { return binary.BigEndian.Uint64(d.next(8)) }

// readCache returns the cache of the last capture; an empty one if there is none that can be relied on.
func (w *Workspace) readCache() *cache {
	none := &cache{started: math.MinInt64}
	data, err := vfs.ReadFile(vfs.OS, filepath.Join(w.dir, cacheName), maxCache)
	if err != nil {
		return none
	}
	c := decodeCache(data)
	packs, err := w.packs()
	if c == nil || err != nil {
		return none
	}
	for _, name := range c.packs {
		if !slices.Contains(packs, name) {
			return none // its contents may be missing
		}
	}
	return c
}

func (w *Workspace) packs() ([]string, error) {
	entries, err := vfs.OS.ReadDir(w.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".pack" {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// writeCache replaces the cache. It ignores errors: the next capture then reads more.
func (w *Workspace) writeCache(c *cache) {
	if c.packs, _ = w.packs(); c.packs != nil {
		vfs.WriteFile(vfs.OS, filepath.Join(w.dir, cacheName), c.encode())
	}
}
