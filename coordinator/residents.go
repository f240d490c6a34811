package coordinator

import (
	"cmp"
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

	mu      sync.Mutex
	waiting []*resident // the one that has waited longest first
	working int
}

// resident is a program with a session of a member's agent.
type resident struct {
	session  agent.Session
	owner    *Coordinator
	memberID string
	turnID   string // started it
	launch   string // what it was started with
	idle     *time.Timer
}

// take returns the waiting program of a member, which belongs to the caller; nil if there is none.
func (r *Residents) take(owner *Coordinator, memberID string) *resident {
	return r.remove(func(w *resident) bool { return w.owner == owner && w.memberID == memberID })
}

// remove returns the first waiting program that satisfies match, and counts it as working.
func (r *Residents) remove(match func(*resident) bool) *resident {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, w := range r.waiting {
		if match(w) {
			w.idle.Stop()
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			r.working++
			return w
		}
	}
	return nil
}

// makeRoom counts a program that is about to start. It blocks until those that have to make room have ended.
func (r *Residents) makeRoom() {
	for r.full() {
		longest := r.remove(func(*resident) bool { return true })
		if longest == nil {
			break
		}
		r.end(longest)
	}
	r.mu.Lock()
	r.working++
	r.mu.Unlock()
}

func (r *Residents) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)+r.working >= cmp.Or(r.Max, maxResidents)
}

// keep lets a program wait for the next turn of its member.
func (r *Residents) keep(w *resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working--
	r.waiting = append(r.waiting, w)
	w.idle = time.AfterFunc(residentIdle, func() {
		if found := r.remove(func(other *resident) bool { return other == w }); found != nil {
			r.end(w)
		}
	})
}

// end ends a program that does not wait, and blocks until it has ended.
func (r *Residents) end(w *resident) {
	if w.session != nil {
		w.session.Close()
	}
	r.mu.Lock()
	r.working--
	r.mu.Unlock()
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
