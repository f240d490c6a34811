package coordinator

import (
	"math"
	"time"
)

// patience is how long an agent may take for a turn. What a person takes to answer
// a question of the agent does not count.
type patience struct {
	left  time.Duration // at since
	since time.Time
	timer *time.Timer
	over  <-chan time.Time
}

// newPatience begins to measure; 0 is no limit.
func newPatience(limit time.Duration) *patience {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	timer := time.NewTimer(limit)
	return &patience{left: limit, since: time.Now(), timer: timer, over: timer.C}
}

func (p *patience) pause() {
	p.timer.Stop()
	p.left -= time.Since(p.since)
}

func (p *patience) goOn() {
	p.since = time.Now()
	p.timer.Reset(p.left)
}
