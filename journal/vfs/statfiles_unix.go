//go:build !windows

package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// statIn returns a function that describes files of an open directory. It uses
// the open directory, which saves resolving its path for each file.
func statIn(dir *os.File) func(name string) FileStat {
	fd := int(dir.Fd())
	return func(name string) FileStat {
		var st unix.Stat_t
		err := unix.Fstatat(fd, name, &st, 0)
		for err == unix.EINTR {
			err = unix.Fstatat(fd, name, &st, 0)
		}
		if err != nil {
			return FileStat{Name: name, Err: &fs.PathError{Op: "stat", Path: filepath.Join(dir.Name(), name), Err: err}}
		}
		return FileStat{
			Name: name, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
			Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()), Inode: uint64(st.Ino),
		}
	}
}
