package coordinator

import (
	"slices"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

const (
	// residentIdle is how long the program of an agent waits for the next turn.
	residentIdle = 10 * time.Minute
	// maxResidents is the number of programs that run, if Residents.Max is 0.
	maxResidents = 8
)

// Residents are the agents' programs that wait for their next turn, of one or more conversations. The zero value has
// none. It is safe for concurrent use.
type Residents struct {
	// Max is how many programs run before the one that has waited longest is ended; 0: 8. Those at work are not
	// ended, but count.
	Max int
	// Dir is a directory for Residents of other processes, too, that count together; "": there are none. It is made
	// when it is needed.
	Dir string

	mu      sync.Mutex
	waiting []*resident // the one that has waited longest first
	unnamed int         // slots without a file that are taken
	watch   *slotWatch  // nil: nothing waits, or the system has no notifications
}

// resident is a program with a session of a member's agent.
type resident struct {
	session  agent.Session
	owner    *Coordinator
	memberID string
	turnID   string // started it
	launch   string // what it was started with
	idle     *time.Timer
	slot     *slot // nil: it works beyond the limit, and must not wait
}

// take returns the waiting program of a member, which belongs to the caller; nil if there is none.
func (r *Residents) take(owner *Coordinator, memberID string) *resident {
	return r.remove(func(w *resident) bool { return w.owner == owner && w.memberID == memberID })
}

// remove returns the first waiting program that satisfies match. It does not wait any more.
func (r *Residents) remove(match func(*resident) bool) *resident {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.waiting, match)
	if i < 0 {
		return nil
	}
	w := r.waiting[i]
	w.idle.Stop()
	r.waiting = slices.Delete(r.waiting, i, i+1)
	w.slot.setWaiting(false)
	if len(r.waiting) == 0 {
		r.watch.close()
		r.watch = nil
	}
	return w
}

// makeRoom takes a slot for a program that is about to start, if there is one. It blocks until the program that has to
// make room has ended, unless that is of another process.
func (r *Residents) makeRoom(w *resident) { w.slot = r.slot() }

// slot returns a slot that belongs to the caller. If none is free, it is that of the program that has waited longest,
// which is ended. If that is of another process, which is then asked to end it, or if all are at work, it returns nil.
func (r *Residents) slot() *slot {
	if s := r.freeSlot(); s != nil {
		return s
	}
	longest := longestWaiting(r.Dir, r.max())
	own := r.remove(func(w *resident) bool { return longest == "" || w.slot.path == longest })
	switch {
	case own != nil:
		s := own.slot
		own.slot = nil
		r.end(own)
		return s
	case longest != "":
		askToEnd(longest)
	}
	return nil
}

// keep lets a program wait for the next turn of its member. Without a slot it is ended.
func (r *Residents) keep(w *resident) {
	if w.slot == nil {
		if w.slot = r.slot(); w.slot == nil {
			r.end(w)
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch == nil && w.slot.path != "" {
		r.watch = watchSlots(r.Dir, r.endAsked)
	}
	w.slot.setWaiting(true)
	r.waiting = append(r.waiting, w)
	w.idle = time.AfterFunc(residentIdle, func() { r.endWaiting(func(other *resident) bool { return other == w }) })
}

// endAsked ends the waiting programs that another process has asked to end.
func (r *Residents) endAsked() {
	for r.endWaiting(func(w *resident) bool { return w.slot.isAsked() }) {
	}
}

// endWaiting ends the first waiting program that satisfies match. It returns false if there is none.
func (r *Residents) endWaiting(match func(*resident) bool) bool {
	w := r.remove(match)
	if w != nil {
		r.end(w)
	}
	return w != nil
}

// end ends a program that does not wait, and blocks until it has ended.
func (r *Residents) end(w *resident) {
	if w.session != nil {
		w.session.Close()
	}
	r.release(w.slot)
	w.slot = nil
}

// endAll ends the waiting programs of a conversation, and blocks until they have ended.
func (r *Residents) endAll(owner *Coordinator) {
	var ending sync.WaitGroup
	for {
		w := r.remove(func(w *resident) bool { return w.owner == owner })
		if w == nil {
			break
		}
		ending.Go(func() { r.end(w) })
	}
	ending.Wait()
}
