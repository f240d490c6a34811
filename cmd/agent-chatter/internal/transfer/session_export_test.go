package transfer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/google/go-cmp/cmp"
)

// newSession returns an exporter for a home with one session.
func newSession(t *testing.T) (*exporter, catalog.Session) {
	t.Helper()
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := a.Catalog.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	return newExporter(a, []catalog.Session{session}), session
}

func TestExportOmitsMessagesAppendedMeanwhile(t *testing.T) {
	e, session := newSession(t)
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	for format, write := range formats {
		x, err := e.open(t.Context(), session, format)
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		var before, after strings.Builder
		if err := write(t.Context(), x, &before); err != nil {
			t.Fatal(err)
		}
		message := projection.Record(time.Now(), projection.NewMessage("m5", time.Now(), you, "and five", nil))
		if err := e.app.Catalog.At(session.Dir()).Append(t.Context(), session.ID, message); err != nil {
			t.Fatal(err)
		}
		if err := write(t.Context(), x, &after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.String(), after.String()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", format, diff)
		}
	}
}

// fullWriter fails after n bytes.
type fullWriter struct{ n int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, syscall.ENOSPC
	}
	w.n -= len(p)
	return len(p), nil
}

func TestExportReportsAFullDisk(t *testing.T) {
	e, session := newSession(t)
	for format, write := range formats {
		x, err := e.open(t.Context(), session, format)
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		var whole strings.Builder
		if err := write(t.Context(), x, &whole); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < whole.Len(); n += 7 {
			if err := write(t.Context(), x, &fullWriter{n}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: after %d of %d bytes: %v", format, n, whole.Len(), err)
			}
		}
		if err := write(t.Context(), x, &fullWriter{whole.Len() - 1}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: at the last byte: %v", format, err)
		}
	}
}

func TestFailedExportLeavesNoFile(t *testing.T) {
	e, _ := newSession(t)
	path := filepath.Join(t.TempDir(), "a.md")
	for _, to := range []string{"", path} {
		err := e.write(to, func(w io.Writer) error {
			_, err := io.WriteString(w, "# half")
			return errors.Join(err, syscall.EIO)
		})
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if found, err := filepath.Glob(filepath.Dir(path) + "/*"); err != nil || len(found) > 0 {
		t.Errorf("it left %q, %v", found, err)
	}
}

func TestExportStopsWhenInterrupted(t *testing.T) {
	e, session := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for format, write := range formats {
		x, err := e.open(t.Context(), session, format)
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		err = write(ctx, x, io.Discard)
		if !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ExitInterrupted {
			t.Errorf("%s: %v", format, err)
		}
	}
	cmd := &Export{All: true, Format: "bundle"}
	if err := cmd.bundle(ctx, e, []catalog.Session{session}); !errors.Is(err, context.Canceled) {
		t.Errorf("bundle: %v", err)
	}
}

func TestFailedExportKeepsExistingFile(t *testing.T) {
	e, session := newSession(t)
	for format, write := range formats {
		x, err := e.open(t.Context(), session, format)
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := errors.New("failed")
		err = e.write(path, func(w io.Writer) error {
			if err := write(t.Context(), x, w); err != nil {
				return err
			}
			return failed
		})
		content, readErr := os.ReadFile(path)
		if !errors.Is(err, failed) || readErr != nil || string(content) != "earlier" {
			t.Errorf("%s: %v; the file has %q, %v", format, err, content, readErr)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("%s: the directory has %v, %v", format, entries, err)
		}
	}
}

func TestImportStopsWhenInterrupted(t *testing.T) {
	e, session := newSession(t)
	x, err := e.open(t.Context(), session, "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := e.write(path, func(w io.Writer) error { return formats["jsonl"](t.Context(), x, w) }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := ImportJournal(ctx, e.app, path, false); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("%+v, %v", r, r.Err)
	}
	if results := (&Import{Format: "auto"}).importFiles(ctx, e.app, []file{{path: path}}); len(results) > 0 {
		t.Errorf("%+v", results)
	}
	if r := ImportJournal(t.Context(), e.app, path, false); r.Action != "unchanged" {
		t.Errorf("%+v", r)
	}
}
