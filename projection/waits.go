package projection

import (
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Waits is how long a turn waited for the answers of a person. Of requests that waited at the same time, the
// time since the answer before counts.
type Waits struct {
	WaitedMS int64 `json:"waitedMs,omitempty"`
	Answered int64 `json:"answered,omitempty"` // time of the last of these answers, in milliseconds since 1970
}

func (w *Waits) add(e journal.Event, p PermissionAnswered) {
	if p.WaitedMS <= 0 {
		return
	}
	at := e.Time.UnixMilli()
	w.WaitedMS += min(p.WaitedMS, max(0, at-w.Answered))
	w.Answered = at
}

// Running returns how long a turn that began at start ran until a time, without the waits.
func (w Waits) Running(start, until time.Time) time.Duration {
	return max(0, until.Sub(start)-time.Duration(w.WaitedMS)*time.Millisecond)
}
