package coordinator

import (
	"math"
	"time"
)

// turnTimeout limits the duration of a turn. The time that the user takes to answer a question of
// the agent does not count.
type turnTimeout struct {
	left    time.Duration // at since
	since   time.Time
	timer   *time.Timer
	expired <-chan time.Time
}

// newTurnTimeout starts a timeout; 0 is no limit.
func newTurnTimeout(limit time.Duration) *turnTimeout {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	timer := time.NewTimer(limit)
	return &turnTimeout{left: limit, since: time.Now(), timer: timer, expired: timer.C}
}

func (t *turnTimeout) stop() {
	t.timer.Stop()
	t.left -= time.Since(t.since)
}

func (t *turnTimeout) restart() {
	t.since = time.Now()
	t.timer.Reset(t.left)
}
