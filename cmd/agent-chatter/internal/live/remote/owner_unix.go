//go:build unix

package remote

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a directory belongs to the user, and only the user can use it.
func isOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// isRefused reports whether nothing listens on a socket.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
