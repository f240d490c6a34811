package acp

import (
	"io"
	"sync"
	"time"
)

// output writes to a client. After end, a write that takes longer than grace calls giveUp.
type output struct {
	w      io.Writer
	grace  time.Duration
	giveUp func()
	failed chan error // gets the first error

	mu      sync.Mutex
	ending  bool
	writing bool
	timer   *time.Timer // of the write; nil before end
}

func newOutput(w io.Writer, giveUp func()) *output {
	return &output{w: w, grace: grace, giveUp: giveUp, failed: make(chan error, 1)}
}

// Write implements io.Writer. It is not called concurrently.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.writing = true
	o.startTimer()
	o.mu.Unlock()
	n, err := o.w.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	if o.timer != nil {
		o.timer.Stop()
	}
	if err != nil {
		select {
		case o.failed <- err:
		default:
		}
	}
	return n, err
}

// startTimer bounds the write that runs, at the end.
func (o *output) startTimer() {
	if o.ending && o.writing {
		o.timer = time.AfterFunc(o.grace, o.giveUp)
	}
}

// end bounds the write that runs and those that follow.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ending = true
	o.startTimer()
}
