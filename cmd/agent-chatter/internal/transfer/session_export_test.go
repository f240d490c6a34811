package transfer

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
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
		x, err := e.open(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
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

func TestExportStopsWhenInterrupted(t *testing.T) {
	e, session := newSession(t)
	x, err := e.open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for format, write := range formats {
		err := write(ctx, x, io.Discard)
		if !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ExitInterrupted {
			t.Errorf("%s: %v", format, err)
		}
	}
	cmd := &Export{All: true, Format: "bundle"}
	if err := cmd.bundle(ctx, e, []catalog.Session{session}); !errors.Is(err, context.Canceled) {
		t.Errorf("bundle: %v", err)
	}
}

func TestImportStopsWhenInterrupted(t *testing.T) {
	e, session := newSession(t)
	x, err := e.open(t.Context(), session)
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
