package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// A writer appends records to a log file. Each Write is one record: it opens the file,
// appends the record with one write(2) and closes the file, so that the records of
// several processes do not mix and a renamed file is not written to for long. It must
// not be used concurrently; package slog serializes the records of a handler.
type writer struct {
	path  string // its directory, in an existing one, is created with mode 0700, the file with 0600
	limit int64  // bytes; a file of this size or more is renamed to path.1 before a write
	keep  int    // the number of renamed files: path.1 is the newest

	created bool // the directory; one that vanishes, as its disk is unmounted, is not created again
}

// Write implements io.Writer. It refuses a log file that is a link, a directory, a named
// pipe or a device with a *regularfile.KindError.
func (w *writer) Write(record []byte) (int, error) {
	if !w.created {
		if err := os.Mkdir(filepath.Dir(w.path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
		w.created = true
	}
	info, err := os.Lstat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0, err
	case info.Mode().IsRegular() && info.Size() >= w.limit:
		if err := w.rotate(); err != nil {
			return 0, err
		}
	}
	f, err := regularfile.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|regularfile.NoFollow, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(record)
	return n, errors.Join(err, f.Close())
}

// rotate renames the file, unless another process is doing so or has done so.
func (w *writer) rotate() error {
	lock, err := vfs.LockFile(vfs.OS, w.path+".lock")
	if errors.Is(err, journal.ErrLocked) {
		return nil // the file exceeds its limit by a record
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if info, err := os.Lstat(w.path); err != nil || info.Size() < w.limit {
		return nil
	}
	for n := w.keep; n > 1; n-- {
		// Crash here leaves a gap in the numbers. The next rotation moves the rest.
		if err := os.Rename(w.numbered(n-1), w.numbered(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(w.path, w.numbered(1))
}

func (w *writer) numbered(n int) string { return fmt.Sprintf("%s.%d", w.path, n) }
