package maintain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// sweepFiles removes the captured contents of files that no session needs, archived ones and those in the trash
// included. It reports how many bytes that frees, or why nothing is removed.
func sweepFiles(ctx context.Context, a *app.App) {
	m := newMarker(a.Catalog)
	freed, err := workspace.Sweep(a.Home, func() (map[string][]objects.Hash, error) { return m.mark(ctx) })
	if err != nil {
		a.Notice(notSweptText(err))
	}
	if freed > 0 {
		a.Notice(sweptText(freed))
	}
}

// notSweptText is for contents that were not removed.
func notSweptText(err error) string {
	return fmt.Sprintf("Captured files that no session needs were not removed: %s", tty.SafeLine(err.Error()))
}

func sweptText(freed int64) string {
	return fmt.Sprintf("%s of captured files freed.", app.Count(int(freed), "byte"))
}

// A marker finds the trees that the sessions of a home name.
type marker struct {
	catalog *catalog.Catalog
	read    map[string]journal.Info   // journals as they were read, by path
	trees   map[string][]objects.Hash // by directory
}

func newMarker(c *catalog.Catalog) *marker {
	return &marker{c, map[string]journal.Info{}, map[string][]objects.Hash{}}
}

// mark returns the trees that the sessions name, and those that they have named at an earlier call. It reads only
// journals that have changed since.
func (m *marker) mark(ctx context.Context) (map[string][]objects.Hash, error) {
	teams, err := m.catalog.Teams()
	if err != nil {
		return nil, err
	}
	for _, t := range teams {
		if err := m.markTeam(ctx, t.Journals()); err != nil {
			return nil, err
		}
	}
	return m.trees, nil
}

// markTeam adds the trees that the sessions of a directory name.
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

// markJournal adds the trees that a journal names, unless it is as it was when it was read. It is opened by the first
// function, or, if it was moved since it was listed, by the second one.
func (m *marker) markJournal(
	ctx context.Context, info journal.Info, open, openMoved func(id string) (*journal.Reader, error),
) error {
	if m.read[info.Path()] == info {
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
	if err := errors.Join(addTreesOf(ctx, r, m.trees), r.Close()); err != nil {
		return err
	}
	m.read[info.Path()] = info
	return nil
}

// addTreesOf adds the trees that a session names.
func addTreesOf(ctx context.Context, r *journal.Reader, trees map[string][]objects.Hash) error {
	mark := []byte(`"type":"files.`)
	for e, err := range r.Grep(func(lines []byte) int {
		if ctx.Err() != nil {
			return -1
		}
		return bytes.Index(lines, mark)
	}) {
		if err != nil {
			return err
		}
		p, err := projection.Decode(e)
		if err != nil {
			continue
		}
		var dir string
		var roots []string
		switch p := p.(type) {
		case projection.FilesCaptured:
			dir, roots = p.Dir, []string{p.Root}
		case projection.FilesChanged:
			dir, roots = p.Dir, []string{p.Before, p.After}
		case projection.FilesRestoring:
			dir, roots = p.Dir, []string{p.Target, p.Undo}
		}
		for _, root := range roots {
			if tree, err := objects.ParseHash(root); err == nil && !slices.Contains(trees[dir], tree) {
				trees[dir] = append(trees[dir], tree)
			}
		}
	}
	return context.Cause(ctx)
}
