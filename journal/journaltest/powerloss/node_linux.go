package powerloss

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node presents a file to FUSE. The kernel handles locks.
type node struct {
	fs.Inode
	disk *Disk
	file *file
}

var (
	_ fs.NodeLookuper  = (*node)(nil)
	_ fs.NodeGetattrer = (*node)(nil)
	_ fs.NodeSetattrer = (*node)(nil)
	_ fs.NodeCreater   = (*node)(nil)
	_ fs.NodeMkdirer   = (*node)(nil)
	_ fs.NodeOpener    = (*node)(nil)
	_ fs.NodeReader    = (*node)(nil)
	_ fs.NodeWriter    = (*node)(nil)
	_ fs.NodeFsyncer   = (*node)(nil)
	_ fs.NodeReaddirer = (*node)(nil)
	_ fs.NodeRenamer   = (*node)(nil)
	_ fs.NodeUnlinker  = (*node)(nil)
	_ fs.NodeRmdirer   = (*node)(nil)
)

func (f *file) mode() uint32 {
	if f.dir {
		return syscall.S_IFDIR | 0o700
	}
	return syscall.S_IFREG | 0o600
}

func (f *file) describe(out *fuse.Attr) {
	out.Ino, out.Mode, out.Size, out.Nlink, out.Blksize = f.id, f.mode(), uint64(len(f.data)), 1, pageSize
	out.Blocks = (out.Size + 511) / 512
}

// inode returns the inode of a file for the kernel.
func (n *node) inode(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	f.describe(&out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, file: f}, fs.StableAttr{Mode: f.mode(), Ino: f.id})
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.disk.beginRead(); errno != 0 {
		return nil, errno
	}
	defer n.disk.end()
	f, ok := n.file.entries[name]
	if !ok {
		return nil, syscall.ENOENT
	}
	return n.inode(ctx, f, out), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if errno := n.disk.beginRead(); errno != 0 {
		return errno
	}
	defer n.disk.end()
	n.file.describe(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.disk.beginWrite(); errno != 0 {
		return errno
	}
	defer n.disk.end()
	if size, ok := in.GetSize(); ok {
		n.file.resize(int(size))
	}
	n.file.describe(&out.Attr)
	return 0
}

func (f *file) resize(size int) {
	if size > len(f.data) {
		f.data = append(f.data, make([]byte, size-len(f.data))...)
	}
	f.data = f.data[:size:size]
}

func (n *node) Create(
	ctx context.Context, name string, _, _ uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	inode, errno := n.add(ctx, name, false, out)
	return inode, nil, 0, errno
}

func (n *node) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, true, out)
}

func (n *node) add(ctx context.Context, name string, dir bool, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.disk.beginWrite(); errno != 0 {
		return nil, errno
	}
	defer n.disk.end()
	if _, ok := n.file.entries[name]; ok {
		return nil, syscall.EEXIST
	}
	f := n.disk.newFile(dir)
	n.file.entries[name] = f
	return n.inode(ctx, f, out), 0
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	if errno := n.disk.beginRead(); errno != 0 {
		return nil, errno
	}
	defer n.disk.end()
	read := copy(dest, n.file.data[min(offset, int64(len(n.file.data))):])
	return fuse.ReadResultData(dest[:read]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	if errno := n.disk.beginWrite(); errno != 0 {
		return 0, errno
	}
	defer n.disk.end()
	if end := int(offset) + len(data); end > len(n.file.data) {
		n.file.resize(end)
	}
	return uint32(copy(n.file.data[offset:], data)), 0
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	if errno := n.disk.beginWrite(); errno != 0 {
		return errno
	}
	defer n.disk.end()
	n.file.syncedData, n.file.syncedEntries = bytes.Clone(n.file.data), maps.Clone(n.file.entries)
	return 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	if errno := n.disk.beginRead(); errno != 0 {
		return nil, errno
	}
	defer n.disk.end()
	var list []fuse.DirEntry
	for _, name := range namesOf(n.file.entries) {
		f := n.file.entries[name]
		list = append(list, fuse.DirEntry{Name: name, Mode: f.mode(), Ino: f.id})
	}
	return fs.NewListDirStream(list), 0
}

// namesOf returns the names that any of the maps has, sorted, each once.
func namesOf(dirs ...map[string]*file) (names []string) {
	for _, entries := range dirs {
		names = slices.AppendSeq(names, maps.Keys(entries))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	if errno := n.disk.beginWrite(); errno != 0 {
		return errno
	}
	defer n.disk.end()
	f, ok := n.file.entries[name]
	if !ok {
		return syscall.ENOENT
	}
	delete(n.file.entries, name)
	to.EmbeddedInode().Operations().(*node).file.entries[newName] = f
	return 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) remove(name string) syscall.Errno {
	if errno := n.disk.beginWrite(); errno != 0 {
		return errno
	}
	defer n.disk.end()
	f, ok := n.file.entries[name]
	switch {
	case !ok:
		return syscall.ENOENT
	case len(f.entries) > 0:
		return syscall.ENOTEMPTY
	}
	delete(n.file.entries, name)
	return 0
}
