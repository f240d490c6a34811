package maintain

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A marker finds the trees that the sessions of a home name.
type marker struct {
	catalog  *catalog.Catalog
	journals map[catalog.Key]*markedJournal // by its directory, or that of the trash, and its id
}

// A markedJournal has the trees that a session names, by directory. The contents of others were removed.
type markedJournal struct {
	info       journal.Info // when it was read
	trees      map[string][]objects.Hash
	unfinished bool // files are being set back
}

func newMarker(c *catalog.Catalog) *marker { return &marker{c, map[catalog.Key]*markedJournal{}} }

// trees returns the trees that sessions have named at the last calls of mark.
func (m *marker) trees() map[string][]objects.Hash {
	all := map[string][]objects.Hash{}
	for _, j := range m.journals {
		for dir, trees := range j.trees {
			all[dir] = append(all[dir], trees...)
		}
	}
	return all
}

// mark reads the journals that are new or have changed since the last call. A journal that is gone counts as before: it
// may have been moved while the directories were read.
func (m *marker) mark(ctx context.Context) error {
	teams, err := m.catalog.Teams()
	if err != nil {
		return err
	}
	for _, t := range teams {
		if err := m.markTeam(ctx, t.Journals()); err != nil {
			return err
		}
	}
	return nil
}

// markTeam marks the journals of a directory, also those in the trash.
func (m *marker) markTeam(ctx context.Context, journals *journal.Dir) error {
	trashed, err := trash.Of(journals).List()
	if err != nil {
		return err
	}
	infos, err := journals.List(ctx)
	if err != nil {
		return err
	}
	live := func(id string) (*journal.Reader, error) { return journals.Reader(id, journal.Position{}) }
	for _, item := range trashed {
		info := journal.Info{ID: item.ID, Dir: journal.Files{Dir: journals.Path()}.Trash(), Size: item.Bytes}
		if err := m.markJournal(ctx, info, trash.Of(journals).Reader, live); err != nil {
			return err
		}
	}
	for _, info := range infos {
		if err := m.markJournal(ctx, info, live, trash.Of(journals).Reader); err != nil {
			return err
		}
	}
	return nil
}

// markJournal reads a journal unless it is as it was when it was read. It is opened by the first function, or, if it
// was moved since it was listed, by the second one.
func (m *marker) markJournal(
	ctx context.Context, info journal.Info, open, openMoved func(id string) (*journal.Reader, error),
) error {
	key := catalog.Key{Dir: info.Dir, ID: info.ID}
	if known := m.journals[key]; known != nil && known.info == info {
		return nil
	}
	r, err := open(info.ID)
	if errors.Is(err, journal.ErrNotFound) {
		r, err = openMoved(info.ID)
	}
	if errors.Is(err, journal.ErrNotFound) {
		return nil // it was removed
	}
	if err != nil {
		return err
	}
	j := &markedJournal{info: info, trees: map[string][]objects.Hash{}}
	if err := errors.Join(j.read(ctx, r), r.Close()); err != nil {
		return err
	}
	m.journals[key] = j
	return nil
}

// read adds the trees that a session names.
func (j *markedJournal) read(ctx context.Context, r *journal.Reader) error {
	for e, err := range r.Grep(func(lines []byte) int {
		if ctx.Err() != nil {
			return -1
		}
		return indexMark(lines)
	}) {
		if err != nil {
			return err
		}
		if p, err := projection.Decode(e); err == nil {
			j.apply(p)
		}
	}
	return context.Cause(ctx)
}

// indexMark returns the position of the first type of an event that may name a tree; -1: there is none.
func indexMark(lines []byte) int {
	files := bytes.Index(lines, []byte(`"type":"files.`))
	if files >= 0 {
		lines = lines[:files]
	}
	if worktree := bytes.Index(lines, []byte(`"type":"worktree.`)); worktree >= 0 {
		return worktree
	}
	return files
}

func (j *markedJournal) apply(p projection.Payload) {
	switch p := p.(type) {
	case projection.FilesCaptured:
		j.add(p.Dir, p.Root)
	case projection.FilesChanged:
		j.add(p.Dir, p.Before, p.After)
	case projection.FilesRestoring:
		j.add(p.Dir, p.Target, p.Undo)
		j.unfinished = true
	case projection.FilesRestored:
		j.unfinished = false
	case projection.WorktreeCreated:
		j.add(p.Dir, p.Base)
	case projection.WorktreeMerged:
		j.add(p.Dir, p.Base)
	case projection.WorktreeDropped:
		if p.Tree != "" {
			j.add(p.Dir, p.Tree)
		}
	case projection.FilesDropped:
		j.trees[p.Dir] = slices.DeleteFunc(j.trees[p.Dir], func(tree objects.Hash) bool {
			return slices.Contains(p.Roots, tree.String())
		})
	}
}

// add adds trees of a directory.
func (j *markedJournal) add(dir string, roots ...string) {
	for _, root := range roots {
		if tree, err := objects.ParseHash(root); err == nil && !slices.Contains(j.trees[dir], tree) {
			j.trees[dir] = append(j.trees[dir], tree)
		}
	}
}
