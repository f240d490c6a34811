package journal

import (
	"errors"
	"path/filepath"
)

// Close syncs what was appended and gives up the lock. A Log that is poisoned
// is closed without a sync, and its failure returned.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.usable()
	if err == nil {
		err = l.sync()
	}
	l.closed = true
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return errors.Join(err, l.release())
}

// Discard closes the Log and removes the journal, if it had no event before: for
// somebody who could not write all that belongs into it, and has told nobody of
// it. Any other Log stays open, and its journal as it is, with all that was
// appended.
func (l *Log) Discard() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.fresh || l.file == nil {
		return nil
	}
	l.closed = true
	err := l.file.Close()
	l.file = nil
	// Crash here leaves what was written, and at last a lock file, which is no
	// journal.
	err = errors.Join(err, l.dir.removeAll(l.files.path(), l.files.lockPath()), l.dir.fs.SyncDir(l.files.dir))
	return errors.Join(err, l.release())
}

func (l *Log) release() error {
	if l.unlock == nil {
		return nil
	}
	unlock := l.unlock
	l.unlock = nil
	return unlock()
}

// tidy removes the unfinished files that a crash left beside the journal and
// beside its archive. Only the holder of the lock may: they could be somebody's
// work otherwise.
func (l *Log) tidy() {
	l.dir.fs.Remove(l.files.path() + tmpSuffix)
	l.dir.fs.Remove(filepath.Join(l.files.dir, archiveDir, l.files.id+archiveSuffix+tmpSuffix))
}
