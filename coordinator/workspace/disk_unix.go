//go:build !windows

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// disk is the directory on the disk. No method follows a symbolic link below it.
type disk struct {
	fd   int
	real map[string]bool // whether a path is a directory that no link is part of
}

func openDisk(root string) (*disk, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	return &disk{fd, map[string]bool{".": true}}, nil
}

func (d *disk) close() { unix.Close(d.fd) }

// lstat describes a file, link or directory. It returns an error that matches fs.ErrNotExist also for a name below a
// link or a file.
func (d *disk) lstat(name string) (stat, error) {
	if !d.isDir(path.Dir(name)) {
		return stat{}, unix.ENOENT
	}
	var st unix.Stat_t
	err := ignoringEINTR(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOTDIR) {
		err = unix.ENOENT
	}
	return statOf(&st), err
}

// isDir reports whether a path is a directory and has no link in it. The answer is kept.
func (d *disk) isDir(name string) bool {
	if is, ok := d.real[name]; ok {
		return is
	}
	st, err := d.lstat(name)
	is := err == nil && st.mode&unix.S_IFMT == unix.S_IFDIR
	d.real[name] = is
	return is
}

// open opens a regular file for reading.
func (d *disk) open(name string) (*os.File, error) {
	parent, err := (&dir{d.fd}).directory(path.Dir(name), false)
	if err != nil {
		return nil, err
	}
	defer parent.close()
	fd, err := open(parent.fd, path.Base(name), openFlags|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openFlags open a file for reading, and no link.
const openFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// open is openat, repeated after a signal.
func open(fd int, name string, flags int, mode uint32) (opened int, err error) {
	err = ignoringEINTR(func() error {
		opened, err = unix.Openat(fd, name, flags, mode)
		return err
	})
	return opened, err
}

// readlink returns the text of a link.
func (d *disk) readlink(name string) (string, error) {
	text := make([]byte, maxLink+1)
	var n int
	err := ignoringEINTR(func() (err error) {
		n, err = unix.Readlinkat(d.fd, name, text)
		return err
	})
	if err == nil && n > maxLink {
		err = unix.ENAMETOOLONG
	}
	return string(text[:max(n, 0)]), err
}

// statFile describes an open file.
func statFile(f *os.File) (stat, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return statOf(&st), err
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// isOwn reports whether a file belongs to this user.
func isOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// freeBytes returns the free space of a file system for this user.
func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
