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

// followInterval is how long a lost notification can delay an event.
const followInterval = 250 * time.Millisecond

// Watch wakes followers when the system says that a file of theirs has changed.
// A user can have only so many watchers of the system (Linux: 128), so all Dirs
// that are given the same Watch share one. It is open while somebody follows.
// A Watch may be used from many goroutines; the zero Watch is ready.
type Watch struct {
	// Refused is called, once and from any goroutine, with the reason why the
	// system does not notify of a directory, such as a limit that is reached.
	// Followers then look by themselves, four times a second, and go on asking
	// for notifications. nil: nobody is told.
	Refused func(reason error)

	open func() (*fsnotify.Watcher, error) // nil: fsnotify.NewWatcher
	said sync.Once

	mu      sync.Mutex // never held while the system is asked for a directory
	system  *fsnotify.Watcher
	waiters map[*waiter]bool
}

// waiter is one follower's share of a Watch. A notification is a hint, the
// ticker is the promise.
type waiter struct {
	watch  *Watch
	dir    string
	prefix string        // of the paths that are its journal's
	woken  chan struct{} // holds one, so that any number of changes are one look
	ticker *time.Ticker
}

// join makes a waiter for the files of one journal.
func (w *Watch) join(f files) *waiter {
	one := &waiter{w, f.dir, f.path(), make(chan struct{}, 1), time.NewTicker(followInterval)}
	w.mu.Lock()
	if w.waiters == nil {
		w.waiters = map[*waiter]bool{}
	}
	w.waiters[one] = true
	w.mu.Unlock()
	w.add(one.dir)
	return one
}

// add asks for notifications of a directory. To ask again changes nothing where
// there are some, and is right where there was no directory the last time, or
// another one, or no notification left.
func (w *Watch) add(dir string) {
	system, err := w.opened()
	if err == nil {
		err = system.Add(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && w.Refused != nil {
		w.said.Do(func() { w.Refused(err) })
	}
}

// opened is the system's watcher, opened by the first who asks.
func (w *Watch) opened() (*fsnotify.Watcher, error) {
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

// listen passes on what the system says, until it is closed.
func (w *Watch) listen(system *fsnotify.Watcher) {
	events, failures := system.Events, system.Errors
	for {
		select {
		case event, ok := <-events:
			if !ok {
				return
			}
			w.wake(event.Name)
		case _, ok := <-failures:
			if !ok {
				return
			}
			w.wake("") // such as an overflow: what was lost may be anybody's
		}
	}
}

// wake wakes those whom a change of a path concerns; "" is everybody.
func (w *Watch) wake(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.waiters {
		if path == "" || one.concerns(path) {
			select {
			case one.woken <- struct{}{}:
			default: // it is to look anyway
			}
		}
	}
}

// concerns reports whether a path is the journal's, or its directory, which may
// have gone.
func (one *waiter) concerns(path string) bool {
	path = filepath.Clean(path) // the system says ./name
	return strings.HasPrefix(path, one.prefix) || path == one.dir
}

// wait returns true when it is time to look again, false when ctx is done.
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

// leave closes the system's watcher behind the last waiter. A directory for
// which nobody waits any more is notified of until then.
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
