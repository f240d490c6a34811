//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// browsing starts the browser from a shell on a terminal, in a home with three sessions.
func browsing(t *testing.T, flags string) (m *ttytest.Tmux, home string) {
	programtest.Path(t, "bash")
	dir := t.TempDir()
	home = filepath.Join(dir, "home")
	for _, message := range []string{"the first kettle", "the second kettle", "a garden"} {
		printed(t, home, "chat", "-m", message)
	}
	m = ttytest.Start(t, 80, 24, fmt.Sprintf("cd %s; AGENT_CHATTER_HOME=%s PS1='shell$ ' exec bash --norc --noprofile",
		dir, home))
	m.Expect("shell$ ")
	m.Press("stty -g > before; agent-chatter "+flags, "Enter")
	m.Expect("▸   a garden")
	return m, home
}

// left checks that the browser has left nothing on the terminal.
func left(t *testing.T, m *ttytest.Tmux) {
	t.Helper()
	m.ExpectTimes("shell$ ", 2)
	if rows := m.Screen(); slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, "Sessions") }) {
		t.Errorf("the browser is still on the screen:\n%s", strings.Join(rows, "\n"))
	}
	m.Press("stty -g | cmp - before && echo as before; tput cnorm", "Enter")
	m.Expect("\nas before")
}

// awaitSearch waits until a search for a text has found so many sessions, and ended: until then the header of the
// browser says "so far".
func awaitSearch(m *ttytest.Tmux, text, found string) {
	header := regexp.MustCompile("/" + regexp.QuoteMeta(text) + " +" + found + " *\n")
	m.Await(func() bool { return header.MatchString(m.Text()) })
}

func TestBrowserLeavesNoTrace(t *testing.T) {
	m, _ := browsing(t, "browse")
	m.Press("q")
	left(t, m)
}

func TestBrowserSearchesAndResumes(t *testing.T) {
	m, _ := browsing(t, "browse")
	m.Press("/", "first kettle")
	awaitSearch(m, "first kettle", "1 session")
	m.Expect("▸   the first kettle")
	m.Press("Enter")
	resumesChosen(m)
}

func TestPickedSessionIsResumed(t *testing.T) {
	m, _ := browsing(t, "chat --resume --pick")
	m.Press("j")
	m.Expect("▸   the second kettle")
	resumesChosen(m)
}

// resumesChosen resumes the selected session and ends it.
func resumesChosen(m *ttytest.Tmux) {
	m.Press("Enter")
	m.Expect("(3 messages loaded)")
	m.Expect("you> ")
	m.Press("C-d")
	m.ExpectTimes("shell$ ", 2)
}

func TestBrowserOfAChatResumes(t *testing.T) {
	m, _ := browsing(t, "browse")
	m.Press("Enter")
	m.Expect("you> ")
	m.Press("/sessions", "Enter")
	m.Expect("▸ ● a garden") // the chat has it open
	m.Press("q")
	m.Expect("you> ")
	m.Press("/sessions", "Enter")
	m.Expect("▸ ● a garden") // the chat has it open
	m.Press("G")
	m.Expect("▸   the first kettle")
	m.Press("Enter")
	m.ExpectTimes("(3 messages loaded)", 2)
	m.Press("C-d")
	m.ExpectTimes("shell$ ", 2)
}

func TestTimelineOfBrowserForks(t *testing.T) {
	m, home := browsing(t, "browse")
	m.Press("t")
	m.Expect("── events ") // of the selected row, which has been read
	m.Press("g", "Enter")
	m.Expect("you> ")
	m.Press("C-d")
	m.ExpectTimes("shell$ ", 2)
	if list := printed(t, home, "sessions"); strings.Count(list, "a garden") != 2 {
		t.Errorf("there is no fork:\n%s", list)
	}
}

func TestBrowserFollowsSizeOfTerminal(t *testing.T) {
	m, _ := browsing(t, "browse")
	m.Run("resize-window", "-x", "120", "-y", "40")
	m.Expect("┬")
	m.Run("resize-window", "-x", "50", "-y", "15")
	m.Await(func() bool {
		return len(m.Screen()) == 15 && !strings.Contains(strings.Join(m.Screen(), "\n"), "┬")
	})
	m.Expect("▸   a garden")
	m.Press("q")
	left(t, m)
}

func TestSuspendedBrowser(t *testing.T) {
	m, _ := browsing(t, "browse")
	m.Press("j")
	m.Expect("▸   the second kettle")
	m.Press("C-z")
	m.Expect("Stopped")
	m.Press("echo in the shell", "Enter")
	m.Expect("\nin the shell")
	m.Press("fg", "Enter")
	m.Expect("▸   the second kettle")
	m.Press("k")
	m.Expect("▸   a garden")
	m.Press("q")
	m.ExpectTimes("shell$ ", 4) // at first, after Ctrl+Z, after the command, and at the end
}

// TestBrowserShowsWhatIsWritten appends to the selected session, and creates another one.
func TestBrowserShowsWhatIsWritten(t *testing.T) {
	m, home := browsing(t, "browse")
	printed(t, home, "chat", "--resume", "-m", "with a pond")
	m.Expect("· 6 messages") // the message itself may be above the first row of the preview
	printed(t, home, "chat", "-m", "a cellar")
	m.Expect("    a cellar")
	m.Expect("▸   a garden")
	m.Press("q")
	left(t, m)
}

func TestKilledBrowserLeavesTerminalUsable(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	printed(t, home, "chat", "-m", "a garden")
	m := ttytest.Start(t, 80, 24, fmt.Sprintf("cd %s; export AGENT_CHATTER_HOME=%s; stty -g > before; "+
		`sh -c 'echo $$ > pid; exec agent-chatter browse'; read line; stty -g | cmp - before && echo as before; cat`,
		dir, home))
	m.Expect("▸   a garden")
	modes := func() string {
		return strings.TrimSpace(m.Run("display-message", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"))
	}
	if got := modes(); got != "110" {
		t.Errorf("the modes are %s while it runs", got)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, filepath.Join(dir, "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.Await(func() bool { return modes() == "001" })
	m.Press("Enter")
	m.Expect("as before")
}

// What is changed in the browser is what the commands show.
func TestBrowserChangesSessions(t *testing.T) {
	m, home := browsing(t, "browse")
	m.Press("r")
	m.Expect("Rename to: a garden")
	m.Press(" in spring", "Enter")
	m.Expect("Renamed to: a garden in spring (u: undo)")
	m.Press("j", "d")
	m.Expect("Move to the trash? [y/N] the second kettle")
	m.Press("y")
	m.Expect("Moved to the trash: the second kettle (u: undo)")
	m.Press("5")
	m.Expect("▸ the second kettle")
	m.Press("q")
	m.Expect("▸   the first kettle")
	m.Press("p")
	m.Expect("Pinned. (u: undo)")
	m.Press("e", "C-u", "kettle.md", "Enter")
	m.Expect("Written: ")
	m.Press("q")
	left(t, m)
	list := printed(t, home, "sessions")
	if !strings.Contains(list, "a garden in spring") || strings.Contains(list, "second") {
		t.Errorf("the sessions are:\n%s", list)
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(home), "kettle.md")); err != nil ||
		!strings.HasPrefix(string(text), "# the first kettle\n") {
		t.Errorf("the export is %q, %v", text, err)
	}
}

func TestBrowserCopiesIDs(t *testing.T) {
	m, home := browsing(t, "browse")
	m.Run("set-option", "-s", "set-clipboard", "on")
	m.Press("y")
	m.Expect("Copied to the clipboard of the terminal: ")
	m.Await(func() bool { return m.Run("list-buffers") != "" })
	id, _, _ := strings.Cut(printed(t, home, "sessions", "--limit", "1", "--json"), `","`)
	if copied := strings.TrimSpace(m.Run("show-buffer")); !strings.HasSuffix(id, `"`+copied) {
		t.Errorf("copied %q of %s", copied, id)
	}
}
