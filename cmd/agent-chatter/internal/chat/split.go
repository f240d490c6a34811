package chat

import (
	"context"
	"fmt"
)

// followSplit ends a conversation whose session another machine continues, and continues in a fork with what was
// written here since.
func (r *repl) followSplit(ctx context.Context) error {
	status, final := r.hub.Final()
	if !final || r.c.Session() == nil {
		return nil
	}
	team := r.c.Team()
	r.report(status.Err)
	if err := r.c.Stop("taken over"); err != nil {
		return err
	}
	fork, err := r.hub.Split(ctx, status)
	if err != nil {
		return err
	}
	resume := status.SessionID
	if fork != "" {
		resume = fork
		r.app.Notice(splitText(status.SessionID, fork))
	}
	return r.begin(ctx, opening{team: team, store: r.savedIn(), resume: resume})
}

// splitText is for a conversation that continues in a fork.
func splitText(id, fork string) string {
	return fmt.Sprintf("What was written here since then is session %s, in which you continue. Session %s has the "+
		"events of the hub.", fork, id)
}
