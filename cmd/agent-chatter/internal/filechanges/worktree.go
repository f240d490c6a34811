package filechanges

import (
	"context"
	"errors"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A worktree is that of a member of a session.
type worktree struct {
	*coordinator.WorktreeHistory
	session catalog.Session
	key     []byte // of the home
}

// findWorktree returns the worktree of a member with an id or a name.
func findWorktree(ctx context.Context, a *app.App, id, member string) (*worktree, error) {
	s, err := a.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	replay := view.NewReplay(a, s)
	state, _, err := replay.Dir.Load(ctx, replay.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range state.Members() {
		if strings.EqualFold(member, m.Name) || strings.EqualFold(member, m.DisplayName) {
			member = m.ID
		}
	}
	w := &worktree{session: s, key: host.HomeKey(a, true)()}
	w.WorktreeHistory, err = coordinator.NewWorktreeHistory(member, w.key, replay.Events(ctx))
	var none *coordinator.NoWorktreeError
	if errors.As(err, &none) {
		return nil, app.Exit(app.ExitFailed, noWorktreeText(s.ID, none))
	}
	return w, err
}
