//go:build !windows

package journal

import (
	"io/fs"
	"syscall"
)

// inode tells files of one name apart; 0 when the file system cannot say.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
