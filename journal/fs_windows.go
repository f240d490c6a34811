package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// openFlags are the flags that OpenFile passes on. Windows cannot truncate a file that
// was opened only to be appended to: Write seeks to its end instead.
const openFlags = ^os.O_APPEND

// noLink has no effect: with regularfile.NoFollow, Windows returns other bytes of a file
// that is stored elsewhere, such as in a cloud. Creating a link takes a privilege there.
const noLink = 0

// replacesOpenFile reports whether a file can be replaced while it is open.
const replacesOpenFile = false

const (
	renameTries    = 50 // while another program has the file of the new name open
	renameInterval = 10 * time.Millisecond
)

// rename renames a file. Windows replaces no file that is open: a reader or a follower
// of the journal has it open for a moment, and so may a virus scanner.
func rename(oldname, newname string) (err error) {
	for range renameTries {
		err = os.Rename(oldname, newname)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			break
		}
		time.Sleep(renameInterval)
	}
	return err
}

// The locked byte is far beyond the end of a file: Windows refuses to read what another
// process has locked.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

func lockOpen(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := lockedByte
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	}
	return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
}

func unlockOpen(f *os.File) {
	at := lockedByte
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// Write appends if the file was opened with os.O_APPEND.
func (f *osFile) Write(p []byte) (int, error) {
	if f.appends {
		if _, err := f.Seek(0, io.SeekEnd); err != nil {
			return 0, err
		}
	}
	return f.File.Write(p)
}

// CopyAccess does nothing: a new file inherits its access list from the directory.
func (f *osFile) CopyAccess(fs.FileInfo) {}

func shareDir(string, fs.FileMode) {}

// processEnded reports whether a process has ended. A process that has ended can still
// be opened while another one has it open.
func processEnded(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// links returns 1: only who may change a file can give it another name.
func links(fs.FileInfo) uint64 { return 1 }

// inode returns 0: callers rely on size and modification time.
func inode(fs.FileInfo) uint64 { return 0 }
