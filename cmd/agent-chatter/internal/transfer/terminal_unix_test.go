//go:build unix

package transfer

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/google/go-cmp/cmp"
)

func TestImportPrintsATableOnATerminal(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", dir)
	message := `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}` + "\n"
	for name, text := range map[string]string{
		"rollout.jsonl": rollout + message, "notes.json": "{}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(columns uint16, names ...string) string {
		var paths []string
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return apptest.OnTerminal(t, columns, func(terminal *os.File) {
			a, err := app.New(app.IO{Stdout: terminal, Stderr: io.Discard}, app.Options{Home: home})
			if err != nil {
				t.Fatal(err)
			}
			_ = (&Import{Path: paths, Format: "auto", Output: "text"}).Run(a) // reports notes.json
		})
	}
	list := func() []catalog.Session {
		a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		list, err := a.Catalog.List(t.Context(), catalog.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return list.Sessions
	}
	head := "\x1b[1mFILE\x1b[m             \x1b[1mRESULT\x1b[m     \x1b[1mMESSAGES\x1b[m  "
	got := run(100, "rollout.jsonl", "notes.json")
	id := list()[0].ID
	want := strings.Replace(head, "RESULT\x1b[m     ", "RESULT\x1b[m    ", 1) + "\x1b[1mID\x1b[m\n~/rollout.jsonl  \x1b[32mimported\x1b[m    1 of 1  \x1b[36m" + id + "\x1b[m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("imported (-want +got):\n%s", diff)
	}
	got = run(100, "rollout.jsonl")
	want = head + "\x1b[1mID\x1b[m\n~/rollout.jsonl  \x1b[2munchanged\x1b[m    0 of 1  \x1b[36m" + id + "\x1b[m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unchanged (-want +got):\n%s", diff)
	}
	parts := importedTable([]Imported{{Path: "/a/b.jsonl", ID: id, Action: "extended", Taken: 2, Total: 12, Skipped: 3, Branches: 2}})
	got = ansi.NoColor.Encode(parts.Lines(120)[1])
	if want := "/a/b.jsonl  extended   2 of 12  3 other lines skipped, 2 branches not imported  " + id; got != want {
		t.Errorf("in parts: %q, want %q", got, want)
	}
	if got := run(100, "notes.json"); got != "" {
		t.Errorf("without a session: %q", got)
	}
}
