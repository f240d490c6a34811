package journal

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// followInterval is the interval of polling, and so the delay that a lost
// notification causes.
const followInterval = 250 * time.Millisecond

// Watch notifies followers of changes to the files of their journals. The system
// limits the number of watchers per user (Linux: 128), so Dirs can share a Watch. It
// holds a watcher of the system only while there are followers. A Watch may be used
// by several goroutines. The zero Watch is ready to use.
type Watch struct {
	// Refused is called at most once, from any goroutine, with the reason if the
	// system refuses notifications, such as a limit. Followers then poll four times
	// a second and keep requesting notifications. nil: refusals are not reported.
	Refused func(reason error)

	open        func() (*fsnotify.Watcher, error) // nil: fsnotify.NewWatcher
	refusedOnce sync.Once

	mu      sync.Mutex // not held during calls of the system's watcher
	system  *fsnotify.Watcher
	waiters map[*waiter]bool
}

// waiter is the share of one follower in a Watch. A notification is only a hint;
// the ticker guarantees delivery.
type waiter struct {
	watch  *Watch
	dir    string
	prefix string        // of the paths of its journal
	woken  chan struct{} // capacity 1: any number of changes needs one check
	ticker *time.Ticker
}

// join adds a waiter for the files of one journal.
func (w *Watch) join(f Files) *waiter {
	one := &waiter{w, f.Dir, f.Live(), make(chan struct{}, 1), time.NewTicker(followInterval)}
	w.mu.Lock()
	if w.waiters == nil {
		w.waiters = map[*waiter]bool{}
	}
	w.waiters[one] = true
	w.mu.Unlock()
	w.add(one.dir)
	return one
}

// add requests notifications of a directory. A repeated request has no effect,
// unless the directory was missing or replaced, or the system had refused.
func (w *Watch) add(dir string) {
	system, err := w.watcher()
	if err == nil {
		err = system.Add(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && w.Refused != nil {
		w.refusedOnce.Do(func() { w.Refused(err) })
	}
}

// watcher returns the system's watcher, and opens it if necessary.
func (w *Watch) watcher() (*fsnotify.Watcher, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.system != nil {
		return w.system, nil
	}
	open := w.open
	if open == nil {
		open = fsnotify.NewWatcher
	}
	system, err := open()
	if err != nil {
		return nil, err
	}
	w.system = system
	go w.listen(system)
	return system, nil
}

// listen passes on the notifications of a watcher until it is closed.
func (w *Watch) listen(system *fsnotify.Watcher) {
	events, failures := system.Events, system.Errors
	for {
		select {
		case event, ok := <-events:
			if !ok {
				return
			}
			w.wake(filepath.Clean(event.Name)) // the system reports ./name
		case _, ok := <-failures:
			if !ok {
				return
			}
			w.wake("") // such as an overflow: any notification may be lost
		}
	}
}

// wake wakes the waiters that a change of a path concerns; "" wakes all.
func (w *Watch) wake(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.waiters {
		// A change of the directory may be its removal.
		if path == "" || strings.HasPrefix(path, one.prefix) || path == one.dir {
			select {
			case one.woken <- struct{}{}:
			default: // already woken
			}
		}
	}
}

// wait returns true when it is time to check again, false when ctx is done.
func (one *waiter) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-one.woken:
	case <-one.ticker.C:
		one.watch.add(one.dir)
	}
	return true
}

// leave removes the waiter, and closes the system's watcher after the last one. Until
// then, notifications of a directory without waiters continue.
func (one *waiter) leave() {
	one.ticker.Stop()
	w := one.watch
	w.mu.Lock()
	delete(w.waiters, one)
	var unused *fsnotify.Watcher
	if len(w.waiters) == 0 {
		unused, w.system = w.system, nil
	}
	w.mu.Unlock()
	if unused != nil {
		unused.Close()
	}
}
