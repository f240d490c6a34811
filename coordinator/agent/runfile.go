package agent

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	runFilePrefix = "agent-chatter-run-" // of directories
	runFileLock   = "lock"
	// runFileAge is how old a directory must be before another process removes it: it may not have its lock yet.
	runFileAge = time.Minute
)

// newRunFile writes a file that only the user can read, in a directory of its own, for a program that reads it
// while it runs. remove removes it. What is left of processes that died before remove is removed first: a process
// holds the lock in its directory for as long as it needs the file.
func newRunFile(name string, content []byte) (path string, remove func(), err error) {
	removeLeftRunFiles(time.Now())
	dir, err := os.MkdirTemp("", runFilePrefix) // mode 0700
	if err != nil {
		return "", nil, err
	}
	// Crash here leaves a directory without a lock, which is removed when it is old.
	lock, err := vfs.LockFile(vfs.OS, filepath.Join(dir, runFileLock))
	path = filepath.Join(dir, name)
	if err == nil {
		if err = os.WriteFile(path, content, 0o600); err == nil {
			return path, func() {
				_ = lock.Close() // some systems remove no open file
				_ = os.RemoveAll(dir)
			}, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return "", nil, errors.Join(err, os.RemoveAll(dir))
}

// removeLeftRunFiles removes the directories of processes that died.
func removeLeftRunFiles(now time.Time) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), runFilePrefix+"*")) // the pattern is valid
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < runFileAge {
			continue
		}
		if lock, err := vfs.LockFile(vfs.OS, filepath.Join(dir, runFileLock)); err == nil {
			_ = lock.Close()
			_ = os.RemoveAll(dir)
		}
	}
}
