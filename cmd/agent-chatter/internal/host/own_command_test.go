package host

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func newTestApp(t *testing.T) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a.Cwd = t.TempDir()
	return a
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOwnCommands(t *testing.T) {
	a := newTestApp(t)
	home, here := filepath.Join(a.Home, "commands"), filepath.Join(a.Cwd, ".agent-chatter", "commands")
	writeFile(t, filepath.Join(home, "review.md"), "---\r\nname: x\r\ndescription: \"Review a file\"\r\n---\r\nReview $1.\r\n")
	writeFile(t, filepath.Join(home, "fix.md"), "\ufeff# Fix it"+apptest.Hostile+"\nand test\n")
	writeFile(t, filepath.Join(home, "help.md"), "no")
	writeFile(t, filepath.Join(home, "Upper.md"), "no")
	writeFile(t, filepath.Join(home, "notes.txt"), "no")
	writeFile(t, filepath.Join(here, "review.md"), "no: the home has it")
	writeFile(t, filepath.Join(here, "plan.md"), "---\nunclosed\nPlan")
	writeFile(t, filepath.Join(here, "long.md"), strings.Repeat("x", maxOwnCommand+1))
	all, hidden := OwnCommands(a, func(name string) bool { return name == "/help" })
	var got []string
	for _, c := range all {
		got = append(got, c.Name+": "+c.Description)
	}
	want := []string{"/fix: Fix it" + strings.Split(got[0], "Fix it")[1], "/review: Review a file", "/plan: ---"}
	if diff := cmp.Diff(want, got); diff != "" || strings.ContainsFunc(got[0], func(r rune) bool { return r < ' ' }) {
		t.Errorf("%q\n%s", got, diff)
	}
	if !slices.Equal(hidden, []string{filepath.Join(home, "help.md")}) || !all[2].Here {
		t.Errorf("hidden are %q, %+v", hidden, all)
	}
	text, err := all[1].read(a)
	if _, prompt := parseOwn(text); err != nil || prompt != "Review $1." {
		t.Errorf("%q, %v", prompt, err)
	}
}

func TestArgumentsOfOwnCommands(t *testing.T) {
	for _, tt := range []struct{ prompt, args, want string }{
		{"Review $1 for $2, not $3.", "a.go  bugs", "Review a.go for bugs, not ."},
		{"$ARGUMENTS: $1$2", "a $2", "a $2: a$2"}, // what is typed has no places
		{"$10 $0 $A", "x", "x0 $0 $A"},
		{"Go.", "now", "Go.\n\nnow"},
		{"Go.", "", "Go."},
		{"$1", "", ""},
	} {
		if got, ok := expandOwn(tt.prompt, tt.args); got != tt.want || !ok {
			t.Errorf("%q with %q: %q, want %q", tt.prompt, tt.args, got, tt.want)
		}
	}
	for prompt, fits := range map[string]bool{"$ARGUMENTS": true, strings.Repeat("$1", maxOwnCommand/2): false} {
		if _, ok := expandOwn(prompt, strings.Repeat("x", maxOwnMessage)); ok != fits {
			t.Errorf("%.20q with long arguments: %v", prompt, ok)
		}
	}
}
