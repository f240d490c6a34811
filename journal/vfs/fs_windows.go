package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"golang.org/x/sys/windows"
)

// NoLink makes OpenFile refuse a name that is a symbolic link. It is a bit that no flag
// of package os uses.
const NoLink = 1 << 30

// openFile opens a file as regularfile.OpenFile does, with two differences.
//
// It does not pass on os.O_APPEND: Windows cannot truncate a file that was opened only to
// be appended to. Write seeks to its end instead.
//
// For NoLink it checks the name before it opens the file, so that a link which replaces the
// file in between is followed. regularfile.NoFollow does not follow it, but opens a file of
// a cloud storage without its content.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&NoLink != 0 {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: &regularfile.KindError{Mode: info.Mode()}}
		}
	}
	return regularfile.OpenFile(name, flag&^(os.O_APPEND|NoLink), perm)
}

const (
	renameTries    = 50 // while another program has the file of the new name open
	renameInterval = 10 * time.Millisecond
)

// rename is os.Rename, repeated for half a second while another program has the replaced
// file open: Windows replaces no open file, and a reader or follower of the journal, or a
// virus scanner, may have it open for a moment.
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

// inode returns 0: callers rely on size and modification time.
func inode(fs.FileInfo) uint64 { return 0 }
