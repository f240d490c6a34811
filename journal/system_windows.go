package journal

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// replacesOpenFile reports whether a file can be replaced while it is open.
const replacesOpenFile = false

// processEnded reports whether a process has ended. OpenProcess also succeeds for a process
// that has ended, as long as some process has a handle to it.
func processEnded(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// links returns 1, as if no file had a second name: to create one takes the permission to
// change the file.
func links(fs.FileInfo) uint64 { return 1 }
