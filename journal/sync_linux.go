package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync, which syncs the size but not the time stamps. That
// suffices for a file that only grows.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return pathError("sync", f.Name(), err)
		}
	}
}
