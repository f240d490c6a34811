//go:build unix

package transfer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Opening a pipe without a writer blocks. A file may become one after it was listed.
func TestPipesAreNotImported(t *testing.T) {
	e, _ := newSession(t)
	a, ctx := e.app, t.Context()
	for _, name := range []string{"s.jsonl", "s.jsonl.zst", "s.bundle", "s.json"} {
		path := filepath.Join(t.TempDir(), name)
		mkfifo(t, path)
		_, detected := DetectFormat(path)
		_, snapshot := ReadSnapshot(a, path)
		errs := map[string]error{
			"DetectFormat": detected, "ReadSnapshot": snapshot, "ImportJournal": ImportJournal(ctx, a, path, false).Err,
			"ImportBundle": ImportBundle(ctx, a, path, false)[0].Err,
		}
		for _, format := range transcripts() {
			errs["ImportTranscript "+format] = ImportTranscript(ctx, a, format, path, Options{})[0].Err
		}
		for what, err := range errs {
			if !errors.As(err, new(*regularfile.KindError)) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
		if files := oldestFirst([]string{path, path}); len(files) != 2 {
			t.Errorf("%q", files)
		}
	}
}

func TestPipesAreNotExportedTo(t *testing.T) {
	e, session := newSession(t)
	path := filepath.Join(t.TempDir(), "a.md")
	mkfifo(t, path)
	for _, to := range []string{path, os.DevNull} {
		if _, err := ExportSession(t.Context(), e.app, session, to); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestPipesAreNoFilesOfATranscript(t *testing.T) {
	home := t.TempDir()
	pipe := filepath.Join(home, "s", "subagents", "agent-a.jsonl")
	mkfifo(t, pipe)
	regular, link := filepath.Join(home, "agent-b.jsonl"), filepath.Join(home, "agent-c.jsonl")
	err := os.WriteFile(regular, nil, 0o600)
	if err == nil {
		err = os.Symlink(regular, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	src := fileSource(t.Context(), filepath.Join(home, "s.jsonl"), new(bool))
	for path, want := range map[string]bool{pipe: false, link: false, regular: true, home: false} {
		if _, found := src.File(path); found != want {
			t.Errorf("%s is found: %v", path, found)
		}
	}
}
