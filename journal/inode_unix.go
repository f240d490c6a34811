//go:build !windows

package journal

import (
	"io/fs"
	"syscall"
)

// inode returns the inode number of a file, or 0 if it has none.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
