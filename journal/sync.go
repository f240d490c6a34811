package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// inPlace reports the loss when the file that is written to is not the one that
// has the journal's name any more: somebody removed it. What cannot be looked
// at counts as unchanged.
func (l *Log) inPlace() error {
	there, err := l.dir.fs.Stat(l.files.path())
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, oursErr := l.file.Stat()
	if err == nil && oursErr == nil && !l.dir.fs.SameFile(there, ours) {
		return errUsurped
	}
	return nil
}

// whole reports that the file is shorter than what was written to it: somebody
// cut it. What is behind the last sync can be written again from memory.
func (l *Log) whole() error {
	info, err := l.file.Stat()
	if err == nil && info.Size() < l.end.Offset {
		return cutError(info.Size(), l.end.Offset)
	}
	return nil
}

// cutError says how much of a file is missing.
func cutError(size, wrote int64) error {
	return fmt.Errorf("somebody cut it: it has %d bytes of %d", size, wrote)
}

// Sync returns nil when every event that was appended is on the disk. A failed
// Sync is never repeated on the same file, whose pages the system may have
// dropped: the Log refuses everything (ErrPoisoned) until Recover has written a
// new one.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.sync()
}

func (l *Log) sync() error {
	if l.file == nil || l.syncedAt == l.end && len(l.dirs) == 0 {
		return nil
	}
	if err := l.inPlace(); err != nil {
		l.failure = &failure{err: err, sync: true, lost: true}
		return l.usable()
	}
	err := l.whole()
	if err == nil {
		err = l.file.Sync()
	}
	for err == nil && len(l.dirs) > 0 {
		// Crash here leaves a file that is on the disk without its name.
		if err = l.dir.fs.SyncDir(l.dirs[0]); err == nil {
			l.dirs = l.dirs[1:]
		}
	}
	if err != nil {
		l.failure = &failure{err: err, sync: true}
		return l.usable()
	}
	l.syncedAt, l.unsynced = l.end, l.unsynced[:0]
	if cap(l.unsynced) > maxSpare {
		l.unsynced = nil
	}
	return nil
}
