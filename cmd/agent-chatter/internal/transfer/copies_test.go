package transfer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// Sessions of the same id and of other times have diverged.
func TestDivergedSessionsBecomeCopies(t *testing.T) {
	first, second := interchange.CopyID(apptest.AliceID, 1), interchange.CopyID(apptest.AliceID, 2)
	for extension, format := range map[string]string{".bundle": "bundle", ".jsonl": "jsonl", ".json": "snapshot"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name+extension) }
			for _, name := range []string{"a", "b", "c"} {
				home := t.TempDir()
				apptest.CrashedSession(t, home)
				export := &Export{ID: []string{apptest.AliceID}, Format: format, To: at(name)}
				if _, stderr, code := runCommand(t, home, export); code != 0 {
					t.Fatal(stderr)
				}
				if format == "snapshot" { // of which only the messages count
					replaceIn(t, at(name), `"two"`, `"two of `+name+`"`)
				}
			}
			home := t.TempDir()
			for _, test := range []struct {
				name  string
				asNew bool
				want  string // the id and the action; "": refused
			}{
				{"a", false, apptest.AliceID + "  imported  4 of 4 messages"},
				{"b", false, ""},
				{"b", true, first + "  imported  4 of 4 messages"},
				{"c", false, ""},
				{"c", true, second + "  imported  4 of 4 messages"},
				{"a", true, apptest.AliceID + "  unchanged  0 of 4 messages"},
				{"b", false, first + "  unchanged  0 of 4 messages"},
				{"b", true, first + "  unchanged  0 of 4 messages"},
				{"c", false, second + "  unchanged  0 of 4 messages"},
			} {
				what := fmt.Sprintf("%s, as new: %v", test.name, test.asNew)
				stdout, stderr, code := runCommand(t, home, &Import{Path: []string{at(test.name)}, Format: "auto", AsNew: test.asNew})
				if test.want != "" {
					if want := test.want + "  " + at(test.name) + "\n"; stdout != want || stderr != "" || code != 0 {
						t.Errorf("%s: exit code %d, it printed %q and %q, want %q", what, code, stdout, stderr, want)
					}
					continue
				}
				help := "To import it as a new session, type: agent-chatter"
				if stdout != "" || code != app.ExitFailed || !strings.HasPrefix(stderr, at(test.name)+": session "+apptest.AliceID) ||
					!strings.Contains(stderr, help) {
					t.Errorf("%s: exit code %d, it printed %q and %q", what, code, stdout, stderr)
				}
			}

			// A copy is a session of its own.
			other := t.TempDir()
			for _, id := range []string{first, second} {
				export := &Export{ID: []string{id}, Format: format, To: at(id)}
				if _, stderr, code := runCommand(t, home, export); code != 0 {
					t.Errorf("exit code %d, it printed %q", code, stderr)
				}
				stdout, _, _ := runCommand(t, other, &Import{Path: []string{at(id)}, Format: "auto"})
				if !strings.HasPrefix(stdout, id+"  imported  4 of 4 messages") {
					t.Errorf("the import of the copy %s printed %q", id, stdout)
				}
			}
		})
	}
}

// A source that adds nothing is unchanged although a process has the session open.
func TestImportOfASessionThatIsOpen(t *testing.T) {
	for extension, format := range map[string]string{".bundle": "bundle", ".jsonl": "jsonl", ".json": "snapshot"} {
		home, path := t.TempDir(), filepath.Join(t.TempDir(), "a"+extension)
		apptest.CrashedSession(t, home)
		export := &Export{ID: []string{apptest.AliceID}, Format: format, To: path}
		if _, stderr, code := runCommand(t, home, export); code != 0 {
			t.Fatal(stderr)
		}
		c := catalog.New(filepath.Join(home, "sessions"), journal.Options{})
		s, _, err := c.Find(t.Context(), apptest.AliceID)
		if err != nil {
			t.Fatal(err)
		}
		log, err := c.At(s.Dir()).Journals().Open(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := runCommand(t, home, &Import{Path: []string{path}, Format: "auto"})
		if want := apptest.AliceID + "  unchanged  0 of 4 messages  " + path + "\n"; stdout != want || code != 0 {
			t.Errorf("%s: exit code %d, it printed %q and %q, want %q", format, code, stdout, stderr, want)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// replaceIn replaces a text in a file.
func replaceIn(t *testing.T, path, old, new string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), old, new, 1)
	if changed == string(content) {
		t.Fatalf("%s has no %s", path, old)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImportPrintsAndLogsEachResult(t *testing.T) {
	home := t.TempDir()
	var stdout, stderr strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		result         Imported
		stdout, stderr string
		logged         string
	}{
		{Imported{ID: "1", Action: "imported", Taken: 1, Total: 1, Path: "p"}, "1  imported  1 of 1 message  p\n", "",
			`msg="file imported"`},
		{Imported{ID: "1", Action: "extended", Taken: 1, Total: 2, Skipped: 1, Branches: 1, Path: "p"},
			"1  extended  1 of 2 messages, 1 other line skipped, 1 branch not imported  p\n", "", `msg="file imported"`},
		{Imported{ID: "1", Action: "unchanged", Total: 2, Skipped: 2, Branches: 2, Path: "p"},
			"1  unchanged  0 of 2 messages, 2 other lines skipped, 2 branches not imported  p\n", "", `action=unchanged`},
		{failed("p", errors.New("it failed\nTo repair it")), "", "it failed To repair it\n", `msg="import failed" pid=`},
		{Imported{Action: "skipped", Error: "no session", Path: "p"}, "", "", ""},
	} {
		stdout.Reset()
		stderr.Reset()
		log := filepath.Join(home, "logs", "agent-chatter.log")
		if err := os.RemoveAll(log); err != nil {
			t.Fatal(err)
		}
		if err := (&Import{}).print(a, test.result); err != nil || stdout.String() != test.stdout || stderr.String() != test.stderr {
			t.Errorf("%+v: %v, it printed %q and %q", test.result, err, stdout.String(), stderr.String())
		}
		logged, _ := os.ReadFile(log)
		if strings.Count(string(logged), "\n") != min(len(test.logged), 1) || !strings.Contains(string(logged), test.logged) {
			t.Errorf("%+v: it logged %q, want %q", test.result, logged, test.logged)
		}
	}
}

// A directory may have anything besides sessions. What fails is counted among the sessions.
func TestDirectoriesWithOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mixed/unknown.json": "{}", "mixed/empty.jsonl": rollout,
		"unknown/a.json": "{}", "unknown/b.json": "{}", "none/readme": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	damaged := filepath.Join(apptest.CrashedSession(t, home).Path(), apptest.AliceID+".jsonl")
	if err := os.Link(damaged, filepath.Join(dir, "mixed", "damaged.jsonl")); err != nil {
		t.Fatal(err)
	}
	replaceIn(t, damaged, "review", "2eview")
	none := "There are no files with sessions in DIR or its subdirectories: " +
		"their names end in .json, .jsonl, .jsonl.zst or .bundle."
	for name, want := range map[string]string{
		"mixed": "Session damaged has N bytes of an unfinished write at its end (byte 0); " +
			"events up to 17 in them can be read, but are not valid.\n" +
			"They are left by a crash, or damaged events after the last sync mark. The next message sets them aside.\n" +
			"DIR/damaged.jsonl: there is no event in it\n" +
			"Skipped 1 file without a session, 1 session without messages.\nNot imported: 1 of 1 session.",
		"unknown": "Skipped 2 files without a session.\n" +
			none, "none": none,
	} {
		path := filepath.Join(dir, name)
		stdout, stderr, code := runCommand(t, t.TempDir(), &Import{Path: []string{path}, Format: "auto"})
		got := regexp.MustCompile(`\d+ bytes`).ReplaceAllString(strings.ReplaceAll(stderr, path, "DIR"), "N bytes")
		if stdout != "" || got != want || code != app.ExitFailed {
			t.Errorf("%s: exit code %d, it printed %q and %q, want %q", name, code, stdout, got, want)
		}
	}
}

const rollout = `{"timestamp":"2026-11-21T02:30:23Z","type":"session_meta","payload":{"id":"c1"}}` + "\n"
