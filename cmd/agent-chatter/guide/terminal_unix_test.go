//go:build unix

package guide

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/clipperhouse/displaywidth"
)

// onTerminal returns what guide prints on a terminal without colour, and its exit code.
func onTerminal(t *testing.T, columns uint16, cmd Command) (shown string, code int) {
	t.Helper()
	shown = apptest.OnTerminal(t, columns, func(terminal *os.File) {
		code = run(t, terminal, terminal, cmd)
	})
	return shown, code
}

func run(t *testing.T, stdout, stderr io.Writer, cmd Command) (code int) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("AGENT_CHATTER_HOME", home)
	a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr, NoColor: true}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return a.Fail(cmd.Run(a, nil))
}

func TestTopicsOnATerminal(t *testing.T) {
	shown, code := onTerminal(t, 80, Command{Output: "text"})
	lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	if n := len(Topics()); code != 0 || len(lines) != n+5 {
		t.Fatalf("exit code %d, %d lines of %d topics:\n%s", code, len(lines), n, shown)
	}
	for i, want := range map[int]string{
		0: "topic           │ contents",
		1: "────────────────┼─────────────────────────────────────────────────────────",
		2: "start           │ Install the program and hold a first conversation.",
		3: "recipes         │ Find the command for what you want to do.",
		4: "chat            │ Type messages, commands and keys in a chat.",

		len(lines) - 3: "",
		len(lines) - 2: "`agent-chatter guide TOPIC` prints a page, and other words the lines that have",
		len(lines) - 1: "them.",
	} {
		if !strings.HasPrefix(lines[i], want) || want == "" && lines[i] != "" {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
}

func TestPageOnATerminal(t *testing.T) {
	for columns, widest := range map[uint16]int{50: 49, 80: 79, 101: 100, 102: 100, 200: 100} {
		shown, code := onTerminal(t, columns, Command{Words: []string{"durability"}, Output: "text"})
		if code != 0 || !strings.HasPrefix(shown, "# Durability\n\n") {
			t.Fatalf("exit code %d:\n%s", code, shown)
		}
		used := 0
		for line := range strings.Lines(shown) {
			used = max(used, displaywidth.String(strings.TrimSuffix(line, "\n")))
		}
		if used > widest || used < widest-4 {
			t.Errorf("of %d columns, it uses %d, want %d:\n%s", columns, used, widest, shown)
		}
	}
}

func TestPageHasAtMost100Columns(t *testing.T) {
	first, second := strings.Repeat("a", 50), strings.Repeat("b", 49)
	page := strings.Repeat(first+" "+second+" ", 2)
	for columns, want := range map[int]string{
		100: first + "\n" + second + "\n" + first + "\n" + second + "\n",
		101: first + " " + second + "\n" + first + " " + second + "\n",
		300: first + " " + second + "\n" + first + " " + second + "\n",
	} {
		var shown strings.Builder
		err := printPage(&shown, page, view.Style{Width: columns})
		if err != nil || shown.String() != want {
			t.Errorf("of %d columns: %v\n%s", columns, err, shown.String())
		}
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestGuideReturnsErrorsOfItsOutput(t *testing.T) {
	for _, cmd := range []Command{
		{Output: "text"}, {Output: "json"}, {Words: []string{"start"}, Output: "text"}, {Words: []string{"start"}, Output: "json"},
	} {
		if code := run(t, full{}, io.Discard, cmd); code != app.ExitFailed {
			t.Errorf("%+v: exit code %d", cmd, code)
		}
	}
	if err := printPage(full{}, "a", view.Style{Width: 80}); err == nil {
		t.Error("a page that cannot be written is no error")
	}
}

func TestGuideForPrograms(t *testing.T) {
	durability, _, _ := find("durability")
	for _, tt := range []struct {
		cmd            Command
		stdout, stderr string // what it begins with
		code           int
	}{
		{Command{Output: "text"}, "start            Install the program", "", 0},
		{Command{Output: "json"}, `{"topic":"start","summary":"Install the program and hold a first conversation."}` + "\n{", "", 0},
		{Command{Words: []string{"durability"}, Output: "text"}, durability.text(), "", 0},
		{Command{Words: []string{"durability"}, Output: "json"}, `{"topic":"durability","summary":"What survives a crash`, "", 0},
		{Command{Words: []string{"resum"}, Output: "text"}, "resume:1: # Resume\n", "No topic is called resum; these lines have it.\nTo read the page with the nearest name, type: agent-chatter guide resume\n", 0},
		{Command{Words: []string{"resmue"}, Output: "text"}, "", "The manual has no topic and no line with resmue\nTo read the page with the nearest name, type: agent-chatter guide resume\n", 3},
		{Command{Words: []string{"xyz"}, Output: "text"}, "", "The manual has no topic and no line with xyz\nTo list the topics, type: agent-chatter guide\n", 3},
	} {
		var stdout, stderr strings.Builder
		code := run(t, &stdout, &stderr, tt.cmd)
		if code != tt.code || !strings.HasPrefix(stdout.String(), tt.stdout) || stderr.String() != tt.stderr {
			t.Errorf("%+v: exit code %d\n%.300s\n%s", tt.cmd, code, stdout.String(), stderr.String())
		}
		onTerminal, code := onTerminal(t, 80, tt.cmd)
		if tt.cmd.Output == "json" && (code != 0 || onTerminal != stdout.String()) {
			t.Errorf("%+v on a terminal: exit code %d\n%.300s", tt.cmd, code, onTerminal)
		}
	}
}

func TestSearchOnATerminal(t *testing.T) {
	shown, code := onTerminal(t, 60, Command{Words: []string{"Shell", "COMPLETION"}, Output: "text"})
	if code != 0 || !strings.HasPrefix(shown, "configuration: Set options, environment variables and shell completion.\n  ") ||
		!strings.Contains(shown, "\nTo read the first of these pages, type: agent-chatter guide configuration\n") {
		t.Errorf("exit code %d:\n%s", code, shown)
	}
	shown, code = onTerminal(t, 60, Command{Words: []string{"session"}, Output: "text"})
	if code != 0 || !strings.Contains(shown, " more)\n\n") {
		t.Errorf("exit code %d:\n%s", code, shown)
	}
}
