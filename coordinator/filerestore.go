package coordinator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// FileRestore sets files of a directory back.
type FileRestore struct {
	History   *FileHistory
	Workspace *workspace.Workspace // of the directory
	Key       []byte               // of the home
	Record    func(...projection.Payload) error

	Seq   uint64   // the event to which the files are set back
	Undo  bool     // undo the last restore instead
	Paths []string // files and directories below the directory, with slashes; none: all
	Force bool     // also what a person or another program changed after a turn

	Hunk  *FileHunk  // set back only this part of the file that Paths names; nil: all of what Paths name
	Merge *FileMerge // merge a worktree of the directory instead; nil: set files back
}

// ErrNoRestore is the error of FileRestore.Prepare without a restore to undo.
var ErrNoRestore = errors.New("no files were set back in this session")

// PreparedRestore is a restore that can run. Close it.
type PreparedRestore struct {
	r       *FileRestore
	id      string
	running *workspace.Running
	theirs  *workspace.Running // in the worktree that is merged; nil: none
	present workspace.Capture
	target  objects.Hash
	undoes  recordedTurn // the first turn; zero: none
	undone  recordedTurn // the restore that is undone; zero: none
	Plan    workspace.Plan
	Merged  *workspace.Merged // of FileRestore.Merge
	// Interrupted is whether an earlier restore was: Run removes what that has left, also if there is nothing to set
	// back.
	Interrupted bool
	// Left are the files of a restore that was interrupted, which are in no capture.
	Left []workspace.Kept
}

// Prepare captures the directory and plans the restore; nothing in it is written. Errors: ErrNoRestore, a
// *workspace.BusyError if a turn runs in the directory, those of Workspace.Capture and of the store.
func (r *FileRestore) Prepare(ctx context.Context) (*PreparedRestore, error) {
	p := &PreparedRestore{r: r, id: newID(), Interrupted: r.History.open != nil}
	var err error
	if p.running, err = r.Workspace.Begin(ctx, p.id); err != nil {
		return nil, err
	}
	if err := p.prepare(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *PreparedRestore) prepare(ctx context.Context) (err error) {
	r, h := p.r, p.r.History
	if with, err := p.running.With(); err != nil || len(with) > 0 {
		return errors.Join(err, &workspace.BusyError{Root: h.Dir})
	}
	if p.present, err = r.Workspace.Capture(ctx, newID(), nil); err != nil {
		return err
	}
	if r.Merge != nil {
		return p.planMerge(ctx)
	}
	if len(h.states) == 0 {
		return &NoFilesError{}
	}
	p.target = h.At(r.Seq)
	turns := h.since(r.Seq)
	isTurn := func(t recordedTurn) bool { return t.number > 0 }
	if i := slices.IndexFunc(turns, isTurn); i >= 0 && !r.Undo {
		p.undoes = turns[i]
	}
	if r.Undo {
		if h.undoTurn < 0 {
			return ErrNoRestore
		}
		turns = h.turns[h.undoTurn:]
		p.target, p.undone = turns[0].Before, h.turns[h.lastTurn]
	}
	if p.Plan, err = p.plan(turns); err == nil && r.Hunk != nil {
		err = p.planHunk(ctx)
	}
	return err
}

// PathError is the error of a path that is not below the directory.
type PathError struct{ Path string }

func (e *PathError) Error() string {
	return fmt.Sprintf("%q is no path below the directory of the agents", e.Path)
}

// paths returns the chosen paths with slashes; nil: all.
func (r *FileRestore) paths() ([]string, error) {
	var paths []string
	for _, name := range r.Paths {
		if name == "" || !filepath.IsLocal(name) {
			return nil, &PathError{name}
		}
		paths = append(paths, filepath.ToSlash(filepath.Clean(name)))
	}
	return paths, nil
}

// recover removes the files that an interrupted restore has left.
func (p *PreparedRestore) recover() error {
	open := p.r.History.open
	undo, err := objects.ParseHash(open.Undo)
	if err != nil {
		return err
	}
	target, err := objects.ParseHash(open.Target)
	if err != nil {
		return err
	}
	var changes []objects.Change
	for c, err := range p.r.Workspace.Store().Compare(undo, target) {
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	p.Left, err = workspace.Recover(p.r.History.Dir, open.RestoreID, changes)
	return err
}

// plan plans to set the directory to the target.
func (p *PreparedRestore) plan(turns []recordedTurn) (workspace.Plan, error) {
	store := p.r.Workspace.Store()
	history, err := p.spans(turns)
	if err != nil {
		return workspace.Plan{}, err
	}
	then, err := skippedOf(store, p.target)
	if err != nil {
		return workspace.Plan{}, err
	}
	now, err := skippedOf(store, p.present.Tree)
	if err != nil {
		return workspace.Plan{}, err
	}
	paths, err := p.r.paths()
	if err != nil {
		return workspace.Plan{}, err
	}
	root := p.r.History.Dir
	return workspace.NewPlan(history, workspace.PlanOptions{
		Paths: paths, SkippedThen: then, SkippedNow: now, Times: workspace.TimesBelow(root),
		FoldsCase: workspace.FoldsCase(root), Force: p.r.Force,
	}), nil
}

// spans returns what changed since the target, by author.
func (p *PreparedRestore) spans(turns []recordedTurn) (spans []workspace.Span, err error) {
	store, from, first := p.r.Workspace.Store(), p.target, 0
	add := func(end int, tree objects.Hash) error {
		var trees []workspace.TurnTrees
		for _, t := range turns[first:end] {
			trees = append(trees, t.TurnTrees)
		}
		history, err := workspace.History(store, from, trees, tree)
		spans = append(spans, history...)
		return err
	}
	for i, t := range turns {
		if t.aim == (objects.Hash{}) {
			continue
		}
		after := t.After
		switch {
		case !t.open:
		case i+1 < len(turns):
			after = turns[i+1].Before
		default:
			after = p.present.Tree
		}
		split, err := splitRestore(store, t, after)
		if err = errors.Join(err, add(i, t.Before)); err != nil {
			return nil, err
		}
		spans, from, first = append(spans, split...), after, i+1
	}
	return spans, add(len(turns), p.present.Tree)
}

// splitRestore returns what changed in a restore, or since it began if it was interrupted: what it has set is its own,
// and the rest has another author, who may save a file at the same time.
func splitRestore(store *objects.Store, t recordedTurn, after objects.Hash) ([]workspace.Span, error) {
	var changes []objects.Change
	for c, err := range store.Compare(t.Before, after) {
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	targets := map[string]objects.Entry{} // the rest is in the target as before
	for _, c := range changes {
		targets[c.Path] = c.Before
	}
	for c, err := range store.Compare(t.Before, t.aim) {
		if err != nil {
			return nil, err
		}
		targets[c.Path] = c.After
	}
	target := func(name string) objects.Entry { return targets[name] }
	return workspace.SplitRestore(&t.Turn, changes, target), nil
}

// skippedOf returns the paths of a tree whose content is not stored.
func skippedOf(store *objects.Store, tree objects.Hash) (skipped []workspace.Skipped, err error) {
	files, err := store.Files(tree)
	if err != nil {
		return nil, err
	}
	for name, e := range files {
		if e.Type() == objects.ModeSkipped {
			why, err := store.Read(e.Hash)
			if err != nil {
				return nil, err
			}
			skipped = append(skipped, workspace.Skipped{Path: name, Why: string(why)})
		}
	}
	return skipped, nil
}

// Run records and executes the plan; if an earlier restore was interrupted, a new one, after it has removed what that
// has left. A plan that writes nothing is not recorded: the last restore stays the one that can be undone. It may leave
// a part undone if the context ends; the same restore completes it.
func (p *PreparedRestore) Run(ctx context.Context) (workspace.Result, error) {
	r := p.r
	if p.Interrupted {
		if err := p.recover(); err != nil {
			return workspace.Result{}, err
		}
		if err := p.prepare(ctx); err != nil {
			return workspace.Result{}, err
		}
	}
	if len(p.Plan.Removals)+len(p.Plan.Writes) == 0 && !p.Interrupted {
		return workspace.Result{}, p.recordSame(ctx)
	}
	if err := p.begin(ctx); err != nil {
		return workspace.Result{}, err
	}
	// Crash here leaves each path as it was or set back, and files that the next restore removes.
	options := workspace.RestoreOptions{ID: p.id, Root: r.History.Dir, Read: r.Workspace.Store().Read}
	result, err := workspace.Restore(ctx, p.Plan, options)
	after, captureErr := r.Workspace.Capture(context.WithoutCancel(ctx), newID(), nil)
	restored := restoredEvent(p.id, p.Plan, result)
	if r.Merge != nil {
		restored.Merge = r.Merge.Worktree.MemberID
	}
	if captureErr == nil {
		restored.After = after.Tree.String()
	}
	events := []projection.Payload{withHost(r.Key, restored)}
	if captureErr == nil {
		event := CapturedEvent(after, newID(), r.History.Dir, projection.BeforeRestore)
		events = append(events, withHost(r.Key, event))
	}
	rebased, rebaseErr := p.rebased(context.WithoutCancel(ctx), result)
	if rebased != nil && rebaseErr == nil {
		events = append(events, rebased)
	}
	return result, errors.Join(err, captureErr, rebaseErr, r.Record(events...))
}

// recordSame records that a merge finds what the worktree has in the directory already.
func (p *PreparedRestore) recordSame(ctx context.Context) error {
	if p.Merged == nil || p.Merged.Same() == 0 {
		return nil
	}
	rebased, err := p.rebased(ctx, workspace.Result{})
	if err != nil {
		return err
	}
	return p.r.Record(rebased)
}

// begin records that the plan is executed from now on.
func (p *PreparedRestore) begin(ctx context.Context) error {
	r, dir := p.r, p.r.History.Dir
	if with, err := p.running.With(); err != nil || len(with) > 0 {
		return errors.Join(err, &workspace.BusyError{Root: dir})
	}
	// A file that was saved since the plan was made is captured here, and stays: it is not as the plan expects it.
	present, err := r.Workspace.Capture(ctx, newID(), nil)
	if err != nil {
		return err
	}
	captured := CapturedEvent(present, newID(), dir, projection.BeforeRestore)
	restoring := projection.FilesRestoring{
		RestoreID: p.id, Dir: dir, Target: p.target.String(), Undo: present.Tree.String(), Seq: r.Seq,
		Force: r.Force, Turn: p.undoes.number, MemberID: p.undoes.memberID,
		Part: p.r.Hunk != nil,
	}
	if r.Merge != nil {
		restoring.Merge = r.Merge.Worktree.MemberID
	}
	for _, name := range r.Paths {
		restoring.Paths = append(restoring.Paths, projection.FilePath(name))
	}
	return r.Record(withHost(r.Key, captured), withHost(r.Key, restoring))
}

func restoredEvent(id string, plan workspace.Plan, result workspace.Result) projection.FilesRestored {
	event := projection.FilesRestored{
		RestoreID: id, Written: len(result.Written), Removed: len(result.Removed), Failed: len(result.Failed),
	}
	created := map[string]bool{}
	for _, w := range plan.Writes {
		created[w.Path] = w.Present.IsZero()
	}
	for _, name := range result.Written {
		kind := projection.FileModified
		if created[name] {
			kind = projection.FileAdded
		}
		event.Changes = append(event.Changes, projection.FileChange{Path: projection.FilePath(name), Kind: kind})
	}
	for _, name := range result.Removed {
		c := projection.FileChange{Path: projection.FilePath(name), Kind: projection.FileDeleted}
		event.Changes = append(event.Changes, c)
	}
	event.Changes = event.Changes[:min(len(event.Changes), projection.MaxRestoredFiles)]
	for i, k := range slices.Concat(plan.Kept, result.Kept, result.Failed) {
		if i == projection.MaxFileChanges {
			event.More = len(plan.Kept) + len(result.Kept) + len(result.Failed) - i
			break
		}
		event.Kept = append(event.Kept, projection.SkippedFile{Path: projection.FilePath(k.Path), Why: k.Why})
	}
	return event
}

// Close ends the restore, whether it ran or not.
func (p *PreparedRestore) Close() error {
	err := p.running.End()
	if p.theirs != nil {
		err = errors.Join(err, p.theirs.End())
	}
	return err
}
