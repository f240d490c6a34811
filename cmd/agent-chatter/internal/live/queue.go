package live

import (
	"errors"
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// The bounds of a Queue.
const (
	maxQueued = 100     // lines
	maxBytes  = 8 << 20 // of their texts
)

// ErrFull is the error of a line for which the queue has no room.
var ErrFull = errors.New("too many messages wait; take one back, or wait until they are sent")

// A Queue has the lines that no agent has got yet, in the order in which they were entered. Its methods may be called
// concurrently.
type Queue struct {
	changed  func()           // is called after a change, without a lock
	returned func([]tty.Line) // takes what was queued for a turn that was cancelled
	entered  chan struct{}    // has a value after a change for Next

	mu        sync.Mutex
	lines     []tty.Line
	steer     func(tty.Line) bool // of Watch; nil: no turn runs
	steering  bool                // the first line is given to the agent
	cancelled bool                // since Watch
	running   sync.WaitGroup
	steered   *sync.Cond // signals that steering has ended
}

// NewQueue returns an empty queue. It calls changed after each change, and returned with the lines that Cancel removes.
func NewQueue(changed func(), returned func([]tty.Line)) *Queue {
	q := &Queue{changed: changed, returned: returned, entered: make(chan struct{}, 1)}
	q.steered = sync.NewCond(&q.mu)
	return q
}

// Enter adds a line. The error is ErrFull.
func (q *Queue) Enter(line tty.Line) error {
	q.mu.Lock()
	size := len(line.Text)
	for _, i := range q.lines {
		size += len(i.Text)
	}
	if len(q.lines) >= maxQueued || len(q.lines) > 0 && size > maxBytes {
		q.mu.Unlock()
		return ErrFull
	}
	q.lines = append(q.lines, line)
	q.giveNext()
	q.mu.Unlock()
	q.notify()
	return nil
}

func (q *Queue) notify() {
	select {
	case q.entered <- struct{}{}:
	default:
	}
	q.changed()
}

// giveNext gives the first line to the agent that works, and then the next. The lock is held.
func (q *Queue) giveNext() {
	if q.steer == nil || q.steering || q.cancelled || len(q.lines) == 0 {
		return
	}
	q.steering = true
	first, steer := q.lines[0], q.steer
	q.running.Go(func() {
		taken := steer(first)
		q.mu.Lock()
		q.steering = false
		q.steered.Broadcast()
		var returned []tty.Line
		switch {
		case taken:
			q.lines = q.lines[1:]
			q.giveNext()
		case q.cancelled:
			returned = slices.Clone(q.lines[:1])
			q.lines = q.lines[1:]
		}
		q.mu.Unlock()
		if len(returned) > 0 {
			q.returned(returned)
		}
		q.notify()
	})
}

// Queued returns the lines.
func (q *Queue) Queued() []tty.Line {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.lines)
}

// TakeBack removes a line, unless an agent has got it. If it is being given to one, it waits for the answer.
func (q *Queue) TakeBack(id string) (taken tty.Line, ok bool) {
	q.mu.Lock()
	for q.steering && len(q.lines) > 0 && q.lines[0].ID == id {
		q.steered.Wait()
	}
	i := slices.IndexFunc(q.lines, func(line tty.Line) bool { return line.ID == id })
	if ok = id != "" && i >= 0; ok {
		taken = q.lines[i]
		q.lines = slices.Delete(q.lines, i, i+1)
	}
	q.mu.Unlock()
	if ok {
		q.changed()
	}
	return taken, ok
}

// Next waits for a line, and removes it. The error is tty.ErrInterrupted if quit is closed.
func (q *Queue) Next(quit <-chan struct{}) (tty.Line, error) {
	for {
		q.mu.Lock()
		var first tty.Line
		found := len(q.lines) > 0
		if found {
			first, q.lines = q.lines[0], q.lines[1:]
		}
		q.mu.Unlock()
		if found {
			q.changed()
			return first, nil
		}
		select {
		case <-q.entered:
		case <-quit:
			return tty.Line{}, tty.ErrInterrupted
		}
	}
}

// Watch gives what is entered to steer, one line after another, until stop is called. Next returns what steer does not
// take, as it returns false.
func (q *Queue) Watch(steer func(tty.Line) bool) (stop func()) {
	q.mu.Lock()
	q.steer, q.cancelled = steer, false
	q.mu.Unlock()
	return func() {
		q.mu.Lock()
		q.steer = nil
		q.mu.Unlock()
		q.running.Wait()
		q.mu.Lock()
		q.cancelled = false
		q.mu.Unlock()
	}
}

// Cancel returns the lines to those who entered them, as nothing is sent that was entered for a turn that was
// cancelled. One that is being given to an agent is returned if the agent does not take it.
func (q *Queue) Cancel() {
	q.mu.Lock()
	kept := 0
	if q.steering {
		kept = 1
	}
	q.cancelled = q.steer != nil
	returned := slices.Clone(q.lines[min(kept, len(q.lines)):])
	q.lines = q.lines[:min(kept, len(q.lines))]
	q.mu.Unlock()
	if len(returned) > 0 {
		q.returned(returned)
	}
	q.changed()
}
