package filechanges

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/projection"
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
	all, members, err := worktrees(ctx, a, s)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if strings.EqualFold(member, m.Name) || strings.EqualFold(member, m.DisplayName) {
			member = m.ID
		}
	}
	var others []string
	for _, w := range all {
		if w.MemberID == member {
			return w, w.checkOwn(a.Home)
		}
		if !w.Dropped {
			others = append(others, w.MemberID)
		}
	}
	return nil, app.Exit(app.ExitFailed, noWorktreeText(s.ID, member, others))
}

// checkOwn returns an error if the worktree is not that of the session: a copy of a session has the events of the
// original, and so does one in a home that was moved.
func (w *worktree) checkOwn(home string) error {
	own, err := workspace.WorktreeDir(home, w.session.ID, w.MemberID)
	if err != nil || w.Dir == own || w.Dropped {
		return err
	}
	original := filepath.Base(filepath.Dir(w.Dir))
	if of, err := workspace.WorktreeDir(home, original, w.MemberID); err != nil || w.Dir != of {
		original = "" // it is in another home
	}
	return app.Exit(app.ExitFailed, notOwnText(w.session.ID, w.MemberID, w.Dir, original))
}

// worktrees returns those that a session has recorded here, and its members.
func worktrees(ctx context.Context, a *app.App, s catalog.Session) ([]*worktree, []projection.Speaker, error) {
	replay := view.NewReplay(a, s)
	state, _, err := replay.Dir.Load(ctx, replay.ID)
	if err != nil {
		return nil, nil, err
	}
	key := host.HomeKey(a, true)()
	histories, err := coordinator.WorktreeHistories(key, replay.Events(ctx))
	var all []*worktree
	for _, h := range histories {
		all = append(all, &worktree{h, s, key})
	}
	return all, state.Members(), err
}
