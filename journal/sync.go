package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// maxSpare bounds the buffer that a Log keeps for its next batches, in bytes.
const maxSpare = 4 << 20

// Sync returns nil when every event that was appended is on the disk. After a
// failed sync the system may have dropped the pages, so a Sync is not retried on
// the same file: the Log refuses every call (ErrPoisoned) until Recover has
// written a new file.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.sync()
}

func (l *Log) sync() error {
	if l.file == nil || l.synced == l.end && len(l.dirs) == 0 {
		return nil
	}
	if err := l.checkName(l.file); err != nil {
		l.failure = &failure{err: err, sync: true, lost: true}
		return l.usable()
	}
	if err := l.checkSize(); err != nil {
		return err
	}
	err := l.file.Sync()
	for err == nil && len(l.dirs) > 0 {
		// Crash here leaves a file whose name may not be on the disk.
		if err = l.dir.fs.SyncDir(l.dirs[0]); err == nil {
			l.dirs = l.dirs[1:]
		}
	}
	if err != nil {
		l.failure = &failure{err: err, sync: true}
		return l.usable()
	}
	l.synced, l.unsynced = l.end, l.unsynced[:0]
	if cap(l.unsynced) > maxSpare {
		l.unsynced = nil
	}
	return nil
}

// checkSize poisons the Log if the file does not end with the last acknowledged line:
// another program has truncated it or appended to it.
func (l *Log) checkSize() error {
	info, err := l.file.Stat()
	switch {
	case err != nil || info.Size() == l.end.Offset:
		return nil
	case info.Size() < l.end.Offset:
		// What follows the last sync can be written again from memory, to a new file.
		l.failure = &failure{err: truncatedError(info.Size(), l.end.Offset), sync: true}
	default:
		// Recover compares what follows the last sync with the memory.
		l.failure = &failure{err: grownError(info.Size(), l.end.Offset)}
	}
	return l.usable()
}

// checkName returns an error if an open file no longer has the journal's name:
// another program removed or replaced it. If that cannot be determined, it
// returns nil.
func (l *Log) checkName(file vfs.File) error {
	named, err := l.dir.fs.Stat(l.files.Live())
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	open, openErr := file.Stat()
	if err == nil && openErr == nil && !l.dir.fs.SameFile(named, open) {
		return errOtherFile
	}
	return nil
}

func truncatedError(size, want int64) error {
	return fmt.Errorf("another program truncated it: it has %d bytes of %d", size, want)
}

func grownError(size, want int64) error {
	return fmt.Errorf("another program has changed it: it has %d bytes, not %d", size, want)
}
