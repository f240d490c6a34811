package filechanges

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Restore sets files back.
type Restore struct {
	ID     string   `arg:"" help:"The session: id, ID#N, title or latest."`
	Paths  []string `arg:"" optional:"" name:"path" help:"Files and directories, in their directory or in this one."`
	At     string   `help:"Event after which the files were as wanted: number, time or turn:N." placeholder:"X"`
	Undo   bool     `help:"Undo the last restore."`
	DryRun bool     `help:"Only print what would be done."`
	Force  bool     `help:"Also set back what you changed after a turn."`
	Dir    string   `help:"The directory, if agents have changed several." placeholder:"DIR"`
	Yes    bool     `short:"y" help:"Do not ask."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	// Record appends the events to the session; nil: it is opened for that.
	Record func(...projection.Payload) error `kong:"-"`

	hunk  *coordinator.FileHunk // the part of the one path that is set back; nil: all of it
	exact bool                  // Paths are below the directory, whatever the working directory is
}

// Help returns examples.
func (Restore) Help() string {
	return `Examples:
  agent-chatter files restore latest --at turn:2 --dry-run
  agent-chatter files restore 7QN3 --at 12 src/cart.go
  agent-chatter files restore 7QN3 --undo`
}

// Run implements the command. The exit code is 1 if a path was kept or failed.
func (cmd *Restore) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	name, at, err := a.CutEvent(ctx, cmd.ID, "at", cmd.At)
	if err != nil {
		return err
	}
	if (at == "") != cmd.Undo {
		return app.Exit(app.ExitUsage, restoreWhatText(cmd.ID))
	}
	s, err := a.Find(ctx, name)
	if err != nil {
		return err
	}
	p, err := cmd.Prepare(ctx, a, s, at)
	if err != nil {
		return err
	}
	defer p.Close()
	return cmd.run(ctx, a, p)
}

// Prepared is a restore that can run. Close it.
type Prepared struct {
	*coordinator.PreparedRestore
	dir string
}

// Prepare plans a restore of the files of a session to after an event; at is ignored for Undo. Nothing is written.
func (cmd *Restore) Prepare(ctx context.Context, a *app.App, s catalog.Session, at string) (*Prepared, error) {
	r, err := cmd.restore(ctx, a, s, at)
	if err != nil {
		return nil, err
	}
	p, err := r.Prepare(ctx)
	if err != nil {
		return nil, explainRestore(s.ID, r.History.Dropped, err)
	}
	return &Prepared{p, r.History.Dir}, nil
}

// Text lists what the restore would do.
func (p *Prepared) Text() string { return planText(p.dir, p.Plan) }

// Changes reports whether the restore would write or remove a file, also one that an interrupted restore has left.
func (p *Prepared) Changes() bool {
	return len(p.Plan.Removals)+len(p.Plan.Writes) > 0 || p.Interrupted
}

// Problems lists what the restore did not set back, though it was planned, and what an interrupted one has left; "":
// nothing.
func (p *Prepared) Problems(r workspace.Result) string {
	var texts []string
	if len(p.Left) > 0 {
		texts = append(texts, leftText(p.Left))
	}
	if len(r.Kept)+len(r.Failed) > 0 {
		texts = append(texts, notRestoredText(r))
	}
	return strings.Join(texts, "\n")
}

// restore returns the restore that the command asks for.
func (cmd *Restore) restore(
	ctx context.Context, a *app.App, s catalog.Session, at string,
) (*coordinator.FileRestore, error) {
	replay := view.NewReplay(a, s)
	span, err := view.ParseSpan("", "", at)
	if err != nil {
		return nil, err
	}
	if err := replay.CheckSpan(ctx, span); err != nil {
		return nil, err
	}
	seq, err := span.LastSeq(replay.Events(ctx))
	if err != nil {
		return nil, err
	}
	if seq == 0 && at != "" {
		return nil, app.Exit(app.ExitFailed, view.NotReachedText(s.ID, at))
	}
	if cmd.Undo {
		seq = 0
	}
	key := host.HomeKey(a, true)()
	read := coordinator.NewFileHistory
	if cmd.Undo {
		read = coordinator.NewUndoHistory
	}
	history, err := read(cmd.Dir, key, replay.Events(ctx))
	if err != nil {
		return nil, explainRestore(s.ID, "", err)
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	w, err := workspace.OpenRoot(a.Home, history.Dir)
	if err != nil {
		return nil, err
	}
	w.Limits = config.FileLimits()
	r := &coordinator.FileRestore{
		History: history, Workspace: w, Seq: seq, Undo: cmd.Undo,
		Force: cmd.Force, Key: key, Record: cmd.Record, Hunk: cmd.hunk,
	}
	if r.Paths, err = cmd.pathsBelow(a, s.ID, at, r); err != nil {
		return nil, explainRestore(s.ID, history.Dropped, err)
	}
	if r.Record == nil {
		r.Record = appender(ctx, a, s)
	}
	return r, nil
}

// appender returns a function that appends events to a session, which it opens for that.
func appender(ctx context.Context, a *app.App, s catalog.Session) func(...projection.Payload) error {
	return func(payloads ...projection.Payload) error {
		var records []journal.Record
		for _, p := range payloads {
			records = append(records, projection.Record(time.Now(), p))
		}
		dir := a.Catalog.At(s.Dir())
		problem, err := a.Remote.Change(ctx, dir, s.ID, func() error { return dir.Append(ctx, s.ID, records...) })
		a.ReportHub(problem)
		return err
	}
}

func (cmd *Restore) json() bool { return cmd.Output == "json" }

// Writes reports whether the command writes to the home.
func (cmd *Restore) Writes() bool { return true }

// run shows the plan, asks, and executes it.
func (cmd *Restore) run(ctx context.Context, a *app.App, p *Prepared) error {
	if !cmd.json() {
		a.Notice(p.Text())
	}
	switch {
	case cmd.DryRun && cmd.json():
		return errors.Join(writePaths(a.Stdout, planned(p.Plan)), keptExit(p.Plan.Kept))
	case cmd.DryRun, !p.Changes() && !cmd.json():
		return keptExit(p.Plan.Kept)
	case !cmd.Yes && !a.IsTerminal():
		return app.Exit(app.ExitUsage, notConfirmedText())
	case !cmd.Yes:
		if yes, err := a.Confirm("Set these files back?"); err != nil || !yes {
			return err
		}
	}
	result, err := p.Run(ctx)
	if problems := p.Problems(result); problems != "" {
		a.Notice(problems)
	}
	if cmd.json() {
		err = errors.Join(err, writePaths(a.Stdout, restored(p.Plan, result)))
	} else {
		a.Notice(restoredText(result))
	}
	return errors.Join(err, keptExit(slices.Concat(p.Plan.Kept, result.Kept, result.Failed)))
}

func keptExit(kept []workspace.Kept) error {
	if len(kept) == 0 {
		return nil
	}
	return &app.ExitError{Code: app.ExitFailed}
}

// explainRestore adds what a person can do about an error. dropped is as for missingText.
func explainRestore(id, dropped string, err error) error {
	var none *coordinator.NoFilesError
	var missing *objects.MissingError
	var path *coordinator.PathError
	switch {
	case errors.As(err, &none):
		return app.Exit(app.ExitFailed, noFilesText(id, none))
	case errors.Is(err, coordinator.ErrNoRestore):
		return app.Exit(app.ExitFailed, noRestoreText(id))
	case errors.As(err, &path):
		return app.Exit(app.ExitFailed, notBelowText(id, path.Path))
	case errors.As(err, &missing):
		m := missingText("what the files contained", missing.Dir, missing.Hash.String(), dropped)
		return app.Exit(app.ExitFailed, m)
	}
	return err
}
