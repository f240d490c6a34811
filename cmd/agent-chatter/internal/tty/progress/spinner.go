package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
)

const (
	spinnerInterval = 120 * time.Millisecond
	EraseLine       = "\r\x1b[K"
)

var spinnerFrames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// Spinner shows on one line of a terminal what is running, and for how long.
type Spinner struct {
	Out   io.Writer
	Width func() int // columns of the terminal; nil: no limit
	mu    sync.Mutex
	stop  chan struct{} // nil unless it is shown
	done  chan struct{}
}

// Start shows what is done, the seconds since, and a hint, until End.
func (s *Spinner) Start(what, hint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.turn(what, hint, s.stop, s.done)
}

func (s *Spinner) turn(what, hint string, stop, done chan struct{}) {
	defer close(done)
	began := time.Now()
	tick := time.NewTicker(spinnerInterval)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		fmt.Fprint(
			s.Out,
			EraseLine+s.Fit(
				fmt.Sprintf("%c %s %ds%s",
					spinnerFrames[frame%len(spinnerFrames)], what, int(time.Since(began).Seconds()), hint),
			),
		)
		select {
		case <-stop:
			fmt.Fprint(s.Out, EraseLine)
			return
		case <-tick.C:
		}
	}
}

// End erases the line.
func (s *Spinner) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		<-s.done
		s.stop = nil
	}
}

// Fit cuts a text to one line of the terminal, so that it can be erased.
func (s *Spinner) Fit(text string) string {
	if s.Width == nil {
		return text
	}
	return displaywidth.TruncateString(text, max(0, s.Width()-1), "")
}
