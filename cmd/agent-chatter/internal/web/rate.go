package web

import (
	"sync"
	"time"
)

// A Rate bounds how often each of several callers may do something: Burst times at once, and after that once in Every.
// It is used by a pointer, concurrently.
type Rate struct {
	Burst int
	Every time.Duration

	mu    sync.Mutex
	spent map[string]time.Time // by the id of the caller: when it may do it Burst times at once
}

// maxCallers is how many callers are remembered before those are forgotten that may do it Burst times at once.
const maxCallers = 256

// take returns 0 if a caller may do it at a time, which counts. Otherwise it returns how long it has to wait.
func (r *Rate) take(caller string, now time.Time) (wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spent) > maxCallers {
		for id, until := range r.spent {
			if !until.After(now) {
				delete(r.spent, id)
			}
		}
	}
	until := r.spent[caller]
	if until.Before(now) {
		until = now
	}
	until = until.Add(r.Every)
	if wait = until.Sub(now) - time.Duration(r.Burst)*r.Every; wait > 0 {
		return wait
	}
	if r.spent == nil {
		r.spent = map[string]time.Time{}
	}
	r.spent[caller] = until
	return 0
}
