//go:build unix

package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// A session can grow and go into the archive between two looks.
func TestTailAllShowsSessionsArchivedBeforePolling(t *testing.T) {
	home := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 2}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	journals := journal.NewDir(filepath.Join(home, "sessions", "demo"), journal.Options{})
	archive := func(id string) {
		t.Helper()
		if err := journals.Archive(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	grow := func(id, text string) {
		t.Helper()
		log, err := journals.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
		said := projection.NewMessage(text, time.Now(), you, text, nil)
		if _, err := log.Append(projection.Record(time.Now(), said)); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		archive(id)
	}
	archive(ids[0])

	var shown, said strings.Builder
	a, err := app.New(app.IO{Stdout: &shown, Stderr: &said}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &Tail{N: 0, Output: "json"}
	list, err := a.Catalog.List(context.Background(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	known, err := cmd.lastOfAll(a, a.Catalog, list.Sessions)
	if err != nil {
		t.Fatal(err)
	}
	w := &watchAll{cmd: cmd, app: a, catalog: a.Catalog, sessions: known}
	look := func() string {
		t.Helper()
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer shown.Reset()
		return shown.String()
	}
	if got := look(); got != "" {
		t.Errorf("there was nothing new, and it showed\n%s", got)
	}
	for n := range 3 {
		for _, id := range ids {
			text := fmt.Sprint("grown ", n)
			grow(id, text)
			if got := look(); strings.Count(got, "message.appended") != 1 || !strings.Contains(got, text) {
				t.Errorf("of %q it showed\n%s", text, got)
			}
		}
	}
	if got := look(); got != "" || said.Len() > 0 {
		t.Errorf("at the end it showed %q and said %q", got, said.String())
	}
}

// A damaged session that grows is tried again every time it has grown.
func TestTailAllReportsEachSessionErrorOnce(t *testing.T) {
	var said strings.Builder
	w := &watchAll{app: &app.App{IO: app.IO{Stderr: &said}}}
	s := &watched{}
	for range 3 {
		w.say(s, apptest.AliceID, &journal.CorruptError{Path: apptest.AliceID + ".jsonl", Line: 2, Reason: "of a test"})
	}
	w.say(s, apptest.AliceID, journal.ErrNotFound)
	if got := said.String(); strings.Count(got, "of a test") != 1 || strings.Count(got, "is gone") != 1 {
		t.Errorf("it said\n%s", got)
	}
}
