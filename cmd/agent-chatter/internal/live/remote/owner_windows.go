package remote

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// isOwn reports true: the directory has the rights of the home.
func isOwn(fs.FileInfo) bool { return true }

// isRefused reports whether nothing listens on a socket.
func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
