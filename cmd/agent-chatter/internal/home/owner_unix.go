//go:build unix

package home

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// foreignOwner returns the user id of the owner if that is neither this user nor the superuser; -1 if it is.
func foreignOwner(info fs.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid() {
		return -1
	}
	return int(st.Uid)
}

// directoryID returns the device and the inode of a directory.
func directoryID(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// othersWrite reports whether the mode permits others to write. A group with the number of the owner is the owner's
// own, by convention: a umask of 002 is common with it.
func othersWrite(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode()&0o002 != 0 || info.Mode()&0o020 != 0 && !(ok && st.Gid == st.Uid)
}
