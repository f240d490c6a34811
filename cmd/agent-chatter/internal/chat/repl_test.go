package chat

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// newTestREPL returns a repl whose conversation has not begun, and what it prints. Escape is pressed during each turn
// if escape is true, and Ctrl+C if interrupt is true.
func newTestREPL(t *testing.T, escape, interrupt bool) (*repl, *bytes.Buffer) {
	t.Helper()
	var shown bytes.Buffer
	c := coordinator.New(coordinator.Options{Store: store.NewFiles(catalog.New(t.TempDir(), journal.Options{}))})
	if err := c.SetTeam(t.Context(), team.Demo(), coordinator.SetTeamOptions{}); err != nil {
		t.Fatal(err)
	}
	return &repl{app: &app.App{Printer: app.Printer{IO: app.IO{Stderr: &shown}}}, c: c, input: &pressed{escape: escape, interrupt: interrupt}}, &shown
}

// pressed are keys that are pressed as soon as a turn runs.
type pressed struct {
	flagLines
	escape, interrupt bool
	watching          int
}

func (k *pressed) Watch(onEscape func(string), onInterrupt func(), _ func(tty.Line) bool) (stop func()) {
	k.watching++
	if k.escape {
		onEscape("")
	}
	if k.interrupt {
		onInterrupt()
	}
	return func() { k.watching-- }
}

func TestLookIsKeptWhileTurnsRun(t *testing.T) {
	r, _ := newTestREPL(t, false, false)
	r.statuses.Refresh(&status{Had: 1})
	if r.statuses.Last() != nil {
		t.Error("without a turn it is kept")
	}
	err := r.runTurns(t.Context(), func(context.Context) error {
		if r.statuses.Last() == nil {
			t.Error("there is none during a turn")
		}
		r.statuses.Refresh(&status{Had: 2})
		if had := r.status().Had; had != 2 {
			t.Errorf("it is of %d turns", had)
		}
		return nil
	})
	if err != nil || r.statuses.Last() != nil || r.status().Had != 0 {
		t.Errorf("after the turns it is %+v, %v", r.statuses.Last(), err)
	}
}

func TestEndOfTurns(t *testing.T) {
	failure := errors.New("the disk is full")
	for _, tt := range []struct {
		name                      string
		escape, interrupt, signal bool
		err                       error
		cancelled, ends, failed   bool
		refusals                  int
	}{
		{"a reply", false, false, false, nil, false, false, false, 1},
		{"an error", false, false, false, failure, false, false, true, 1},
		{"the error of a turn", false, false, false, &coordinator.TurnError{}, false, false, true, 1},
		{"Escape", true, false, false, context.Canceled, true, false, false, 0},
		{"Ctrl+C", false, true, false, context.Canceled, true, true, false, 0},
		{"a signal", false, false, true, context.Canceled, true, true, false, 0},
	} {
		r, shown := newTestREPL(t, tt.escape, tt.interrupt)
		r.refusals = []tty.Line{{Text: "too risky", Message: true}}
		ctx, cancel := context.WithCancel(t.Context())
		if tt.signal {
			cancel()
		}
		cancelled := false
		err := r.runTurns(ctx, func(ctx context.Context) error {
			cancelled = ctx.Err() != nil
			return tt.err
		})
		cancel()
		if cancelled != tt.cancelled || (err != nil) != tt.ends || r.failed.Load() != tt.failed || len(r.refusals) != tt.refusals {
			t.Errorf("%s: cancelled: %v, error: %v, failed: %v, %d refusals", tt.name, cancelled, err, r.failed.Load(), len(r.refusals))
		}
		if printed := strings.Contains(shown.String(), "isk is full"); printed != (tt.err == failure) {
			t.Errorf("%s: it prints %q", tt.name, shown)
		}
		if k := r.input.(*pressed); k.watching != 0 || r.turns.Err() == nil {
			t.Errorf("%s: keys are watched after it, or its context goes on", tt.name)
		}
	}
}

func TestRefusalsAreTheNextMessages(t *testing.T) {
	r, _ := newTestREPL(t, false, false)
	r.refusals = []tty.Line{{Text: "/one", Message: true}, {Text: "two", Message: true}}
	for _, want := range []string{"/one", "two"} {
		if line, err := r.next(t.Context()); err != nil || line.Text != want || !line.Message {
			t.Errorf("%+v, %v, want %s", line, err, want)
		}
	}
}

func TestCompletedCommandsHaveHelp(t *testing.T) {
	s := sources(&app.App{Home: t.TempDir(), Cwd: t.TempDir()}, func() {})
	if s.Files == nil || slices.ContainsFunc(s.Commands, func(c editor.Choice) bool { return c.Help == "" || c.Text == "/quit" }) {
		t.Errorf("the sources are %+v", s)
	}
	if s := sources(&app.App{Home: "/missing", Cwd: "/missing/directory"}, func() {}); s.Files != nil || len(s.Commands) == 0 {
		t.Errorf("without a directory they are %+v", s)
	}
}
