package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"reflect"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// WorktreeDrop removes the worktree of a member.
type WorktreeDrop struct {
	History *WorktreeHistory
	From    *workspace.Workspace // of the directory that was copied, or what is stored of it
	Record  func(...projection.Payload) error

	Branch string // that is made at the commit of the worktree; "": none
	Force  bool   // also if commits are lost
}

// CommitsError is the error of WorktreeDrop.Run if commits would be lost.
type CommitsError struct{ Losses workspace.Losses }

func (e *CommitsError) Error() string { return "commits would be lost" }

// PreparedDrop is a removal that can run. Close it.
type PreparedDrop struct {
	d       *WorktreeDrop
	tree    workspace.Worktree
	running *workspace.Running // nil: the directory is missing
	now     workspace.Capture
	// Losses are what only the worktree has. Missing is whether its directory is, so that only the commits are known.
	Losses  workspace.Losses
	Missing bool
}

// Prepare captures the worktree and finds out what would be lost; nothing in it is written. Errors: a
// *workspace.BusyError if a turn runs in it, those of Workspace.Capture and of the store.
func (d *WorktreeDrop) Prepare(ctx context.Context) (*PreparedDrop, error) {
	p := &PreparedDrop{d: d, tree: workspace.Worktree{Dir: d.History.Dir, From: d.From}}
	if info, err := os.Lstat(p.tree.Dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		p.Missing = true
		p.Losses, err = p.tree.CommitLosses(ctx)
		return p, err
	}
	w, err := p.tree.Workspace()
	if err != nil {
		return nil, err
	}
	if p.running, err = w.BeginAlone(ctx, newID()); err != nil {
		return nil, err
	}
	if err := p.prepare(ctx, w); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// DropChangedError is the error of PreparedDrop.Run if the worktree is not as Prepare has found it.
type DropChangedError struct{ Dir string }

func (e *DropChangedError) Error() string { return e.Dir + " has changed since its files were listed" }

// checkSame captures the worktree again: what was saved or committed there while a person read the list is in no
// capture, and the list does not have it.
func (p *PreparedDrop) checkSame(ctx context.Context) error {
	if p.running == nil {
		return nil
	}
	if with, err := p.running.With(); err != nil || len(with) > 0 {
		return errors.Join(err, &workspace.BusyError{Root: p.tree.Dir})
	}
	w, err := p.tree.Workspace()
	if err != nil {
		return err
	}
	tree, losses := p.now.Tree, p.Losses
	if err := p.prepare(ctx, w); err != nil {
		return err
	}
	if p.now.Tree != tree || !reflect.DeepEqual(p.Losses, losses) {
		return &DropChangedError{p.tree.Dir}
	}
	return nil
}

func (p *PreparedDrop) prepare(ctx context.Context, w *workspace.Workspace) error {
	merged, err := objects.ParseHash(p.d.History.LastBase())
	if err != nil {
		return err
	}
	p.now, err = w.Capture(ctx, newID(), nil)
	var limit *workspace.LimitError
	if errors.As(err, &limit) { // no capture has its files then
		p.now = workspace.Capture{}
		p.Losses, err = p.tree.Losses(ctx, merged, workspace.Capture{Tree: merged})
		p.Losses.Unknown = append(p.Losses.Unknown, "which files are unmerged: "+limit.Error())
		return err
	}
	if err != nil {
		return err
	}
	p.Losses, err = p.tree.Losses(ctx, merged, p.now)
	return err
}

// Run records that the worktree is removed, and removes it. The error is a *DropChangedError if it has changed since
// Prepare, a *workspace.BusyError if a turn has run in it since, a *CommitsError if commits would be lost, a
// *workspace.LockedError if it is locked, and a *workspace.MountError if a file system is mounted in it; then nothing
// is done.
func (p *PreparedDrop) Run(ctx context.Context) error {
	if err := p.checkSame(ctx); err != nil {
		return err
	}
	if err := p.tree.CheckMounts(); err != nil {
		return err
	}
	losses := p.Losses
	if losses.Locked {
		return &workspace.LockedError{Dir: p.tree.Dir}
	}
	if p.d.Branch != "" {
		losses.Commits = 0
	}
	if losses.NeedForce() && !p.d.Force {
		return &CommitsError{losses}
	}
	dropped := projection.WorktreeDropped{MemberID: p.d.History.MemberID, Dir: p.tree.Dir}
	if p.d.Branch != "" && p.Losses.Head != "" {
		if err := p.tree.Keep(ctx, p.d.Branch, p.Losses.Head); err != nil {
			return err
		}
		dropped.Branch = p.d.Branch
	}
	if p.now.Tree != (objects.Hash{}) {
		dropped.Tree = p.now.Tree.String()
	}
	if err := p.tree.SetUnused(); err != nil {
		return err
	}
	// Crash here leaves a directory that the next turn of the member replaces, and the next call removes.
	if !p.d.History.Dropped {
		if err := p.d.Record(dropped); err != nil {
			return errors.Join(err, p.tree.SetUsed())
		}
	}
	return p.tree.Remove(context.WithoutCancel(ctx))
}

// Close ends the removal, whether it ran or not.
func (p *PreparedDrop) Close() error {
	if p.running == nil {
		return nil
	}
	return p.running.End()
}
