package filechanges

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// CleanWorktrees removes the worktrees that are merged, and those whose session is gone. It lists the latter first, and
// the others with the reason why they stay, and asks.
type CleanWorktrees struct {
	DryRun bool
	Yes    bool
	JSON   bool
}

// A cleanedWorktree is a worktree that may be removed.
type cleanedWorktree struct {
	workspace.FoundWorktree
	member string // its id; "": the session does not know the worktree, or is gone
	tree   workspace.Worktree
	drop   *coordinator.PreparedDrop // of a session; nil: there is none
	alone  *workspace.Running        // in a worktree that no session knows, so that no turn begins; nil: in none
	// stays is why it is not removed, safe for a terminal; "": it is.
	stays  string
	losses workspace.Losses
}

// Run examines all worktrees of the home, asks, and removes what can be removed.
func (cmd CleanWorktrees) Run(ctx context.Context, a *app.App) error {
	found, err := workspace.Worktrees(a.Home)
	if err != nil {
		return err
	}
	trashed, err := trashedSessions(a)
	if err != nil {
		return err
	}
	var all []*cleanedWorktree
	defer func() {
		for _, w := range all {
			if w.drop != nil {
				_ = w.drop.Close() // nothing was written
			}
			if w.alone != nil {
				_ = w.alone.End()
			}
		}
	}()
	for _, f := range found {
		w := &cleanedWorktree{FoundWorktree: f, tree: f.Worktree(a.Home)}
		if trashed[f.Session] {
			w.stays = textInTrash
		} else if err := w.examine(ctx, a); err != nil {
			w.stays = errorText(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b *cleanedWorktree) int {
		return min(1, len(a.member)) - min(1, len(b.member))
	})
	return cmd.clean(ctx, a, all)
}

// trashedSessions returns the ids of the sessions in the trash.
func trashedSessions(a *app.App) (map[string]bool, error) {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, t := range teams {
		items, err := trash.Of(t.Journals()).List()
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			ids[item.ID] = true
		}
	}
	return ids, nil
}

// examine finds the session of the worktree, and what the removal would lose.
func (w *cleanedWorktree) examine(ctx context.Context, a *app.App) (err error) {
	s, _, err := a.Catalog.Find(ctx, w.Session)
	var none *catalog.NotFoundError
	switch {
	case errors.As(err, &none) || err == nil && s.ID != w.Session:
		return w.examineAlone(ctx)
	case err != nil:
		return err
	}
	all, _, err := worktrees(ctx, a, s)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(known *worktree) bool { return known.Dir == w.Dir })
	if i < 0 {
		if _, used, err := w.tree.Exists(); err != nil || used {
			w.stays = textRecordedElsewhere // a home that was moved, or the session of another one
			return err
		}
		return w.examineAlone(ctx)
	}
	known := all[i]
	w.member = known.MemberID
	from := workspace.Stored(a.Home, known.Source.Dir)
	config, err := a.Config()
	if err != nil {
		return err
	}
	from.Limits = config.FileLimits()
	d := coordinator.WorktreeDrop{History: known.WorktreeHistory, From: from, Record: appender(ctx, a, s)}
	if w.drop, err = d.Prepare(ctx); err == nil {
		w.judge(w.drop.Losses)
	}
	return err
}

// examineAlone is examine for a worktree that no session knows: what of it is merged is unknown.
func (w *cleanedWorktree) examineAlone(ctx context.Context) (err error) {
	if w.alone, err = w.tree.From.Stored(w.Dir).BeginAlone(ctx, ulid.Make().String()); err != nil {
		return err
	}
	if info, err := os.Lstat(w.Dir); err != nil || !info.IsDir() {
		return nil // what a crash has left of one
	}
	losses, err := w.tree.Losses(ctx, objects.Hash{}, workspace.Capture{})
	w.judge(losses)
	return err
}

// judge keeps a worktree with what a person may miss, apart from ignored files.
func (w *cleanedWorktree) judge(l workspace.Losses) {
	if w.losses = l; l.Locked || l.NeedForce() || len(l.Unmerged)+len(l.Skipped) > 0 {
		w.stays = staysText(l)
	}
}

// clean lists the worktrees, asks, and removes those that do not stay.
func (cmd CleanWorktrees) clean(ctx context.Context, a *app.App, all []*cleanedWorktree) error {
	removed := slices.DeleteFunc(slices.Clone(all), func(w *cleanedWorktree) bool { return w.stays != "" })
	if !cmd.JSON {
		a.Show(worktreesText(all))
	}
	switch {
	case cmd.DryRun || len(removed) == 0:
		return cmd.print(a, all)
	case !cmd.Yes && !a.IsTerminal():
		return app.Exit(app.ExitUsage, dropNotConfirmedText())
	case !cmd.Yes:
		question := "Remove " + app.Count(len(removed), "worktree") + "?"
		if yes, err := a.Confirm(question); err != nil || !yes {
			return err
		}
	}
	for _, w := range removed {
		remove := w.tree.Remove
		if w.drop != nil {
			remove = w.drop.Run
		}
		if err := remove(ctx); err != nil {
			return err
		}
	}
	if !cmd.JSON {
		a.Notice(app.Count(len(removed), "worktree") + " removed.")
	}
	return cmd.print(a, all)
}

// worktreeJSON is a worktree in JSON.
type worktreeJSON struct {
	Session string `json:"id"`
	Action  string `json:"action"` // removed or skipped
	Dir     string `json:"dir"`
	Why     string `json:"why,omitempty"` // of skipped
}

// print writes a line of JSON for each worktree.
func (cmd CleanWorktrees) print(a *app.App, all []*cleanedWorktree) error {
	if !cmd.JSON {
		return nil
	}
	for _, w := range all {
		row := worktreeJSON{w.Session, "removed", w.Dir, w.stays}
		if w.stays != "" {
			row.Action = "skipped"
		}
		if err := app.WriteJSON(a.Stdout, row); err != nil {
			return err
		}
	}
	return nil
}
