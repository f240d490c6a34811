//go:build linux || darwin

package tty

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
)

// TestResizesKeepLines resizes a terminal at random moments while lines stream.
func TestResizesKeepLines(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	m := ttytest.Start(t, 80, 24, program(t, "stream"))
	for range 50 {
		m.Run("resize-window", "-x", strconv.Itoa(20+random.IntN(100)), "-y", strconv.Itoa(5+random.IntN(35)))
		for range random.IntN(4) { // the random moment
			m.Run("display-message", "-p", "")
		}
	}
	m.Expect(fmt.Sprintf("status %d", streamed))
	m.Run("resize-window", "-x", "110", "-y", "30")
	m.Press("r")
	m.Expect("status " + redrawnAt(110, 30)) // tmux resizes late
	checkStreamed(t, m)
}

// checkStreamed checks that each line is there once, in order, and then the live rows.
func checkStreamed(t *testing.T, m *ttytest.Tmux) {
	t.Helper()
	var got []string
	for line := range strings.Lines(strings.TrimRight(m.Text(), "\n")) {
		got = append(got, strings.TrimRight(line, " \n"))
	}
	want := append(streamedLines(), streamRows(redrawnAt(110, 30))...)
	if !slices.Equal(got, want) {
		t.Errorf("the lines and rows differ:\n%s", difference(got, want))
	}
}

// TestTerminalShorterThanLiveRows shows more live rows than the terminal has, while lines stream.
func TestTerminalShorterThanLiveRows(t *testing.T) {
	m := ttytest.Start(t, 40, 2, program(t, "stream"))
	m.Expect(fmt.Sprintf("status %d", streamed))
	if got := m.Screen(); !slices.Equal(got, []string{"  and more", fmt.Sprintf("status %d", streamed)}) {
		t.Errorf("the screen shows %q", got)
	}
	m.Run("resize-window", "-x", "110", "-y", "30")
	m.Press("r")
	m.Expect("status " + redrawnAt(110, 30)) // tmux resizes late
	checkStreamed(t, m)
}

func TestClearKeepsLines(t *testing.T) {
	m := ttytest.Start(t, 40, 10, program(t, "events"))
	m.Expect("> live")
	m.Press("a", "C-l")
	m.Expect("cleared\n")
	if got := m.Screen(); got[0] != "> cleared" || strings.Join(got[1:], "") != "" {
		t.Errorf("the screen shows %q", got)
	}
	m.Press("b")
	m.Expect("key 'b' 0\n> live")
	if got := strings.Join(strings.Fields(m.Text()), " "); got != "ready key 'a' 0 key 'b' 0 > live" {
		t.Errorf("the scrollback and the screen show %q", got)
	}
}

func TestPageLeavesLines(t *testing.T) {
	m := ttytest.Start(t, 40, 10, program(t, "events"))
	m.Expect("> live")
	m.Press("a", "b", "C-p")
	m.Expect("the page\nits second row")
	if got := m.Screen(); got[0] != "the page" || got[1] != "its second row" || strings.Join(got[2:], "") != "" {
		t.Errorf("the screen shows %q", got)
	}
	m.Press("c")
	m.Expect("key 'c' 0\n> live")
	if got := strings.TrimSpace(m.Text()); got != "ready\nkey 'a' 0\nkey 'b' 0\nkey 'c' 0\n> live" {
		t.Errorf("it shows\n%s", got)
	}
}

// difference lists what is only in one of two lists.
func difference(got, want []string) string {
	var b strings.Builder
	for _, line := range got {
		if i := slices.Index(want, line); i >= 0 {
			want = slices.Delete(slices.Clone(want), i, i+1)
		} else {
			fmt.Fprintf(&b, "unexpected: %q\n", line)
		}
	}
	for _, line := range want {
		fmt.Fprintf(&b, "missing: %q\n", line)
	}
	return b.String()
}
