package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// textNoOthers is for a list of sessions that is empty without the current one.
const textNoOthers = "There are no other sessions."

// deploy ends the conversation and begins one with another team. On a terminal it offers
// to resume that team's latest session.
func (r *repl) deploy(ctx context.Context, name string) error {
	t, err := r.teams(ctx).Load(ctx, name)
	if err != nil {
		r.report(err)
		return nil
	}
	resume := ""
	if latest, found := r.latestOther(ctx, t); found && !r.noKeys() && !r.noSave {
		answer, err := r.askRestore(ctx, latest)
		switch {
		case err != nil:
			return err
		case answer == tty.KeyEscape:
			return nil
		case answer == 'r':
			resume = latest.ID
		}
	}
	return r.switchTo(ctx, opening{team: t, store: r.newStore(), resume: resume})
}

// latestOther returns the latest session of a team that can be resumed, except the running
// one.
func (r *repl) latestOther(ctx context.Context, t *team.Team) (catalog.Session, bool) {
	list, err := r.app.Catalog.List(ctx, catalog.Query{Team: t.ID})
	if err != nil {
		r.report(err)
		return catalog.Session{}, false
	}
	sessions := list.Sessions
	if current := r.c.Session(); current != nil {
		sessions = slices.DeleteFunc(sessions, func(s catalog.Session) bool { return s.ID == current.ID })
	}
	latest, err := r.app.FirstSound(r.app.Compatible(sessions), nil)
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		r.report(err)
	}
	return latest, err == nil
}

// askRestore returns 'r', 'n' or tty.KeyEscape.
func (r *repl) askRestore(ctx context.Context, latest catalog.Session) (rune, error) {
	question := offerQuestion(latest.Row, time.Now())
	for {
		r.app.Notice(question)
		key, err := r.readKey(ctx)
		switch {
		case err != nil:
			return 0, errEnd
		case key == 'r' || key == 'R':
			return 'r', nil
		case key == 'n' || key == 'N':
			return 'n', nil
		case key == tty.KeyEscape:
			return tty.KeyEscape, nil
		}
		question = "Press R to resume, N to start new, or Escape to cancel."
	}
}

// readKey waits for a key. On a plain terminal it is the first letter of a line, or Escape for an empty one.
func (r *repl) readKey(ctx context.Context) (rune, error) {
	if r.display.console != nil {
		return r.display.console.ReadKey(ctx.Done())
	}
	line, err := r.input.Next("", ctx.Done())
	if text := strings.TrimSpace(line.Text); text != "" {
		return []rune(text)[0], err
	}
	return tty.KeyEscape, err
}

// switchTo saves and ends the conversation, and begins or resumes another. If that cannot
// be resumed, the running conversation continues.
func (r *repl) switchTo(ctx context.Context, c opening) error {
	if c.resume != "" {
		log, state, err := c.store.Open(ctx, c.team.ID, c.resume)
		if err != nil {
			r.report(err)
			return nil
		}
		if err := log.Close(state); err != nil {
			r.report(err)
			return nil
		}
	}
	if err := r.end("another conversation"); err != nil {
		r.report(err)
	}
	if err := r.begin(ctx, c); err != nil {
		r.report(err)
		return nil
	}
	r.banner()
	return nil
}

func (r *repl) slashResume(ctx context.Context, name string) error {
	if r.noSave {
		r.reject("%s", textNoSaveNoResume)
		return nil
	}
	if name == "" {
		var err error
		if name, err = r.chooseSession(ctx); err != nil || name == "" {
			return err
		}
	}
	if name == "--last" || name == "--latest" {
		others := r.others(ctx)
		if len(others) == 0 {
			r.reject("%s", textNoOthers)
			return nil
		}
		return r.resume(ctx, others[0], false, "")
	}
	session, err := r.app.FindToResume(ctx, nil, name, nil)
	if err != nil {
		r.report(err)
		return nil
	}
	return r.resume(ctx, session, false, "")
}

// resume ends the conversation and resumes a session, or a fork of it up to the point at.
func (r *repl) resume(ctx context.Context, s catalog.Session, fork bool, at string) error {
	if s.Key() == r.key() && !fork {
		r.app.Notice("This session is already open.")
		return nil
	}
	c, err := r.resumable(ctx, nil, s, fork, at)
	if err != nil {
		r.report(err)
		return nil
	}
	return r.switchTo(ctx, c)
}

// slashFork ends the conversation and resumes a copy of its session.
func (r *repl) slashFork(ctx context.Context, at string) error {
	s := r.c.Session()
	if s == nil || r.noSave || r.sessionFile != "" || r.c.Status().Unsaved {
		r.reject("This conversation is not saved in the home; there is nothing to fork.")
		return nil
	}
	session, err := r.saved(ctx)
	var fork string
	if err == nil {
		fork, err = sessions.ForkSession(ctx, r.app, session, at)
	}
	if err != nil {
		r.report(err)
		return nil
	}
	r.app.Notice(sessions.ForkedText(session.ID, fork))
	return r.switchTo(ctx, opening{team: r.c.Configured(), chosen: r.c.Chosen(), store: r.savedIn(), resume: fork})
}

// offeredSessions is how many sessions /resume lists.
const offeredSessions = 10

// others returns the sessions that can be resumed, except the running one.
func (r *repl) others(ctx context.Context) []catalog.Session {
	list, err := r.app.Catalog.List(ctx, catalog.Query{Damaged: catalog.Without})
	if err != nil {
		r.report(err)
		return nil
	}
	current := r.c.Session()
	return slices.DeleteFunc(list.Sessions, func(s catalog.Session) bool {
		return s.MessageCount == 0 || s.Newer != "" || current != nil && s.ID == current.ID
	})
}

// chooseSession lists the sessions and asks for one; "" if none was chosen.
func (r *repl) chooseSession(ctx context.Context) (string, error) {
	sessions := r.others(ctx)
	if len(sessions) == 0 {
		r.app.Notice(textNoOthers)
		return "", nil
	}
	sessions = sessions[:min(len(sessions), offeredSessions)]
	if r.scripted {
		r.reject("Name the session. Type /resume ID or /resume --last.")
		return "", nil
	}
	fmt.Fprintln(r.app.Stdout, offerList(sessions, time.Now(), tty.Columns(r.app.Stdout)))
	typed, err := r.input.Next("", ctx.Done())
	if err != nil {
		return "", errEnd
	}
	answer := strings.TrimSpace(typed.Text)
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(sessions) {
		return sessions[n-1].ID, nil
	}
	return answer, nil
}
