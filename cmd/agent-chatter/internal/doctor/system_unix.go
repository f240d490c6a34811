//go:build linux || darwin

package doctor

import (
	"io/fs"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner returns the user id of a file's owner. known is false if info is not from the operating system.
func owner(info fs.FileInfo) (uid int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// checkWritable returns nil if the user may create files in a directory.
func checkWritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// freeSpace returns the bytes and inodes that the user can still allocate on the file
// system of path. A file system without a limit of inodes has math.MaxUint64.
func freeSpace(path string) (bytes, inodes uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	inodes = uint64(st.Ffree)
	if st.Files == 0 {
		inodes = math.MaxUint64
	}
	return uint64(st.Bavail) * uint64(st.Bsize), inodes, nil
}
