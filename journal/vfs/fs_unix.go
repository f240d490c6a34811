//go:build !windows

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"golang.org/x/sys/unix"
)

var openFile = regularfile.OpenFile

// NoLink makes OpenFile refuse a name that is a symbolic link.
const NoLink = regularfile.NoFollow

func rename(oldname, newname string) error { return os.Rename(oldname, newname) }

func lockOpen(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case !errors.Is(err, unix.EINTR):
			return pathError("lock", f.Name(), err)
		}
	}
}

func unlockOpen(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// shareDir gives a new directory its permissions. It refuses a link that has taken the
// directory's place, and ignores errors: a directory that stays private only keeps
// other users out.
func shareDir(name string, perm fs.FileMode) {
	d, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return
	}
	defer d.Close()
	d.Chmod(perm)
}

// CopyAccess gives the file the permissions and the group of another file.
func (f *osFile) CopyAccess(from fs.FileInfo) {
	perm := from.Mode().Perm()
	if st, ok := from.Sys().(*syscall.Stat_t); ok && f.Chown(-1, int(st.Gid)) != nil {
		if own, err := f.Stat(); err != nil || !sameGroup(own, st) {
			perm &^= groupDir
		}
	}
	f.Chmod(perm)
}

func sameGroup(info fs.FileInfo, other *syscall.Stat_t) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Gid == other.Gid
}

// inode returns the inode number of a file, or 0 if it has none.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
