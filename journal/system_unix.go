//go:build !windows

package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// replacesOpenFile reports whether a file can be replaced while it is open.
const replacesOpenFile = true

func processEnded(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// links returns the number of names of a file.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
