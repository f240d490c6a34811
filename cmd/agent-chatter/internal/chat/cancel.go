package chat

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// slashCancel cancels the turn of a member, or all that run. It may run during them.
func (r invocation) slashCancel(_ context.Context, name string) error {
	cancel := r.cancelTurns.Load()
	if cancel == nil {
		r.reject("%s", textNothingToCancel)
		return nil
	}
	if name == "" {
		(*cancel)()
		return nil
	}
	m, ok := r.c.Team().Match(name)
	if !ok || !r.c.CancelTurn(m.ID) {
		r.reject("%s", notCancelledText(name))
	}
	return nil
}

const textNothingToCancel = "No turn runs: there is nothing to cancel."

// notCancelledText is for a name of a member that has no turn.
func notCancelledText(name string) string {
	return fmt.Sprintf("No turn of %s runs. /status says who speaks; /cancel alone cancels all turns.",
		tty.SafeLine(name))
}
