package journaltest

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Mem is a vfs.FS in memory that distinguishes the content of the page cache
// from that of the disk. Its clock advances by a millisecond with every change. It
// may be used by several goroutines.
type Mem struct {
	mu      sync.Mutex
	root    *node
	inodes  uint64
	now     time.Time
	changes []*change // of directories that may not be on the disk, oldest first
}

// node is a file or a directory.
type node struct {
	inode   uint64
	dir     bool
	modTime time.Time
	locked  *memFile // nil: it is not locked

	// A directory's entries in the cache, and on the disk without Mem.changes.
	entries, kept map[string]*node

	content // a file's
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	m.root = m.newNode(true)
	return m
}

func (m *Mem) newNode(dir bool) *node {
	m.inodes++
	n := &node{inode: m.inodes, dir: dir, modTime: m.tick()}
	if dir {
		n.entries, n.kept = map[string]*node{}, map[string]*node{}
	}
	return n
}

func (m *Mem) tick() time.Time {
	m.now = m.now.Add(time.Millisecond)
	return m.now
}

// find resolves a name. The parent is nil if it does not exist.
func (m *Mem) find(name string) (parent *node, base string, n *node) {
	parts := strings.FieldsFunc(filepath.ToSlash(filepath.Clean(name)), func(r rune) bool { return r == '/' })
	n = m.root
	for _, base = range parts {
		if n == nil || !n.dir {
			return nil, base, nil
		}
		parent, n = n, n.entries[base]
	}
	return parent, base, n
}

func failure(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// OpenFile supports the flags of package os and ignores permissions.
func (m *Mem) OpenFile(name string, flag int, _ fs.FileMode) (vfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, base, n := m.find(name)
	switch {
	case n != nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, failure("open", name, syscall.EEXIST)
	case n != nil && n.dir:
		return nil, failure("open", name, syscall.EISDIR)
	case n == nil && (parent == nil || flag&os.O_CREATE == 0):
		return nil, failure("open", name, syscall.ENOENT)
	case n == nil:
		n = m.newNode(false)
		m.apply(&change{node: n, to: place{parent, base}})
	case flag&os.O_TRUNC != 0 && len(n.cached) > 0:
		n.truncate(0)
		n.modTime = m.tick()
	}
	return &memFile{mem: m, node: n, name: base, flag: flag}, nil
}

// Mkdir creates one directory.
func (m *Mem) Mkdir(name string, _ fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, base, n := m.find(name)
	if n != nil {
		return failure("mkdir", name, syscall.EEXIST)
	}
	if parent == nil {
		return failure("mkdir", name, syscall.ENOENT)
	}
	m.apply(&change{node: m.newNode(true), to: place{parent, base}})
	return nil
}

// ReadDir lists a directory, sorted by name.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, n := m.find(name)
	if n == nil {
		return nil, failure("open", name, syscall.ENOENT)
	}
	if !n.dir {
		return nil, failure("readdir", name, syscall.ENOTDIR)
	}
	var entries []fs.DirEntry
	for _, base := range slices.Sorted(maps.Keys(n.entries)) {
		entries = append(entries, fs.FileInfoToDirEntry(n.entries[base].info(base)))
	}
	return entries, nil
}

// StatFiles describes files, sorted by name.
func (m *Mem) StatFiles(_ context.Context, dir string, match func(string) bool) (files []vfs.FileStat, err error) {
	entries, err := m.ReadDir(dir)
	for _, entry := range entries {
		if match(entry.Name()) {
			info, err := entry.Info()
			files = append(files, vfs.NewFileStat(entry.Name(), info, err))
		}
	}
	return files, err
}

// Stat describes a file or a directory.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, base, n := m.find(name)
	if n == nil {
		return nil, failure("stat", name, syscall.ENOENT)
	}
	return n.info(base), nil
}

// SameFile compares what Stat and File.Stat return.
func (m *Mem) SameFile(a, b fs.FileInfo) bool { return a.(info).inode == b.(info).inode }

// Rename renames a file, also to another directory, and replaces newname.
func (m *Mem) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, oldBase, n := m.find(oldname)
	to, newBase, replaced := m.find(newname)
	switch {
	case n == nil || to == nil:
		return failure("rename", oldname, syscall.ENOENT)
	case replaced != nil && replaced.dir:
		return failure("rename", newname, syscall.EEXIST)
	case replaced != n:
		m.apply(&change{node: n, from: place{from, oldBase}, to: place{to, newBase}})
	}
	return nil
}

// Remove removes a file or an empty directory.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, base, n := m.find(name)
	if n == nil || parent == nil {
		return failure("remove", name, syscall.ENOENT)
	}
	if len(n.entries) > 0 {
		return failure("remove", name, syscall.ENOTEMPTY)
	}
	m.apply(&change{node: n, from: place{parent, base}})
	return nil
}

// SyncDir writes the changes of a directory's entries to the disk. A rename between
// two directories is on the disk when both are synced.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, n := m.find(name)
	if n == nil {
		return failure("open", name, syscall.ENOENT)
	}
	m.syncDir(n)
	return nil
}

// memFile is an open file of a Mem.
type memFile struct {
	mem    *Mem
	node   *node
	name   string
	flag   int
	offset int64
	closed bool
}

// use locks the file system for one operation on the file.
func (f *memFile) use(op string) (done func(), err error) {
	f.mem.mu.Lock()
	if f.closed {
		f.mem.mu.Unlock()
		return nil, failure(op, f.name, fs.ErrClosed)
	}
	return f.mem.mu.Unlock, nil
}

func (f *memFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, err
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	done, err := f.use("read")
	if err != nil {
		return 0, err
	}
	defer done()
	if off >= int64(len(f.node.cached)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.cached[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) {
	done, err := f.use("write")
	if err != nil {
		return 0, err
	}
	defer done()
	if f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return 0, failure("write", f.name, syscall.EBADF)
	}
	if f.flag&os.O_APPEND != 0 {
		f.offset = int64(len(f.node.cached))
	}
	f.node.write(p, f.offset)
	f.node.modTime = f.mem.tick()
	f.offset += int64(len(p))
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	done, err := f.use("truncate")
	if err != nil {
		return err
	}
	defer done()
	f.node.truncate(size)
	f.node.modTime = f.mem.tick()
	return nil
}

func (f *memFile) Sync() error {
	done, err := f.use("sync")
	if err != nil {
		return err
	}
	defer done()
	f.node.sync()
	return nil
}

// failSync has the effect of a failed sync: the system drops the pages that it could
// not write, so that the next sync does not write them.
func (f *memFile) failSync() {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	f.node.dirty = nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	done, err := f.use("stat")
	if err != nil {
		return nil, err
	}
	defer done()
	return f.node.info(f.name), nil
}

func (f *memFile) Close() error {
	done, err := f.use("close")
	if err != nil {
		return err
	}
	defer done()
	f.closed = true
	if f.node.locked == f {
		f.node.locked = nil
	}
	return nil
}

// Lock locks the file until Close or until the power is cut.
func (f *memFile) Lock() error {
	done, err := f.use("lock")
	if err != nil {
		return err
	}
	defer done()
	if f.node.locked != nil {
		return journal.ErrLocked
	}
	f.node.locked = f
	return nil
}

// CopyAccess does nothing: a Mem has no permissions.
func (f *memFile) CopyAccess(fs.FileInfo) {}

// info describes a node at the time of the call.
type info struct {
	name    string
	size    int64
	dir     bool
	modTime time.Time
	inode   uint64
}

func (n *node) info(name string) info {
	return info{name, int64(len(n.cached)), n.dir, n.modTime, n.inode}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return sys(i.inode) }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
