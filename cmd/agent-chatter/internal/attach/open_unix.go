//go:build !windows

package attach

import (
	"os"
	"syscall"
)

// openFlag opens a file without waiting for the other end of a named pipe.
const openFlag = os.O_RDONLY | syscall.O_NONBLOCK
