//go:build !windows

package journal

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// statIn describes files of an open directory as Stat does, but does not look
// for the directory each time.
func statIn(dir *os.File) func(name string) Described {
	fd := int(dir.Fd())
	return func(name string) Described {
		var st unix.Stat_t
		err := unix.Fstatat(fd, name, &st, 0)
		for err == unix.EINTR {
			err = unix.Fstatat(fd, name, &st, 0)
		}
		if err != nil {
			return Described{Name: name, Err: &fs.PathError{Op: "stat", Path: filepath.Join(dir.Name(), name), Err: err}}
		}
		return Described{
			Name: name, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
			Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()), Inode: uint64(st.Ino),
		}
	}
}
