//go:build unix

package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// followHome returns a follower of the sessions of a home, before its first poll, and what it prints.
func followHome(t *testing.T, home string) (f *allFollower, stdout, stderr *strings.Builder) {
	t.Helper()
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &Tail{N: 0, Output: "json"}
	list, err := a.Catalog.List(t.Context(), catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	sessions, faults := cmd.printLast(t.Context(), a, list.Sessions)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return &allFollower{cmd: cmd, app: a, sessions: sessions}, stdout, stderr
}

// A session can grow and be archived between two polls.
func TestTailAllShowsSessionsArchivedBeforePolling(t *testing.T) {
	home := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 2}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	journals := journal.NewDir(filepath.Join(home, "sessions", "demo"), journal.Options{})
	archive := func(id string) {
		t.Helper()
		if err := journaltest.Archive(t.Context(), journals, id); err != nil {
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
		message := projection.NewMessage(text, time.Now(), you, text, nil)
		if _, err := log.Append(projection.Record(time.Now(), message)); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		archive(id)
	}
	archive(ids[0])

	f, stdout, stderr := followHome(t, home)
	poll := func() string {
		t.Helper()
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stdout.Reset()
		return stdout.String()
	}
	if got := poll(); got != "" {
		t.Errorf("without new events it printed\n%s", got)
	}
	for n := range 3 {
		for _, id := range ids {
			text := fmt.Sprint("grown ", n)
			grow(id, text)
			if got := poll(); strings.Count(got, "message.appended") != 1 || !strings.Contains(got, text) {
				t.Errorf("after message %q it printed\n%s", text, got)
			}
		}
	}
	if got := poll(); got != "" || stderr.Len() > 0 {
		t.Errorf("at the end it printed %q and the notices %q", got, stderr.String())
	}
}

// A damaged session is tried again each time it grows.
func TestTailAllReportsEachSessionErrorOnce(t *testing.T) {
	var stderr strings.Builder
	f := &allFollower{app: &app.App{Printer: app.Printer{IO: app.IO{Stderr: &stderr}}}}
	s := &followedSession{}
	for range 3 {
		damage := &journal.CorruptError{Path: apptest.AliceID + ".jsonl", Line: 2, Reason: "injected"}
		f.report(s, apptest.AliceID, damage)
	}
	f.report(s, apptest.AliceID, journal.ErrNotFound)
	if got := stderr.String(); strings.Count(got, "injected") != 1 || strings.Count(got, "is gone") != 1 {
		t.Errorf("it printed\n%s", got)
	}
}

func TestTailAllDoesNotPrintAnotherHistory(t *testing.T) {
	home := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 1}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	journals := journal.NewDir(filepath.Join(home, "sessions", "demo"), journal.Options{})
	f, stdout, stderr := followHome(t, home)
	if err := os.Remove(filepath.Join(journals.Path(), ids[0]+".jsonl")); err != nil {
		t.Fatal(err)
	}
	log, err := journals.Create(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := log.Append(projection.Record(time.Now(), projection.SessionResumed{})); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(log.Close(), journaltest.Archive(t.Context(), journals, ids[0])); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := stderr.String(); stdout.Len() > 0 || strings.Count(got, "was replaced") != 1 {
		t.Errorf("it printed %q and the notices %q", stdout.String(), got)
	}
}

func TestTailAllFollowsOnlySessionsThatHaveGrown(t *testing.T) {
	home := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 3}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	dir := catalog.New(filepath.Join(home, "sessions"), journal.Options{}).Team("demo")
	f, _, _ := followHome(t, home)
	ctx, stop := context.WithCancel(t.Context())
	defer f.running.Wait()
	defer stop()
	followed := func() (ids []string) {
		t.Helper()
		if err := f.poll(ctx); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for key, s := range f.sessions {
			if s.active {
				ids = append(ids, filepath.Base(key))
			}
		}
		return ids
	}
	if got := followed(); len(got) > 0 {
		t.Errorf("unchanged sessions are followed: %q", got)
	}
	if err := dir.Append(ctx, ids[1], projection.Record(time.Now(), projection.SessionPinned{Pinned: true})); err != nil {
		t.Fatal(err)
	}
	if got := followed(); !slices.Equal(got, ids[1:2]) {
		t.Errorf("%q are followed, want %q", got, ids[1:2])
	}
}
