package chat

import (
	"context"
	"errors"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Resume runs a chat that resumes the session that was chosen in the browser.
func Resume(a *app.App, c browse.Choice) error {
	cmd := &Command{Input: "text", Output: "text"}
	cmd.take(c)
	return cmd.Run(a)
}

// take makes the command resume a session, or a fork of it.
func (cmd *Command) take(c browse.Choice) {
	cmd.chosen = c.Session.Key()
	if c.ForkAt > 0 {
		cmd.Fork, cmd.At = true, strconv.FormatUint(c.ForkAt, 10)
	}
}

// fetched returns a session that was chosen in the browser, after fetching it if it is only on the hub.
func fetched(ctx context.Context, a *app.App, key catalog.Key) (catalog.Session, error) {
	defer a.Begin("Reading the session")()
	return a.Remote.Session(ctx, a.Catalog.At(key.Dir), key.ID)
}

// pick lets the user choose the session of the command in the browser.
func (cmd *Command) pick(a *app.App) (chosen bool, err error) {
	if !a.IsTerminal() || a.Plain {
		return false, app.UsageError("--pick needs a terminal. Name the session with --resume ID.")
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	var o browse.Options
	if cmd.Team != "" {
		t, err := teams.Loader{App: a, Forget: cmd.NoSave}.Load(ctx, cmd.Team)
		if err != nil {
			return false, err
		}
		o.Query.Team = t.ID
	}
	choice, err := browse.Run(ctx, a, o)
	cmd.take(choice)
	return choice.Chosen, err
}

// browse opens the browser on the chat's terminal, with a search for text unless it is "", and resumes the session that
// the user chooses.
func (r *repl) browse(ctx context.Context, text string) error {
	var choice browse.Choice
	err := r.lend(func(a *app.App) (err error) {
		choice, err = browse.Run(ctx, a, browse.Options{Running: r.key(), Text: text})
		return err
	})
	switch {
	case err != nil:
		r.report(err)
		return nil
	case !choice.Chosen:
		return nil
	case r.noSave:
		r.reject("%s", textNoSaveNoResume)
		return nil
	}
	s, err := fetched(ctx, r.app, choice.Session.Key())
	if err != nil {
		r.report(err)
		return nil
	}
	return r.resume(ctx, s, choice.ForkAt > 0, strconv.FormatUint(choice.ForkAt, 10))
}

// place returns where the running session with an id is.
func (r *repl) place(id string) (*catalog.Dir, string, error) {
	if r.sessionFile != "" {
		return r.app.JournalAt(r.sessionFile)
	}
	return r.app.Catalog.Team(r.c.Team().ID), id, nil
}

// key identifies the running session. The zero Key is none.
func (r *repl) key() (k catalog.Key) {
	if s := r.c.Session(); s != nil {
		k = r.keyOf(s.ID)
	}
	return k
}

// keyOf identifies the running session, which has an id. The zero Key is none.
func (r *repl) keyOf(id string) (k catalog.Key) {
	if dir, id, err := r.place(id); err == nil {
		k = catalog.Key{Dir: dir.Journals().Path(), ID: id}
	}
	return k
}

// setOwn sets the session for other goroutines.
func (r *repl) setOwn(id string) {
	key := r.keyOf(id)
	r.own.Store(&key)
	if r.live != nil {
		r.live.Set(func(s *live.State) { s.Session = key.Name() })
		r.listener.Start()
	}
}

// lend gives the terminal to a program while the console does not draw.
func (r *repl) lend(use func(*app.App) error) error {
	return r.display.console.Lend(func(streams app.IO) error {
		own := *r.app
		own.IO = streams
		return use(&own)
	})
}

// slashTimeline shows the turns of the session, and forks it after one that the user chooses. During a turn, and
// without a terminal of its own, it prints them.
func (r invocation) slashTimeline(ctx context.Context, _ string) error {
	s, err := r.saved(ctx)
	fork := uint64(0)
	switch {
	case err != nil:
	case r.display.console == nil || ctx == r.turns:
		err = turns.Print(ctx, r.app, r.results(), s)
	default:
		err = r.lend(func(a *app.App) (err error) {
			fork, err = turns.Run(ctx, a, s)
			return err
		})
	}
	if r.report(err); err != nil || fork == 0 {
		return nil
	}
	return r.slashFork(ctx, strconv.FormatUint(fork, 10))
}

// saved returns the session as it is on the disk.
func (r *repl) saved(ctx context.Context) (s catalog.Session, err error) {
	now := r.status()
	if now.Session == nil || r.noSave || r.manualSave && now.Status.Unsaved {
		return s, errors.New("this conversation is not on the disk")
	}
	dir, id, err := r.place(now.Session.ID)
	if err != nil {
		return s, err
	}
	return dir.Session(ctx, id)
}
