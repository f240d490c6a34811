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
	ID     string `arg:"" help:"The session: id, ID#N, title or latest."`
	At     string `help:"Last event to copy: number, time or turn:N." placeholder:"X"`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Fork) Help() string {
	return `Examples:
  agent-chatter sessions fork latest
  agent-chatter sessions fork 7QN3 --at turn:2
  agent-chatter sessions fork 7QN3#12
  agent-chatter chat --resume $(agent-chatter sessions fork 7QN3 --at 12)`
}

// Run implements the command. It prints the id of the copy.
func (cmd *Fork) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	name, at, err := a.CutEvent(ctx, cmd.ID, "at", cmd.At)
	if err != nil {
		return err
	}
	s, err := a.Find(ctx, name)
	if err != nil {
		return err
	}
	fork, err := ForkSession(ctx, a, s, at)
	if err != nil {
		return err
	}
	a.Notice(ForkedText(s.ID, fork))
	return printID(a, cmd.Output, fork)
}

// printID prints the id of a new session.
func printID(a *app.App, output, id string) error {
	if output == "json" {
		return app.WriteJSON(a.Stdout, map[string]string{"id": id})
	}
	_, err := fmt.Fprintln(a.Stdout, id)
	return err
}

// ForkSession copies the events of a session up to a point, such as 7, a time or turn:3, or all if at is "", and
// returns the id of the copy. It prints a notice if a part of the session may be missing.
func ForkSession(ctx context.Context, a *app.App, s catalog.Session, at string) (string, error) {
	span, err := view.ParseSpan("", "", at)
	if err != nil {
		return "", err
	}
	r := view.NewReplay(a, s)
	upTo, err := span.LastSeq(r.Events(ctx))
	if err != nil {
		return "", err
	}
	if upTo == 0 && at != "" {
		return "", app.Exit(app.ExitFailed, view.NotReachedText(r.ID, at))
	}
	return sessioncopy.Fork(ctx, r.Dir, r.ID, upTo)
}

// ForkedText is for a session that is a copy of another.
func ForkedText(id, fork string) string { return fmt.Sprintf("Session %s is a copy of %s.", fork, id) }
