package sessions

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// forkedText says which session is the copy.
func forkedText(id, fork string) string {
	return fmt.Sprintf("Session %s is a copy of %s, which stays as it is.", fork, id)
}

type Fork struct {
	ID string `arg:"" help:"The session."`
	At string `help:"Copy it up to there: the number of an event, a time, or turn:N; without it, all." placeholder:"X"`
}

// Help shows examples first.
func (Fork) Help() string {
	return `Examples:
  agent-chatter sessions fork latest
  agent-chatter sessions fork 7QN3 --at turn:2
  agent-chatter chat --resume $(agent-chatter sessions fork 7QN3 --at 12)`
}

// Run implements the command. It prints the id of the copy.
func (cmd *Fork) Run(a *app.App) error {
	upTo, err := view.ParseSpan("", "", cmd.At)
	if err != nil {
		return err
	}
	c := a.Catalog
	s, err := a.Find(context.Background(), cmd.ID)
	if err != nil {
		return err
	}
	r := view.ReplayOf(a, c, s)
	seq, err := r.LastSeq(upTo)
	if err != nil {
		return err
	}
	if seq == 0 && cmd.At != "" {
		return app.Exit(app.ExitFailed, view.NotReachedText(r.ID, cmd.At))
	}
	fork, err := ForkSession(a, r.Team, r.ID, seq)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, fork)
	return err
}

// fork makes a copy of a session of the team, up to the event of that number or
// all of it, says so, and returns its id.
func ForkSession(a *app.App, team *catalog.Dir, id string, upTo uint64) (string, error) {
	fork, err := sessioncopy.Fork(context.Background(), team, id, upTo)
	if err == nil {
		a.Notice(forkedText(id, fork))
	}
	return fork, err
}
