package filechanges

import (
	"context"
	"errors"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// Drop removes the worktree of a member.
type Drop struct {
	ID     string `arg:"" help:"The session: id, title or latest."`
	Member string `arg:"" help:"The member: its id or name."`
	Keep   string `complete:"none" help:"Make a branch that keeps its commits." placeholder:"NAME"`
	Force  bool   `help:"Also remove commits that no branch has."`
	DryRun bool   `help:"Only print what would be lost."`
	Yes    bool   `short:"y" help:"Do not ask."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Drop) Help() string {
	return `Examples:
  agent-chatter files drop latest ada --dry-run
  agent-chatter files drop 7QN3 ada --keep of-ada`
}

// Writes reports whether the command writes to the home.
func (cmd *Drop) Writes() bool { return true }

// Run implements the command.
func (cmd *Drop) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	w, err := findWorktree(ctx, a, cmd.ID, cmd.Member)
	if err != nil {
		return err
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	from := workspace.Stored(a.Home, w.Source.Dir)
	from.Limits = config.FileLimits()
	d := coordinator.WorktreeDrop{
		History: w.WorktreeHistory, From: from, Record: appender(ctx, a, w.session), Branch: cmd.Keep, Force: cmd.Force,
	}
	p, err := d.Prepare(ctx)
	if err != nil {
		return explainRestore(w.session.ID, w.Source.Dropped, err)
	}
	defer p.Close()
	return cmd.run(ctx, a, w, p)
}

// run shows what would be lost, asks, and removes the worktree.
func (cmd *Drop) run(ctx context.Context, a *app.App, w *worktree, p *coordinator.PreparedDrop) error {
	json := cmd.Output == "json"
	if json {
		if err := writeLosses(a.Stdout, p.Losses); err != nil {
			return err
		}
	} else {
		a.Notice(lossesText(w.Dir, p))
	}
	switch {
	case cmd.DryRun:
		return nil
	case p.Losses.Locked:
		return app.Exit(app.ExitFailed, lockedText(w.Dir))
	case cmd.Keep != "" && p.Losses.Head == "":
		return app.Exit(app.ExitUsage, noCommitText(w.Dir))
	case p.Losses.NeedForce() && !cmd.Force && (cmd.Keep == "" || len(p.Losses.Repositories)+len(p.Losses.Unknown) > 0):
		return app.Exit(app.ExitFailed, commitsText(w.session.ID, w.MemberID, p.Losses))
	case !cmd.Yes && !a.IsTerminal():
		return app.Exit(app.ExitUsage, dropNotConfirmedText())
	case !cmd.Yes:
		if yes, err := a.Confirm("Remove the worktree?"); err != nil || !yes {
			return err
		}
	}
	if err := p.Run(ctx); err != nil {
		return explainDrop(w, err)
	}
	if json {
		return app.WriteJSON(a.Stdout, lossJSON{What: "removed", Path: w.Dir})
	}
	if !p.Missing {
		a.Notice(removedText(w.Dir))
	}
	return nil
}

// explainDrop returns the message of an error of PreparedDrop.Run.
func explainDrop(w *worktree, err error) error {
	var changed *coordinator.DropChangedError
	var mount *workspace.MountError
	switch {
	case errors.As(err, &changed):
		return app.Exit(app.ExitFailed, dropChangedText(w.session.ID, w.MemberID, changed))
	case errors.As(err, &mount):
		return app.Exit(app.ExitFailed, mountedText(w.Dir, mount))
	}
	return err
}

// lossJSON is what the removal of a worktree loses, or that it is removed, in JSON.
type lossJSON struct {
	What    string `json:"what"` // unmerged, skipped, ignored, repository, commits, unknown or removed
	Path    string `json:"path,omitempty"`
	Why     string `json:"why,omitempty"` // of skipped and unknown
	Head    string `json:"head,omitempty"`
	Commits int    `json:"commits,omitempty"`
}

// writeLosses writes a line for each loss.
func writeLosses(out io.Writer, l workspace.Losses) error {
	for _, row := range losses(l) {
		if err := app.WriteJSON(out, row); err != nil {
			return err
		}
	}
	return nil
}

// losses returns the rows of what would be lost.
func losses(l workspace.Losses) (rows []lossJSON) {
	for _, c := range l.Unmerged {
		rows = append(rows, lossJSON{What: "unmerged", Path: c.Path})
	}
	for _, s := range l.Skipped {
		rows = append(rows, lossJSON{What: "skipped", Path: s.Path, Why: s.Why})
	}
	for _, name := range l.Ignored {
		rows = append(rows, lossJSON{What: "ignored", Path: name})
	}
	for _, name := range l.Repositories {
		rows = append(rows, lossJSON{What: "repository", Path: name})
	}
	for _, what := range l.Unknown {
		rows = append(rows, lossJSON{What: "unknown", Why: what})
	}
	if l.Commits > 0 {
		rows = append(rows, lossJSON{What: "commits", Head: l.Head, Commits: l.Commits})
	}
	return rows
}
