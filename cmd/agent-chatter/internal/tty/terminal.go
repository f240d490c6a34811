package tty

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// A Terminal reports keys as they are pressed. While it is open, the terminal echoes nothing, Ctrl+C is a key, and
// programs can still print lines. Close gives it back as it was; if the process dies, its watcher does. Close, Lend
// and Suspend are called by the goroutine that draws.
type Terminal struct {
	in, out *os.File
	keys    *waiter
	watcher *watcher
	signals chan os.Signal
	saved   settings // before Open

	events  chan Event
	decoder Decoder
	columns int // when the reader last looked
	rows    int
	unsent  []Event       // were read, but not received before the reading stopped
	stop    chan struct{} // closed to stop the reading
	stopped chan struct{} // closed when it has
	gone    bool          // the input has ended

	mu        sync.Mutex
	held      bool    // the settings and modes are ours
	alternate bool    // the alternate screen is shown
	place     place   // of the cursor
	notices   []Event // that did not come from the input
	patient   atomic.Bool
	changes   atomic.Uint64 // how often the size, or what is shown, may have changed
}

const (
	// keyWait is how long the rest of an escape sequence may take to arrive, and patientKeyWait how long after
	// SetPatient: connections over a network split sequences.
	keyWait, patientKeyWait = 50 * time.Millisecond, 400 * time.Millisecond
	// pasteWait is how long the rest of a paste may take.
	pasteWait = 5 * time.Second
)

// Open takes a terminal. It starts a process of this program, whose main function must call [Watched] first.
func Open(in, out *os.File) (*Terminal, error) {
	saved, err := currentSettings(in, out)
	if err != nil {
		return nil, err
	}
	keys, err := newWaiter(in)
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		in: in, out: out, keys: keys, watcher: startWatcher(in, out), saved: saved, events: make(chan Event, 256),
		signals: make(chan os.Signal, 8),
	}
	t.columns, t.rows = t.Size()
	if err := t.take(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	signal.Notify(t.signals, handled...)
	go t.handleSignals()
	t.startReading()
	return t, nil
}

// Size returns the columns and rows of the terminal, 80 and 24 if they are unknown.
func (t *Terminal) Size() (columns, rows int) { return size(t.out) }

func size(out *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// area is what a frame depends on. The changes are read first: a later one makes the next frame another.
func (t *Terminal) area() area {
	changes := t.changes.Load()
	columns, rows := t.Size()
	return area{columns, rows, changes}
}

// Events returns the channel of events. It is closed when the terminal has gone away.
func (t *Terminal) Events() <-chan Event { return t.events }

// SetPatient sets whether the terminal waits longer for the rest of a sequence before it reports its first byte as the
// Escape key. It is for when Escape destroys something: an arrow key that a slow line splits must not do that.
func (t *Terminal) SetPatient(patient bool) { t.patient.Store(patient) }

// Close gives the terminal back, with the cursor where the live rows began. The channel of events stays open.
func (t *Terminal) Close() error {
	t.stopReading()
	signal.Stop(t.signals)
	close(t.signals)
	err := t.giveBack()
	t.watcher.end()
	return errors.Join(err, t.keys.close())
}

// Lend gives the terminal back while use runs, which may run another program on it. Then the next frame has to be
// drawn; a [Resize] says so.
func (t *Terminal) Lend(use func() error) error {
	t.stopReading()
	defer t.startReading()
	err := t.giveBack()
	if err == nil {
		err = use()
	}
	err = errors.Join(err, t.take())
	t.notice(Resize{})
	return err
}

// Suspend stops the process group of this process, as Ctrl+Z does, until the shell continues it. If no shell can, it
// returns at once.
func (t *Terminal) Suspend() error { return t.Lend(t.stopGroup) }

// take makes the settings and modes of the terminal ours.
func (t *Terminal) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = true
	return t.apply(modesOn)
}

// retake does so again, if they should be ours. The cursor is where others have left it.
func (t *Terminal) retake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		t.place = place{}
		_ = t.apply(modesOff + modesOn) // an error is one of the next read, too
	}
}

func (t *Terminal) apply(modes string) error {
	t.watcher.claim(t.claim())
	// Crash here leaves the settings as they were.
	if err := t.saved.raw().apply(t.in, t.out); err != nil {
		return err
	}
	_, err := io.WriteString(t.out, modes)
	return err
}

func (t *Terminal) claim() claim {
	cursor := place{Above: t.place.Above}
	return claim{Held: t.held, Alternate: t.alternate, Cursor: cursor, Saved: t.saved, Ours: t.saved.raw()}
}

func (t *Terminal) cursor() place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place
}

func (t *Terminal) setCursor(p place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	moved := !slices.Equal(t.place.Above, p.Above)
	t.place = p
	if moved {
		t.watcher.claim(t.claim())
	}
}

func (t *Terminal) giveBack() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		return nil
	}
	t.held = false
	columns, _ := t.Size()
	modes := t.place.erase(columns) + modesOff
	if t.alternate {
		modes = alternateOff + modes
	}
	t.alternate, t.place = false, place{}
	_, err := io.WriteString(t.out, modes)
	err = errors.Join(err, t.saved.apply(t.in, t.out))
	// Crash here makes the watcher restore the modes twice.
	t.watcher.claim(t.claim())
	return err
}

// notice adds an event that did not come from the input.
func (t *Terminal) notice(e Event) {
	if e == (Resize{}) {
		t.changes.Add(1)
	}
	t.mu.Lock()
	known := slices.Contains(t.notices, e)
	if !known {
		t.notices = append(t.notices, e)
	}
	t.mu.Unlock()
	if !known { // otherwise they are about to be taken: the pipe of interrupt never fills up
		t.keys.interrupt()
	}
}

// takeNotices returns the notices, and one of another size, which Windows does not send.
func (t *Terminal) takeNotices() []Event {
	columns, rows := t.Size()
	resized := t.columns != columns || t.rows != rows
	t.columns, t.rows = columns, rows
	t.mu.Lock()
	defer t.mu.Unlock()
	notices := t.notices
	t.notices = nil
	if resized && !slices.Contains(notices, Event(Resize{})) {
		notices = append(notices, Resize{})
	}
	return notices
}

func (t *Terminal) startReading() {
	if t.gone {
		return
	}
	t.stop, t.stopped = make(chan struct{}), make(chan struct{})
	go t.read()
}

// stopReading returns when nothing reads from the terminal.
func (t *Terminal) stopReading() {
	if t.stop == nil {
		return
	}
	close(t.stop)
	t.keys.interrupt()
	<-t.stopped
	t.stop = nil
}

// read sends events until stopReading or the end of the input.
func (t *Terminal) read() {
	defer close(t.stopped)
	buf := make([]byte, 32<<10)
	for events := t.unsent; t.send(events); {
		wait := time.Duration(-1)
		switch {
		case t.decoder.Pending():
			wait = keyWait
			if t.patient.Load() {
				wait = patientKeyWait
			}
		case t.decoder.Pasting():
			wait = pasteWait
		}
		switch t.keys.wait(wait) {
		case timedOut:
			events = t.decoder.Flush()
		case interrupted:
			events = t.takeNotices()
		case readable:
			n, err := t.in.Read(buf)
			if err == io.EOF && !hungUp(t.in) {
				events = nil // a shell took the input while this process was stopped
				continue
			}
			if err != nil {
				t.gone = true
				close(t.events)
				return
			}
			events = t.decoder.Feed(buf[:n])
		}
	}
}

// send sends events, and reports whether all were received before stopReading.
func (t *Terminal) send(events []Event) bool {
	t.unsent = nil
	for i, e := range events {
		select {
		case t.events <- e:
		case <-t.stop:
			t.unsent = events[i:]
			return false
		}
	}
	select {
	case <-t.stop:
		return false
	default:
		return true
	}
}
