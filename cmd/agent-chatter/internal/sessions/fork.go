package sessions

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// Fork copies a session.
type Fork struct {
	ID string `arg:"" help:"The session: id, title or latest."`
	At string `help:"Last event to copy: number, time or turn:N." placeholder:"X"`
}

// Help returns examples.
func (Fork) Help() string {
	return `Examples:
  agent-chatter sessions fork latest
  agent-chatter sessions fork 7QN3 --at turn:2
  agent-chatter chat --resume $(agent-chatter sessions fork 7QN3 --at 12)`
}

// Run implements the command. It prints the id of the copy.
func (cmd *Fork) Run(a *app.App) error {
	span, err := view.ParseSpan("", "", cmd.At)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	s, err := a.Find(ctx, cmd.ID)
	if err != nil {
		return err
	}
	r := view.NewReplay(a, s)
	upTo, err := span.LastSeq(r.Events(ctx))
	if err != nil {
		return err
	}
	if upTo == 0 && cmd.At != "" {
		return app.Exit(app.ExitFailed, view.NotReachedText(r.ID, cmd.At))
	}
	fork, err := ForkSession(ctx, a, r.Dir, r.ID, upTo)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, fork)
	return err
}

// ForkSession copies the events of a session up to the sequence number upTo, or all if
// upTo is 0. It prints a notice and returns the id of the copy.
func ForkSession(ctx context.Context, a *app.App, dir *catalog.Dir, id string, upTo uint64) (string, error) {
	fork, err := sessioncopy.Fork(ctx, dir, id, upTo)
	if err == nil {
		a.Notice(forkedText(id, fork))
	}
	return fork, err
}

func forkedText(id, fork string) string { return fmt.Sprintf("Session %s is a copy of %s.", fork, id) }
