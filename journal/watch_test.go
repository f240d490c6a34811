package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/agent-chatter/agent-chatter/journal"
)

// watched returns another Dir of the same directory that uses a Watch.
func watched(d *journal.Dir, w *journal.Watch) *journal.Dir {
	return journal.NewDir(d.Path(), journal.Options{Watch: w})
}

// interceptor is a watcher of the system whose notifications only the test
// receives.
type interceptor struct {
	open   func() (*fsnotify.Watcher, error)
	system *fsnotify.Watcher // once it is open; the test owns its channels

	received <-chan fsnotify.Event
	failures <-chan error
}

func newInterceptor(t *testing.T) *interceptor {
	e := &interceptor{}
	e.open = func() (*fsnotify.Watcher, error) {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			t.Error("open:", err)
			return nil, err
		}
		e.received, e.failures = system.Events, system.Errors
		system.Events, system.Errors = make(chan fsnotify.Event), make(chan error)
		e.system = system
		return system, nil
	}
	return e
}

func TestFollowWithoutNotifications(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	deaf := journal.WatchOf(newInterceptor(t).open, nil)
	f := follow(t, watched(dir, deaf), l.ID(), journal.Position{})
	for n := range 3 {
		f.expect(mustAppend(t, l, batch(10*n, 10*n+9, 100)...)...)
	}
}

func TestOverflowWakesEveryFollower(t *testing.T) {
	dir, other := newDir(t), newDir(t)
	e := newInterceptor(t)
	w := journal.WatchOf(e.open, nil)
	first, leave := w.Woken(dir, dir.NewID())
	defer leave()
	second, leave := w.Woken(other, other.NewID())
	defer leave()
	e.system.Errors <- fsnotify.ErrEventOverflow
	await(t, first)
	await(t, second)
}

func await(t *testing.T, woken <-chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(testTimeout):
		t.Fatal("it was not woken")
	}
}

func TestNotificationWakesItsFollowers(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	e := newInterceptor(t)
	w := journal.WatchOf(e.open, nil)
	concerned, leave := w.Woken(dir, id)
	defer leave()
	unconcerned, leave := w.Woken(dir, dir.NewID())
	defer leave()
	e.system.Events <- fsnotify.Event{Name: filepath.Join(dir.Path(), id+".jsonl"), Op: fsnotify.Write}
	e.system.Events <- fsnotify.Event{Name: filepath.Join(dir.Path(), "sessions.json"), Op: fsnotify.Create}
	await(t, concerned)
	select {
	case <-unconcerned: // the first was handled when the second was received
		t.Error("another journal's change woke it")
	default:
	}
	e.system.Events <- fsnotify.Event{Name: dir.Path(), Op: fsnotify.Remove}
	await(t, concerned)
	await(t, unconcerned)
}

// A watcher that does not read, as on a busy machine, loses the notifications that
// exceed the queue of the system.
func TestFollowWhenTheSystemQueueOverflows(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l := mustCreate(t, dir)
	events := mustAppend(t, l, batch(1, 10, 10)...)
	e := newInterceptor(t)
	f := follow(t, watched(dir, journal.WatchOf(e.open, nil)), l.ID(), journal.Position{})
	f.expect(events...)
	notes := []string{filepath.Join(dir.Path(), "a"), filepath.Join(dir.Path(), "b")}
	for range maxQueued(t)/2 + 4096 {
		for _, name := range notes { // two, because equal notifications are merged
			writeFile(t, name, nil)
		}
	}
	events = mustAppend(t, l, batch(11, 20, 10)...)
	overflown := make(chan struct{})
	go func() {
		for {
			select {
			case event := <-e.received:
				e.system.Events <- event
			case err := <-e.failures:
				if errors.Is(err, fsnotify.ErrEventOverflow) {
					close(overflown)
				}
				return
			}
		}
	}()
	await(t, overflown)
	f.expect(events...)
}

func TestRefusedIsCalledOnce(t *testing.T) {
	none := func() (*fsnotify.Watcher, error) {
		return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
	}
	closed := func() (*fsnotify.Watcher, error) { // refuses every directory
		system, err := fsnotify.NewWatcher()
		if err == nil {
			err = system.Close()
		}
		return system, err
	}
	for name, refusal := range map[string]struct {
		open   func() (*fsnotify.Watcher, error)
		reason error
	}{
		"no watcher":   {none, syscall.EMFILE},
		"no directory": {closed, fsnotify.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var reasons []error
			w := journal.WatchOf(refusal.open, func(reason error) {
				mu.Lock()
				defer mu.Unlock()
				reasons = append(reasons, reason)
			})
			var followed []<-chan []journal.Event
			var logs []*journal.Log
			for range 20 {
				dir := newDir(t)
				l := mustCreate(t, dir)
				mustAppend(t, l, counted(1, 10))
				logs = append(logs, l)
				followed = append(followed, followUntil(t, watched(dir, w), l.ID(), 3))
			}
			for _, l := range logs {
				mustAppend(t, l, batch(2, 3, 10)...)
			}
			for i, f := range followed {
				if events := <-f; len(events) != 3 {
					t.Errorf("follower %d saw %d events", i, len(events))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if len(reasons) != 1 || !errors.Is(reasons[0], refusal.reason) {
				t.Errorf("reported %v", reasons)
			}
		})
	}
}

func TestMissingDirectoryIsNotARefusal(t *testing.T) {
	dir := newDir(t)
	w := journal.WatchOf(fsnotify.NewWatcher, func(reason error) { t.Error("refused:", reason) })
	_, leave := w.Woken(dir, dir.NewID())
	leave()
}

func TestNotificationsAreRequestedRepeatedly(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	events := mustAppend(t, l, batch(1, 3, 10)...)
	e := newInterceptor(t)
	asked, granted := 0, make(chan struct{})
	w := journal.WatchOf(func() (*fsnotify.Watcher, error) {
		if asked++; asked < 3 {
			return nil, syscall.EMFILE
		}
		defer close(granted)
		return e.open()
	}, nil)
	seen := followUntil(t, watched(dir, w), l.ID(), 4)
	await(t, granted)
	events = append(events, mustAppend(t, l, counted(4, 0))...)
	same(t, "followed", <-seen, events)
}

func TestFollowersShareOneWatcher(t *testing.T) {
	t.Parallel()
	opened := 0
	var systems []*fsnotify.Watcher
	w := journal.WatchOf(func() (*fsnotify.Watcher, error) {
		opened++
		system, err := fsnotify.NewWatcher()
		systems = append(systems, system)
		return system, err
	}, func(reason error) { t.Error("refused:", reason) })
	dirs := make([]*journal.Dir, 10)
	for i := range dirs {
		dirs[i] = newDir(t)
	}
	for round := 1; round <= 2; round++ {
		var leaves []func()
		for n := range 100 {
			dir := dirs[n%len(dirs)]
			_, leave := w.Woken(dir, dir.NewID())
			leaves = append(leaves, leave)
		}
		for _, leave := range leaves {
			leave()
		}
		if opened != round {
			t.Errorf("round %d: %d watchers were opened", round, opened)
		}
	}
	for _, system := range systems {
		if err := system.Add(t.TempDir()); !errors.Is(err, fsnotify.ErrClosed) {
			t.Error("a watcher is open still:", err)
		}
	}
}

func TestHundredFollowersOfOneJournal(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l := mustCreate(t, dir)
	var seen []<-chan []journal.Event
	for range 100 {
		seen = append(seen, followUntil(t, dir, l.ID(), 300))
	}
	for n := 1; n <= 300; n++ {
		mustAppend(t, l, counted(n, n*10))
	}
	events := validEvents(t, dir, l.ID())
	for i, s := range seen {
		same(t, fmt.Sprint("follower ", i), <-s, events)
	}
}

func TestFollowersOfAHundredJournals(t *testing.T) {
	t.Parallel()
	shared := &journal.Watch{Refused: func(reason error) { t.Error("refused:", reason) }}
	var logs []*journal.Log
	var seen []<-chan []journal.Event
	var dirs []*journal.Dir
	for n := range 100 {
		if n%10 == 0 {
			dirs = append(dirs, newDir(t))
		}
		dir := dirs[len(dirs)-1]
		l := mustCreate(t, dir)
		logs = append(logs, l)
		seen = append(seen, followUntil(t, watched(dir, shared), l.ID(), 20))
	}
	for n := 1; n <= 20; n++ {
		for i, l := range logs {
			mustAppend(t, l, counted(n, 10*i))
		}
	}
	for i, s := range seen {
		same(t, fmt.Sprint("journal ", i), <-s, validEvents(t, dirs[i/10], logs[i].ID()))
	}
}
