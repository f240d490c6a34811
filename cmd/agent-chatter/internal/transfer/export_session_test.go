package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A session is written as the command writes it.
func TestExportSessionEqualsExport(t *testing.T) {
	e, session := newSession(t)
	for _, name := range []string{"a.md", "a.html", "a.jsonl", "a.bundle", "a.json", "a", "new" + string(filepath.Separator)} {
		to, want := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		if strings.HasPrefix(name, "new") {
			to, want = to+string(filepath.Separator), want+string(filepath.Separator)
		}
		path, err := ExportSession(t.Context(), e.app, session, to)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := (&Export{ID: []string{session.ID}, Format: "auto", To: want}).Run(e.app); err != nil {
			t.Fatal(name, err)
		}
		wantPath := want
		if app.IsDirectory(want) {
			wantPath = filepath.Join(want, filepath.Base(path))
		}
		got, err := os.ReadFile(path)
		expected, wantErr := os.ReadFile(wantPath)
		if err != nil || wantErr != nil || string(got) != string(expected) || len(got) == 0 {
			t.Errorf("%s: %s has %d bytes, %s has %d; %v, %v", name, path, len(got), wantPath, len(expected), err, wantErr)
		}
		if _, err := ExportSession(t.Context(), e.app, session, path); err == nil ||
			!strings.Contains(app.Explain(err).Text, path+" exists already; nothing was written.") {
			t.Errorf("%s: writing it again returns %v", name, err)
		}
		if again, err := os.ReadFile(path); err != nil || string(again) != string(got) {
			t.Errorf("%s: it was replaced", name)
		}
	}
}

func TestExportSessionRefusals(t *testing.T) {
	e, session := newSession(t)
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link.md")
	if err := os.WriteFile(file, []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.SkipOnWindows(t, os.Symlink("missing", link))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	gone := session
	gone.ID = apptest.BobID
	for _, test := range []struct {
		ctx  context.Context
		to   string
		gone bool
		want string
	}{
		{t.Context(), "", false, "Name a file."},
		{t.Context(), "-", false, "Name a file."},
		{t.Context(), link, false, "exists already"},
		{t.Context(), filepath.Join(dir, "none", "a.md"), false, "There is no directory"},
		{t.Context(), filepath.Join(file, "a.md"), false, "not a directory"},
		{t.Context(), filepath.Join(dir, "b.md"), true, "no such journal"},
		{cancelled, filepath.Join(dir, "b.md"), false, context.Canceled.Error()},
		{cancelled, filepath.Join(dir, "b.bundle"), false, context.Canceled.Error()},
	} {
		s := session
		if test.gone {
			s = gone
		}
		path, err := ExportSession(test.ctx, e.app, s, test.to)
		if path != "" || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %q, %v", test.to, path, err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if target, linkErr := os.Readlink(link); err != nil || len(names) != 2 || linkErr != nil || target != "missing" {
		t.Errorf("the directory has %q, %v, %v", names, err, linkErr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "earlier" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// The file was written, but an import would refuse it.
func TestExportSessionWithInvalidEvents(t *testing.T) {
	e, session := newSession(t)
	dir := e.app.Catalog.At(session.Dir())
	invalid := projection.Record(session.UpdatedAt, projection.TurnStarted{})
	if err := dir.Append(t.Context(), session.ID, invalid); err != nil {
		t.Fatal(err)
	}
	session, err := dir.Session(t.Context(), session.ID)
	if err != nil || session.Invalid == 0 {
		t.Fatal(session.Invalid, err)
	}
	for name, refused := range map[string]bool{"a.md": false, "a.jsonl": true, "a.bundle": true} {
		to := filepath.Join(t.TempDir(), name)
		path, err := ExportSession(t.Context(), e.app, session, to)
		var exit *app.ExitError
		if path != to || errors.As(err, &exit) != refused {
			t.Errorf("%s: got %q, %v", name, path, err)
		}
	}
}
