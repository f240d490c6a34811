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
)

// sweepFiles removes the captured contents of files that no session needs, archived ones and those in the trash
// included. It reports how many bytes that frees, or why nothing is removed.
func sweepFiles(ctx context.Context, a *app.App) {
	freed, err := workspace.Sweep(a.Home, func() (map[string][]objects.Hash, error) {
		teams, err := a.Catalog.Teams()
		if err != nil {
			return nil, err
		}
		trees := map[string][]objects.Hash{}
		for _, t := range teams {
			if err := addTrees(ctx, t.Journals(), trees); err != nil {
				return nil, err
			}
		}
		return trees, nil
	})
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

// addTrees adds the trees that the sessions of a directory name.
func addTrees(ctx context.Context, journals *journal.Dir, trees map[string][]objects.Hash) error {
	infos, err := journals.List(ctx)
	if err != nil {
		return err
	}
	trashed, err := trash.Of(journals).List()
	if err != nil {
		return err
	}
	var readers []func() (*journal.Reader, error)
	for _, info := range infos {
		readers = append(readers, func() (*journal.Reader, error) {
			return journals.Reader(info.ID, journal.Position{})
		})
	}
	for _, item := range trashed {
		readers = append(readers, func() (*journal.Reader, error) { return trash.Of(journals).Reader(item.ID) })
	}
	for _, open := range readers {
		r, err := open()
		if err != nil {
			return err
		}
		if err := errors.Join(addTreesOf(ctx, r, trees), r.Close()); err != nil {
			return err
		}
	}
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
