package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	spinnerInterval = 120 * time.Millisecond
	eraseLine       = "\r\x1b[K"
)

var spinnerFrames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// spinner shows that an agent works, and for how long.
type spinner struct {
	out  io.Writer
	mu   sync.Mutex
	stop chan struct{} // nil: it does not turn
	done chan struct{}
}

// start begins to turn.
func (s *spinner) start(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.turn(what, s.stop, s.done)
}

func (s *spinner) turn(what string, stop, done chan struct{}) {
	defer close(done)
	began := time.Now()
	tick := time.NewTicker(spinnerInterval)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		fmt.Fprintf(s.out, "%s%c %s %ds", eraseLine, spinnerFrames[frame%len(spinnerFrames)], what, int(time.Since(began).Seconds()))
		select {
		case <-stop:
			fmt.Fprint(s.out, eraseLine)
			return
		case <-tick.C:
		}
	}
}

// end takes it off the screen. What is printed next has the line for itself.
func (s *spinner) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		<-s.done
		s.stop = nil
	}
}
