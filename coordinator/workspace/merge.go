package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Merge brings what changed in a worktree into the directory whose files it has.
type Merge struct {
	Into, From *Workspace   // the directory, and the worktree
	Base       objects.Hash // what was merged last: at first a capture of the new worktree; in the store of From
	Theirs     objects.Hash // what the worktree contains now; in the store of From
	Ours       objects.Hash // what the directory contains now; in the store of Into

	Paths     []string // merge only these files, and those below these directories; nil: all
	Conflicts bool     // write files with conflicts, with the marks of git merge-file
	Name      string   // of the worktree, for these marks
}

// Merged is what a merge does.
type Merged struct {
	// Plan has a step for each path that changes, and says why a path is kept.
	Plan Plan
	// Target is what the directory contains afterwards, in the store of Into.
	Target objects.Hash
	// Conflicts are the paths that the plan writes with marks of conflicts, sorted.
	Conflicts []string

	m    *Merge
	same map[string]bool // paths that are in the directory as in the worktree already
}

// Plan plans the merge. What only the worktree changed is applied, and what only the directory changed stays. If both
// changed a text, git merge-file merges it; other files that both changed are kept. id names a pack. Nothing in the
// directory is written. The errors are those of Compare and of the stores.
func (m *Merge) Plan(ctx context.Context, id string) (*Merged, error) {
	p := mergePlanner{
		ctx: ctx, Merged: &Merged{m: m, same: map[string]bool{}},
		contents: map[string][]byte{},
	}
	p.planner = planner{trails: map[string]*trail{}, why: map[string]string{}, PlanOptions: PlanOptions{
		Paths: m.Paths, FoldsCase: FoldsCase(m.Into.root),
	}}
	if err := p.compare(); err != nil {
		return nil, err
	}
	p.keepFolded()
	p.keepObstructed()
	p.Merged.Plan = p.planner.plan(func(dir string) bool { return !p.theirDirs[dir] })
	return p.Merged, p.store(id)
}

// A mergePlanner makes a Merged.
type mergePlanner struct {
	planner
	*Merged
	ctx       context.Context
	ours      map[string]objects.Entry
	theirDirs map[string]bool   // directories of the worktree
	folded    map[string]bool   // foldedName of its files, where the file system folds case
	contents  map[string][]byte // of merged texts, by their paths
	disk      *disk             // of the worktree
}

// compare finds what becomes of each path.
func (p *mergePlanner) compare() (err error) {
	m := p.m
	if p.ours, err = m.Into.store.Files(m.Ours); err != nil {
		return err
	}
	for name, e := range p.ours {
		p.trails[name] = &trail{target: e, present: e}
	}
	theirs, err := m.From.store.Files(m.Theirs)
	if err != nil {
		return err
	}
	p.theirDirs, p.folded = map[string]bool{}, map[string]bool{}
	for name := range theirs {
		for dir := range parents(name) {
			p.theirDirs[dir] = true
		}
		if p.FoldsCase {
			p.folded[foldedName(name)] = true
		}
	}
	if p.disk, err = openDisk(m.From.root); err != nil {
		return err
	}
	defer p.disk.close()
	for c, err := range m.From.Compare(m.Base, m.Theirs) {
		if err != nil {
			return err
		}
		if p.isChosen(c.Path) {
			if err := p.merge(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge finds what becomes of a path that the worktree changed.
func (p *mergePlanner) merge(c objects.Change) error {
	ours, target, why := p.ours[c.Path], c.After, ""
	switch {
	case !isKnownEntry(c.After):
		why = "the worktree has it in no capture: " + p.unknownReason(p.m.From.store, c.After)
	case c.After.IsZero() && !ours.IsZero() && p.exists(c.Path):
		why = "the worktree still has it, but Git does not list it there any more"
	case !isKnownEntry(ours):
		why = "not captured now, so it could not be undone: " + p.unknownReason(p.m.Into.store, ours)
	case ours != c.Before && ours != c.After:
		var err error
		if target, why, err = p.mergeBoth(c, ours); err != nil {
			return err
		}
	}
	if why == "" && target == ours {
		p.same[c.Path] = true
		return nil
	}
	p.trails[c.Path] = &trail{target: target, present: ours}
	p.why[c.Path] = why
	return nil
}

// exists reports whether the worktree has a file that its capture lacks: the member may have made Git ignore it. A
// directory in its place is none, and neither is a file that differs in upper and lower case only.
func (p *mergePlanner) exists(name string) bool {
	st, err := p.disk.lstat(name)
	return err == nil && st.mode&objects.ModeType != objects.ModeDir && !p.folded[foldedName(name)]
}

// isKnownEntry reports whether a path is absent or its content is stored.
func isKnownEntry(e objects.Entry) bool { return e.IsZero() || e.Stored() }

// unknownReason says why a content is not stored.
func (p *mergePlanner) unknownReason(store *objects.Store, e objects.Entry) string {
	if e.Type() == objects.ModeInGit {
		return "it is as Git has it"
	}
	why, err := store.Read(e.Hash)
	if err != nil {
		return "it was skipped"
	}
	return string(why)
}

// mergeBoth merges a path that both sides changed. It returns why it is kept, or what it becomes.
func (p *mergePlanner) mergeBoth(c objects.Change, ours objects.Entry) (target objects.Entry, why string, err error) {
	base, theirs := c.Before, c.After
	switch {
	case ours.IsZero():
		return target, "you deleted it, and the worktree changed it", nil
	case theirs.IsZero():
		return target, "you changed it, and the worktree deleted it", nil
	case ours.Type() != objects.ModeFile || theirs.Type() != objects.ModeFile:
		return target, "you and the worktree changed it, and it is no file on both sides", nil
	case base.Type() != objects.ModeFile && !base.IsZero():
		return target, "you and the worktree made it a file", nil
	}
	target = ours
	switch {
	case theirs.Mode == base.Mode || theirs.Mode == ours.Mode:
	case ours.Mode == base.Mode:
		target.Mode = theirs.Mode
	default:
		return target, "you and the worktree changed its permissions", nil
	}
	switch {
	case theirs.Hash == base.Hash || theirs.Hash == ours.Hash:
		return target, "", nil
	case ours.Hash == base.Hash:
		target.Hash, target.Size = theirs.Hash, theirs.Size
		return target, "", nil
	}
	return p.mergeTexts(c, ours, target)
}

// mergeTexts merges the texts of a path that both sides changed, into a target with its mode.
func (p *mergePlanner) mergeTexts(
	c objects.Change, ours, target objects.Entry,
) (_ objects.Entry, why string, err error) {
	if max(c.Before.Size, c.After.Size, ours.Size) > maxMerged {
		return target, fmt.Sprintf("you and the worktree changed it, and it is over %d bytes", maxMerged), nil
	}
	var texts mergeTexts
	for _, side := range []struct {
		text  *[]byte
		store *objects.Store
		entry objects.Entry
	}{
		{&texts.base, p.m.From.store, c.Before}, {&texts.theirs, p.m.From.store, c.After},
		{&texts.ours, p.m.Into.store, ours},
	} {
		if side.entry.IsZero() {
			continue // both made the file
		}
		if *side.text, err = side.store.Read(side.entry.Hash); err != nil {
			return target, "", err
		}
	}
	merged, conflicts, err := mergeFile(p.ctx, texts, p.m.Name)
	switch {
	case p.ctx.Err() != nil:
		return target, "", context.Cause(p.ctx)
	case err != nil:
		return target, "you and the worktree changed it: " + err.Error(), nil
	case conflicts && !p.m.Conflicts:
		return target, "you and the worktree changed the same lines", nil
	case conflicts:
		p.Conflicts = append(p.Conflicts, c.Path)
	}
	p.contents[c.Path] = merged
	target.Hash, target.Size = objects.HashOf(merged), int64(len(merged))
	return target, "", nil
}

// store stores the contents that the plan writes and the tree of its target in the store of the directory.
func (p *mergePlanner) store(id string) error {
	p.Conflicts = slices.DeleteFunc(p.Conflicts, func(name string) bool { return !p.isPlanned(name) })
	slices.Sort(p.Conflicts)
	m := p.m
	release, err := m.Into.lock(p.ctx)
	if err != nil {
		return err
	}
	defer release()
	return m.Into.store.Write(id, func(out *objects.Writer) error {
		after := maps.Clone(p.ours)
		for _, step := range slices.Concat(p.Merged.Plan.Removals, p.Merged.Plan.Writes) {
			if delete(after, step.Path); step.Target.IsZero() {
				continue
			}
			after[step.Path] = step.Target
			content, ok := p.contents[step.Path]
			if !ok {
				if content, err = p.read(step.Target.Hash); err != nil {
					return err
				}
			}
			if _, err := out.Put(content); err != nil {
				return err
			}
		}
		p.Target, err = putTree(m.Into.store, m.Ours, after, out)
		return err
	})
}

// read returns a content of one of both sides.
func (p *mergePlanner) read(h objects.Hash) ([]byte, error) {
	content, err := p.m.From.store.Read(h)
	if err == nil {
		return content, nil
	}
	if ours, oursErr := p.m.Into.store.Read(h); oursErr == nil { // only the mode changes
		return ours, nil
	}
	return nil, err
}

// putTree puts a tree with other files, which is partial if the one before is.
func putTree(
	s *objects.Store, before objects.Hash, files map[string]objects.Entry, out *objects.Writer,
) (objects.Hash, error) {
	var all []objects.File
	for name, e := range files {
		all = append(all, objects.File{Path: name, Entry: e})
	}
	partial, err := s.IsPartial(before)
	if err != nil {
		return objects.Hash{}, err
	}
	if partial {
		all = append(all, objects.Partial)
	}
	return objects.Tree(all, out.Put)
}

// BaseAfter stores what is merged after the plan was executed, and returns its tree, the base of the next merge: the
// base with what the worktree has at the paths that were written or removed, or are the same on both sides. id names a
// pack.
func (d *Merged) BaseAfter(ctx context.Context, id string, result Result) (base objects.Hash, err error) {
	names := slices.Concat(slices.Collect(maps.Keys(d.same)), result.Written, result.Removed)
	return d.m.From.Take(ctx, id, d.m.Base, d.m.Theirs, names)
}

// Same is how many paths are the same on both sides already, though they differ from the base.
func (d *Merged) Same() int { return len(d.same) }

// Take stores a tree that is another one with what a third tree has at some paths, and returns it. id names a pack.
func (w *Workspace) Take(
	ctx context.Context, id string, tree, from objects.Hash, names []string,
) (taken objects.Hash, err error) {
	release, err := w.lock(ctx)
	if err != nil {
		return taken, err
	}
	defer release()
	files, err := w.store.Files(tree)
	if err != nil {
		return taken, err
	}
	others, err := w.store.Files(from)
	if err != nil {
		return taken, err
	}
	for _, name := range names {
		if delete(files, name); !others[name].IsZero() {
			files[name] = others[name]
		}
	}
	err = w.store.Write(id, func(out *objects.Writer) error {
		taken, err = putTree(w.store, tree, files, out)
		return err
	})
	return taken, err
}
