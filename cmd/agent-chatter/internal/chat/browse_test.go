package chat

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// typed returns the program in a home whose input has these lines.
func typed(t *testing.T, home, lines string) (a *app.App, shown *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close() })
	shown = new(bytes.Buffer)
	a, err = app.New(app.IO{Stdin: input, Stdout: io.Discard, Stderr: shown}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return a, shown
}

// twice returns a home in which the directories of two teams have a session of the demo team with the same id.
func twice(t *testing.T) (home string, paths []string) {
	t.Helper()
	home = t.TempDir()
	a, shown := typed(t, home, "hello\n")
	if err := (&Command{Input: "text", Output: "text"}).Run(a); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	found, err := filepath.Glob(filepath.Join(home, "sessions", "demo", "*.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	for _, team := range []string{"before", "later"} { // than demo
		paths = append(paths, filepath.Join(home, "sessions", team, filepath.Base(found[0])))
		if err := os.Mkdir(filepath.Dir(paths[len(paths)-1]), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, paths[len(paths)-1], read(t, found[0]))
	}
	return home, append(paths, found[0])
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// choice is the session of a journal, as the browser returns it.
func choice(t *testing.T, a *app.App, path string) browse.Choice {
	t.Helper()
	list, err := a.Catalog.List(t.Context(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s.Path() == path {
			return browse.Choice{Session: s, Chosen: true}
		}
	}
	t.Fatalf("%s is not listed", path)
	return browse.Choice{}
}

// grown checks that one of some journals has a text, and no other.
func grown(t *testing.T, paths []string, want, text string) {
	t.Helper()
	for _, path := range paths {
		if got := strings.Contains(read(t, path), text); got != (path == want) {
			t.Errorf("%s is chosen: %q is in %s: %v", want, text, path, got)
		}
	}
}

func TestChosenSessionIsResumedThoughAnotherHasItsID(t *testing.T) {
	for i := range 3 {
		home, paths := twice(t)
		a, shown := typed(t, home, "more of it\n")
		if err := Resume(a, choice(t, a, paths[i])); err != nil {
			t.Fatalf("%v\n%s", err, shown)
		}
		grown(t, paths, paths[i], "more of it")
	}
}

func TestChosenSessionIsForkedInItsDirectory(t *testing.T) {
	for i := range 3 {
		home, paths := twice(t)
		a, shown := typed(t, home, "more of it\n")
		c := choice(t, a, paths[i])
		c.ForkAt = 2
		if err := Resume(a, c); err != nil {
			t.Fatalf("%v\n%s", err, shown)
		}
		grown(t, paths, "", "more of it")
		forks, err := filepath.Glob(filepath.Join(filepath.Dir(paths[i]), "*.jsonl"))
		if err != nil || len(forks) != 2 {
			t.Errorf("%s is chosen: beside it are %q, %v", paths[i], forks, err)
		}
	}
}

// A chat has one session open and resumes the other.
func TestChatResumesChosenSession(t *testing.T) {
	home, paths := twice(t)
	a, shown := typed(t, home, "")
	cmd := &Command{Input: "text", Output: "text"}
	cmd.take(choice(t, a, paths[0]))
	config, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	r := cmd.newREPL(a, config)
	if err := cmd.start(t.Context(), r); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	for _, path := range []string{paths[1], paths[2], paths[0]} {
		c := choice(t, a, path)
		if err := r.resume(t.Context(), c.Session, false, ""); err != nil || r.key() != c.Session.Key() {
			t.Fatalf("%s is chosen: %v is open, %v\n%s", path, r.key(), err, shown)
		}
		if err := r.resume(t.Context(), c.Session, false, ""); err != nil ||
			!strings.HasSuffix(shown.String(), "This session is already open.\n") {
			t.Errorf("%s is chosen again: %v\n%s", path, err, shown)
		}
	}
	if err := r.end("end"); err != nil {
		t.Error(err)
	}
}
