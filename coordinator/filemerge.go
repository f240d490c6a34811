package coordinator

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// WorktreeHistory is what a session has recorded of the worktree of a member.
type WorktreeHistory struct {
	projection.Worktree
	Dropped bool         // its removal has begun
	Source  *FileHistory // of the directory that was copied
}

// WorktreeHistories reads the events of a session that the home with the key has recorded. It returns the last worktree
// of each member, also one that was dropped, sorted by member.
func WorktreeHistories(key []byte, events iter.Seq2[journal.Event, error]) ([]*WorktreeHistory, error) {
	b, err := buildHistories(key, events)
	if err != nil {
		return nil, err
	}
	var all []*WorktreeHistory
	for _, member := range slices.Sorted(maps.Keys(b.worktrees)) {
		w := b.worktrees[member]
		if w.Source = b.dirs[w.Worktree.Source]; w.Source == nil { // no turn ran in it
			w.Source = &FileHistory{Dir: w.Worktree.Source, undoTurn: -1, merges: b.merges}
		}
		all = append(all, w)
	}
	return all, nil
}

// worktreeMerge is a merge of a worktree, or the undoing of one.
type worktreeMerge struct {
	projection.WorktreeMerged
	before string // the base before
}

// addWorktree folds an event of worktrees.
func (b *historyBuilder) addWorktree(p projection.Payload) error {
	switch p := p.(type) {
	case projection.WorktreeCreated:
		b.worktrees[p.MemberID] = &WorktreeHistory{Worktree: projection.Worktree{WorktreeCreated: p}}
	case projection.WorktreeMerged:
		if w := b.worktrees[p.MemberID]; w != nil && w.Dir == p.Dir {
			b.merges[p.RestoreID] = worktreeMerge{p, w.LastBase()}
			w.Merged = &p
		}
	case projection.WorktreeDropped:
		if w := b.worktrees[p.MemberID]; w != nil && w.Dir == p.Dir {
			w.Dropped = true
		}
	}
	return nil
}

// FileMerge is the worktree that a FileRestore merges.
type FileMerge struct {
	Worktree  projection.Worktree
	Conflicts bool // write files with conflicts, with marks
}

// planMerge plans to merge the worktree into the directory, as it is now.
func (p *PreparedRestore) planMerge(ctx context.Context) error {
	r := p.r
	w, err := workspace.Worktree{Dir: r.Merge.Worktree.Dir, From: r.Workspace}.Workspace()
	if err != nil {
		return err
	}
	if p.theirs == nil {
		if p.theirs, err = w.BeginAlone(ctx, p.id); err != nil {
			return err
		}
	}
	theirs, err := w.Capture(ctx, newID(), nil)
	if err != nil {
		return err
	}
	base, err := objects.ParseHash(r.Merge.Worktree.LastBase())
	if err != nil {
		return err
	}
	paths, err := r.paths()
	if err != nil {
		return err
	}
	m := &workspace.Merge{
		Into: r.Workspace, From: w, Base: base, Theirs: theirs.Tree, Ours: p.present.Tree,
		Paths: paths, Conflicts: r.Merge.Conflicts, Name: r.Merge.Worktree.MemberID,
	}
	if p.Merged, err = m.Plan(ctx, newID()); err != nil {
		return err
	}
	p.Plan, p.target = p.Merged.Plan, p.Merged.Target
	return nil
}

// rebased returns the event of what is merged after a restore; nil: it changed nothing of that.
func (p *PreparedRestore) rebased(ctx context.Context, result workspace.Result) (projection.Payload, error) {
	switch {
	case p.r.Merge != nil:
		base, err := p.Merged.BaseAfter(ctx, newID(), result)
		return p.mergedEvent(p.r.Merge.Worktree.MemberID, p.r.Merge.Worktree.Dir, base), err
	case p.r.Undo:
		return p.unmerged(ctx, result)
	}
	return nil, nil
}

// unmerged returns the event of an undone merge: the files that are as before are not merged.
func (p *PreparedRestore) unmerged(ctx context.Context, result workspace.Result) (projection.Payload, error) {
	undone, ok := p.r.History.merges[p.undone.restore]
	if !ok {
		return nil, nil
	}
	base, err := objects.ParseHash(undone.Base)
	if err != nil {
		return nil, err
	}
	before, err := objects.ParseHash(undone.before)
	if err != nil {
		return nil, err
	}
	names := append(result.Written, result.Removed...)
	base, err = p.r.Workspace.Stored(undone.Dir).Take(ctx, newID(), base, before, names)
	if err != nil {
		return nil, err
	}
	return p.mergedEvent(undone.MemberID, undone.Dir, base), nil
}

func (p *PreparedRestore) mergedEvent(memberID, dir string, base objects.Hash) projection.Payload {
	return withHost(p.r.Key, projection.WorktreeMerged{
		RestoreID: p.id, MemberID: memberID, Dir: dir, Base: base.String(),
	})
}
