package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// A slot is the right to run a program between turns. A program of Residents with a directory has a file there, which
// the process locks: the system frees it if the process dies. Its size says what the program does, and its time of
// change since when it waits.
type slot struct {
	path string // "": other processes do not know it
	file vfs.File
}

// The sizes of a slot's file.
const (
	sizeWorking = iota // or the slot is free
	sizeWaiting
	sizeAsked // waiting, and to be ended
)

func (r *Residents) max() int { return cmp.Or(r.Max, maxResidents) }

// freeSlot returns a slot that nothing uses; nil if there is none. Without a usable directory, only this process
// counts.
func (r *Residents) freeSlot() *slot {
	if r.Dir != "" && os.MkdirAll(r.Dir, 0o700) == nil {
		for n := range r.max() {
			path := slotPath(r.Dir, n)
			file, err := vfs.LockFile(vfs.OS, path)
			if err == nil {
				s := &slot{path, file}
				s.setWaiting(false)
				return s
			}
			if !errors.Is(err, vfs.ErrLocked) {
				return r.unnamedSlot()
			}
		}
		return nil
	}
	return r.unnamedSlot()
}

func slotPath(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%d.lock", n+1)) }

func (r *Residents) unnamedSlot() *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unnamed >= r.max() {
		return nil
	}
	r.unnamed++
	return &slot{}
}

// release frees a slot. nil is none.
func (r *Residents) release(s *slot) {
	switch {
	case s == nil:
	case s.file == nil:
		r.mu.Lock()
		r.unnamed--
		r.mu.Unlock()
	default:
		_ = os.Remove(s.path) // a file without a lock is free, too
		_ = s.file.Close()
	}
}

// setWaiting notes for other processes whether the program waits. A failure makes another program seem to wait longer.
func (s *slot) setWaiting(waiting bool) {
	if s == nil || s.file == nil {
		return
	}
	_ = s.file.Truncate(sizeWorking)
	if waiting {
		_ = s.file.Truncate(sizeWaiting)
	}
}

// isAsked reports whether another process has asked to end the program.
func (s *slot) isAsked() bool {
	if s.file == nil {
		return false
	}
	info, err := s.file.Stat()
	return err == nil && info.Size() >= sizeAsked
}

// longestWaiting returns the path of the slot whose program has waited longest, of all processes; "" if none is known.
func longestWaiting(dir string, most int) (longest string) {
	var since time.Time
	for n := range most {
		if dir == "" {
			break
		}
		info, err := os.Lstat(slotPath(dir, n))
		if err == nil && info.Mode().IsRegular() && info.Size() == sizeWaiting &&
			(longest == "" || info.ModTime().Before(since)) {
			longest, since = slotPath(dir, n), info.ModTime()
		}
	}
	return longest
}

// askToEnd asks the process with a slot to end the program that waits there.
func askToEnd(path string) {
	file, err := regularfile.OpenFile(path, os.O_WRONLY|os.O_APPEND|regularfile.NoFollow, fs.FileMode(0))
	if err == nil {
		_, _ = file.WriteString("e")
		_ = file.Close()
	}
}

// A slotWatch calls a function when a slot may have changed.
type slotWatch struct{ system *fsnotify.Watcher }

// watchSlots returns nil if the system refuses notifications: then no other process can end the programs.
func watchSlots(dir string, changed func()) *slotWatch {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	if err := system.Add(dir); err != nil {
		_ = system.Close()
		return nil
	}
	go func() { // ends when the watcher is closed
		events, failures := system.Events, system.Errors
		for {
			select {
			case _, ok := <-events:
				if !ok {
					return
				}
			case _, ok := <-failures: // notifications may be lost
				if !ok {
					return
				}
			}
			changed()
		}
	}()
	return &slotWatch{system}
}

func (w *slotWatch) close() {
	if w != nil {
		_ = w.system.Close()
	}
}
