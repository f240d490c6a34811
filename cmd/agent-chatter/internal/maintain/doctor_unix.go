//go:build linux || darwin

package maintain

import (
	"io/fs"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner is the number of the user whose file it is.
func owner(info fs.FileInfo) (uid int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// mayWrite returns nil when this user may make files in a directory.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// space is what this user may still fill of the disk. A disk without a limit of
// inodes has the greatest number of them.
func space(path string) (bytes, inodes uint64, err error) {
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
