package doctor

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// readOnlyFS is a file system that refuses every change with EROFS.
type readOnlyFS struct{ vfs.FS }

func (r readOnlyFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag != os.O_RDONLY {
		return nil, readOnlyError("open", name)
	}
	return r.FS.OpenFile(name, flag, perm)
}

func (readOnlyFS) Mkdir(name string, _ fs.FileMode) error { return readOnlyError("mkdir", name) }

func (readOnlyFS) Rename(name, _ string) error { return readOnlyError("rename", name) }

func (readOnlyFS) Remove(name string) error { return readOnlyError("remove", name) }

func readOnlyError(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
}
