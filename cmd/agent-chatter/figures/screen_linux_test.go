package figures

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen is the terminal of a program.
type screen struct {
	name   string
	file   *os.File
	delays []time.Duration // of echoes

	mu     sync.Mutex
	recent []byte // of the output
	wanted string
	line   int            // number of the last line of an agent
	found  chan time.Time // when the wanted text came; closed at the end of the output
}

const (
	screenTimeout = time.Minute // for a text
	recentBytes   = 64 << 10
)

func startScreen(t *testing.T, name string, cmd *exec.Cmd) *screen {
	t.Helper()
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{name: name, file: file, found: make(chan time.Time, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // its guard ends the agent, and its watcher closes the terminal
		cmd.Wait()
		<-read
		file.Close()
	})
	return s
}

func (s *screen) read() {
	defer close(s.found)
	for buf := make([]byte, recentBytes); ; {
		n, err := s.file.Read(buf)
		at := time.Now()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.recent = append(s.recent, buf[:n]...)
		s.find(at)
		s.seen(buf[:n])
		s.recent = slices.Clone(s.recent[max(0, len(s.recent)-recentBytes):])
		s.mu.Unlock()
	}
}

// find reports the wanted text, if it is there.
func (s *screen) find(at time.Time) {
	if s.wanted != "" && bytes.Contains(s.recent, []byte(s.wanted)) {
		s.wanted = ""
		s.found <- at
	}
}

// expect waits for a text.
func (s *screen) expect(t *testing.T, text string) {
	t.Helper()
	s.mu.Lock()
	s.wanted = text
	s.find(time.Now())
	s.mu.Unlock()
	s.wait(t, text)
}

// press types keys, and returns the time until a text is written after that.
func (s *screen) press(t *testing.T, keys, text string) time.Duration {
	t.Helper()
	s.mu.Lock()
	s.recent, s.wanted = nil, text
	s.mu.Unlock()
	pressed := time.Now()
	if _, err := s.file.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	return s.wait(t, text).Sub(pressed)
}

func (s *screen) wait(t *testing.T, text string) time.Time {
	t.Helper()
	select {
	case at, running := <-s.found:
		if running {
			return at
		}
	case <-time.After(screenTimeout):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Fatalf("%q is not on the terminal:\n%.2000q", text, s.recent)
	return time.Time{}
}

var numberedLine = regexp.MustCompile(`line (\d+) `)

// seen notes the last line of an agent in an output.
func (s *screen) seen(output []byte) {
	for _, match := range numberedLine.FindAllSubmatch(output, -1) {
		number, _ := strconv.Atoi(string(match[1]))
		s.line = max(s.line, number)
	}
}

// lines returns the number of the last line of an agent.
func (s *screen) lines() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// delay returns a percentile of the delays, which are sorted.
func (s *screen) delay(percent int) time.Duration { return s.delays[len(s.delays)*percent/100] }
