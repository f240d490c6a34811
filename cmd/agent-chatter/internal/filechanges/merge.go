package filechanges

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// Merge merges the worktree of a member into the directory that was copied.
type Merge struct {
	ID        string   `arg:"" help:"The session: id, title or latest."`
	Member    string   `arg:"" help:"The member: its id or name."`
	Paths     []string `arg:"" optional:"" name:"path" help:"Only these files and directories."`
	Conflicts bool     `help:"Write conflicts into the files, with marks."`
	DryRun    bool     `help:"Only print what would be done."`
	Yes       bool     `short:"y" help:"Do not ask."`
	Output    string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Merge) Help() string {
	return `Examples:
  agent-chatter files merge latest ada --dry-run
  agent-chatter files merge 7QN3 ada src
  agent-chatter files merge 7QN3 ada --conflicts
  agent-chatter files restore 7QN3 --undo`
}

// Writes reports whether the command writes to the home.
func (cmd *Merge) Writes() bool { return true }

// Run implements the command. The exit code is 1 if a path was kept, failed or has a conflict.
func (cmd *Merge) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	w, err := findWorktree(ctx, a, cmd.ID, cmd.Member)
	if err != nil {
		return err
	}
	if w.Dropped {
		return app.Exit(app.ExitFailed, droppedText(w.session.ID, w.MemberID))
	}
	for _, dir := range []string{w.Source.Dir, w.Dir} {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return app.Exit(app.ExitFailed, missingDirText(w.session.ID, w.MemberID, dir, w.Dir))
		}
	}
	r, err := cmd.restore(ctx, a, w)
	if err != nil {
		return err
	}
	p, err := r.Prepare(ctx)
	var partial *workspace.PartialError
	switch {
	case errors.As(err, &partial):
		return app.Exit(app.ExitFailed, beyondLimitsText(w.Source.Dir, w.MemberID))
	case err != nil:
		return explainRestore(w.session.ID, w.Source.Dropped, err)
	}
	defer p.Close()
	return cmd.run(ctx, a, w, &Prepared{p, w.Source.Dir})
}

// restore returns the merge as a restore.
func (cmd *Merge) restore(ctx context.Context, a *app.App, w *worktree) (*coordinator.FileRestore, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	into, err := workspace.OpenRoot(a.Home, w.Source.Dir)
	if err != nil {
		return nil, err
	}
	into.Limits = config.FileLimits()
	r := &coordinator.FileRestore{
		History: w.Source, Workspace: into, Key: w.key, Record: appender(ctx, a, w.session),
		Merge: &coordinator.FileMerge{Worktree: w.Worktree, Conflicts: cmd.Conflicts},
	}
	for _, name := range cmd.Paths {
		path, err := w.path(a.Cwd, name)
		if err != nil {
			return nil, err
		}
		r.Paths = append(r.Paths, path)
	}
	return r, nil
}

// path returns the path that a name means: below the directory or the worktree, in the working directory if there is
// such a file there.
func (w *worktree) path(cwd, name string) (string, error) {
	for _, dir := range []string{w.Source.Dir, w.Dir} {
		for _, below := range namesIn(dir, cwd, name) {
			for _, side := range []string{w.Source.Dir, w.Dir} {
				if _, err := os.Lstat(filepath.Join(side, filepath.FromSlash(below))); err == nil && name != "" {
					return below, nil
				}
			}
		}
	}
	return "", app.Exit(app.ExitFailed, noMergePathText(w.session.ID, name))
}

// run shows the plan, asks, and executes it.
func (cmd *Merge) run(ctx context.Context, a *app.App, w *worktree, p *Prepared) error {
	json := cmd.Output == "json"
	if !json {
		a.Notice(mergeText(p.dir, w.MemberID, p.Merged))
	}
	notMerged := p.Plan.Kept
	for _, name := range p.Merged.Conflicts {
		notMerged = append(notMerged, workspace.Kept{Path: name, Why: textConflict})
	}
	switch {
	case cmd.DryRun && json:
		return errors.Join(writePaths(a.Stdout, marked(planned(p.Plan), p.Merged)), keptExit(notMerged))
	case cmd.DryRun:
		return keptExit(notMerged)
	case p.Changes() && !cmd.Yes && !a.IsTerminal():
		return app.Exit(app.ExitUsage, mergeNotConfirmedText())
	case p.Changes() && !cmd.Yes:
		if yes, err := a.Confirm("Merge these files?"); err != nil || !yes {
			return err
		}
	}
	result, err := p.Run(ctx)
	if problems := p.Problems(result); problems != "" {
		a.Notice(problems)
	}
	if json {
		err = errors.Join(err, writePaths(a.Stdout, marked(restored(p.Plan, result), p.Merged)))
	} else if p.Changes() {
		a.Notice(restoredText(result))
	}
	return errors.Join(err, keptExit(slices.Concat(notMerged, result.Kept, result.Failed)))
}

// marked returns rows that say which files have marks of conflicts.
func marked(rows []restoredPath, m *workspace.Merged) []restoredPath {
	for i, row := range rows {
		if row.Why == "" && slices.Contains(m.Conflicts, row.Path) {
			rows[i].Why = textConflict
		}
	}
	return rows
}
