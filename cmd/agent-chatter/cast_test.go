//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

var pictures = flag.String("pictures", "", "use the program in tmux and draw the pictures of the README and of the "+
	"manual into this directory")

const castFrame = 200 * time.Millisecond

var castSize = picture.Size{Columns: 88, Rows: 24}

// TestPictures draws the pictures of the README and of the manual.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures DIR given")
	}
	for name, draw := range map[string]func(*testing.T) string{
		"cast.svg": drawCast, "chat.svg": drawChat, "permission.svg": drawPermission,
		"browse.svg": drawBrowser, "timeline.svg": drawTimeline, "compare.svg": drawComparison,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(*pictures, name), []byte(draw(t)), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A calcShell is bash on a terminal, in a directory with the team calc.json.
type calcShell struct {
	*ttytest.Tmux
	dir string
}

// startShell runs bash on a terminal, with an empty home.
func startShell(t *testing.T, size picture.Size) calcShell {
	t.Helper()
	programtest.Path(t, "bash")
	dir, home := filepath.Join(t.TempDir(), "calc"), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "pictures"))); err != nil {
		t.Fatal(err)
	}
	m := ttytest.Start(t, size.Columns, size.Rows, fmt.Sprintf(
		"cd %s && exec env HOME=%s AGENT_CHATTER_HOME=%s HISTFILE= PS1='$ ' bash --norc --noprofile", dir, home,
		filepath.Join(home, "home")))
	m.Expect("$ ")
	return calcShell{m, dir}
}

// screen returns what is on the terminal. The directory has another path there.
func (s calcShell) screen() picture.Screen {
	return picture.Parse(strings.ReplaceAll(s.Run("capture-pane", "-e", "-p", "-N"), s.dir, "/home/eva/calc"))
}

// drawCast records a conversation that is interrupted, resumed and verified.
func drawCast(t *testing.T) string {
	m := startShell(t, castSize)
	var screens []picture.Screen
	var seconds []float64
	add := func() {
		screen, n := m.screen(), len(screens)
		if n > 0 && screens[n-1].String() == screen.String() {
			seconds[n-1] += castFrame.Seconds()
			return
		}
		screens, seconds = append(screens, screen), append(seconds, castFrame.Seconds())
	}
	for _, s := range []struct {
		typed, key string
		look       time.Duration // at the screen afterwards
	}{
		{"", "", 400 * time.Millisecond},
		{"agent-chatter chat", "Enter", 800 * time.Millisecond},
		{"how do we keep a conversation?", "Enter", 2 * time.Second},
		{"", "C-c", 800 * time.Millisecond}, // during a reply
		{"", "C-c", 400 * time.Millisecond},
		{"", "C-c", 1200 * time.Millisecond},
		{"agent-chatter chat --resume", "Enter", 1500 * time.Millisecond},
		{"/retry", "Enter", 7 * time.Second},
		{"/end", "Enter", time.Second},
		{"agent-chatter sessions", "Enter", time.Second},
		{"agent-chatter verify", "Enter", 3 * time.Second},
	} {
		for typed := s.typed; typed != ""; {
			first := typed[:min(len(typed), 3)]
			m.Press("-l", first)
			typed = typed[len(first):]
			add()
		}
		if s.key != "" {
			m.Press(s.key)
		}
		for end := time.Now().Add(s.look); time.Now().Before(end); {
			time.Sleep(castFrame) // the frame rate
			add()
		}
	}
	return picture.Dark.Animate(screens, seconds, castSize)
}

// drawChat shows a turn with a todo list, tools, an edit and a table.
func drawChat(t *testing.T) string {
	size := picture.Size{Columns: 88, Rows: 46}
	m := startShell(t, size)
	chatWithAda(m)
	screen := m.screen()
	m.Press("C-d")
	m.Expect("To resume, type:")
	return picture.Dark.Draw([]picture.Screen{screen}, []picture.Size{size})
}

// chatWithAda has the first turn of a conversation.
func chatWithAda(m calcShell) {
	m.Press("agent-chatter chat -t calc.json", "Enter")
	m.Expect("Calculator · ")
	m.Press("@ada a division by zero should be an error", "Enter")
	m.Expect("Calculator · 2 messages")
	m.Expect("eva> ")
}

// drawPermission shows a request for permission to change a file.
func drawPermission(t *testing.T) string {
	size := picture.Size{Columns: 88, Rows: 24}
	m := startShell(t, size)
	chatWithAda(m)
	m.Press("/clear", "Enter")
	m.Press("evaluate more of them at once", "Enter")
	m.Expect("[Y] Allow")
	m.Expect("a letter and Enter")
	screen := m.screen()
	m.Press("y", "Enter")
	m.Expect("Calculator · 4 messages")
	m.Press("C-d")
	m.Expect("To resume, type:")
	return picture.Dark.Draw([]picture.Screen{screen}, []picture.Size{size})
}

// drawBrowser shows a search in the browser.
func drawBrowser(t *testing.T) string {
	return drawInBrowser(t, 34, fillHome, func(m *ttytest.Tmux) {
		m.Expect("5 sessions")
		m.Press("/", "division")
		awaitSearch(m, "division", "2 sessions")
		m.Press("Enter")
		m.Expect("tab read")
	})
}

// drawTimeline shows the turns of a session with tools.
func drawTimeline(t *testing.T) string {
	return drawInBrowser(t, 34, fillHome, func(m *ttytest.Tmux) {
		m.Expect("5 sessions")
		m.Press("j", "t")
		m.Expect("── events ") // of the selected row, which has been read
		m.Press("k")
		m.Expect("── event ")
	})
}

// drawComparison shows a session and its fork.
func drawComparison(t *testing.T) string {
	fork := func(m *ttytest.Tmux) {
		m.Press("agent-chatter chat -m 'which index does this query need?' -m 'and with a million rows?' >/dev/null", "Enter")
		m.Press("agent-chatter chat --resume --fork --at turn:2 -m 'and without an index?' >/dev/null; clear", "Enter")
	}
	return drawInBrowser(t, 24, fork, func(m *ttytest.Tmux) {
		m.Expect("2 sessions")
		m.Press("Space", "D")
		m.Expect("in common")
	})
}

// drawInBrowser shows what the browser shows of a home after some keys.
func drawInBrowser(t *testing.T, rows int, fill, play func(m *ttytest.Tmux)) string {
	size := picture.Size{Columns: 120, Rows: rows}
	m := startShell(t, size)
	fill(m.Tmux)
	m.Press("agent-chatter browse", "Enter")
	play(m.Tmux)
	screen := m.screen()
	m.Press("C-c")
	return picture.Dark.Draw([]picture.Screen{screen}, []picture.Size{size})
}

// fillHome has conversations of two teams.
func fillHome(m *ttytest.Tmux) {
	for _, message := range []string{
		"how do we test the parser?", "the release notes for 2.4", "which index does this query need?",
	} {
		m.Press("agent-chatter chat -m '"+message+"' >/dev/null", "Enter")
	}
	m.Press("agent-chatter sessions pin 'the release notes for 2.4'", "Enter")
	m.Press("agent-chatter chat -t calc.json -m '@ada a division by zero should be an error' >/dev/null", "Enter")
	m.Press("agent-chatter chat -m 'what is a division by zero elsewhere?' >/dev/null; echo filled", "Enter")
	m.Expect("\nfilled")
	m.Press("clear", "Enter")
}
