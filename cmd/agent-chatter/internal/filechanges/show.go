package filechanges

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Show prints the content that a file had.
type Show struct {
	ID   string `arg:"" complete:"id" help:"The session: id, title, path or latest."`
	X    string `arg:"" complete:"none" help:"An event: number, time or turn:N."`
	Path string `arg:"" help:"The file, in its directory or in this one."`
}

// Help returns examples.
func (Show) Help() string {
	return `Examples:
  agent-chatter files show latest turn:2 src/cart.go
  agent-chatter files show 7QN3 12 logo.png > logo.png`
}

// Run implements the command.
func (cmd *Show) Run(a *app.App) error { return app.WithName(cmd.ID, cmd.run(a)) }

func (cmd *Show) run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	span, ok := view.UpToPoint(cmd.X)
	if !ok {
		return app.UsageError("%s", pointText(cmd.X))
	}
	h, trees, err := openTrees(ctx, a, cmd.ID, span)
	if err != nil {
		return err
	}
	if len(trees) == 0 {
		return app.Exit(app.ExitFailed, noTreeText(h.id, cmd.X))
	}
	for _, t := range trees {
		content, err := h.file(a.Cwd, t, cmd.Path)
		if errors.Is(err, errNoFile) {
			continue
		}
		if err != nil {
			return err
		}
		return cmd.print(a, content)
	}
	return app.Exit(app.ExitFailed, app.Message{Text: noFileText(cmd.Path, cmd.X)})
}

// openTrees returns the history of a session, and what the directories contained at the end of a span, the newest
// first.
func openTrees(ctx context.Context, a *app.App, id string, span view.Span) (h *history, trees []tree, err error) {
	r, err := view.OpenReplay(ctx, a, id)
	if err != nil {
		return nil, nil, err
	}
	if err := r.CheckSpan(ctx, span); err != nil {
		return nil, nil, err
	}
	if h, err = readHistory(ctx, a, r, nil); err != nil {
		return nil, nil, err
	}
	last, err := span.LastSeq(r.Events(ctx))
	if err != nil {
		return nil, nil, err
	}
	for _, t := range slices.Backward(h.trees) {
		isNewer := func(other tree) bool { return other.dir == t.dir }
		if (t.at <= last || span.To == nil) && !slices.ContainsFunc(trees, isNewer) {
			trees = append(trees, t)
		}
	}
	return h, trees, nil
}

var errNoFile = errors.New("no such file")

// file returns the content of a file of a tree, or the text of a link.
func (h *history) file(cwd string, t tree, name string) ([]byte, error) {
	path, e, err := h.find(cwd, t, name)
	if err != nil {
		return nil, err
	}
	return h.read(t.dir, path, e)
}

// find returns the path and the entry of a file of a tree whose content is stored.
func (h *history) find(cwd string, t tree, name string) (path string, e objects.Entry, err error) {
	root, err := objects.ParseHash(t.root)
	if err != nil {
		return "", e, err
	}
	files, err := h.workspace(t.dir).Store().Files(root)
	if err != nil {
		return "", e, h.contentError("the files of "+t.dir, err)
	}
	for _, path := range namesIn(t.dir, cwd, name) {
		e, ok := files[path]
		switch {
		case !ok:
		case e.Stored():
			return path, e, nil
		default:
			why, err := h.whyMissing(t.dir, path, e)
			if err != nil {
				return "", e, err
			}
			return "", e, app.Exit(app.ExitFailed, app.Message{Text: notCapturedText(path, why)})
		}
	}
	return "", e, errNoFile
}

// namesIn returns the paths below a directory that a name can mean: from the working directory, and from the directory.
func namesIn(dir, cwd, name string) (names []string) {
	if below, err := filepath.Rel(dir, realPath(cwd, name)); err == nil && filepath.IsLocal(below) {
		names = append(names, filepath.ToSlash(below))
	}
	if below := filepath.ToSlash(filepath.Clean(name)); filepath.IsLocal(name) && !slices.Contains(names, below) {
		names = append(names, below)
	}
	return names
}

// realPath returns the absolute path of a name that is relative to a directory. Links in its parents are resolved, as
// far as these exist.
func realPath(cwd, name string) string {
	if resolved, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = resolved
	}
	at := filepath.Clean(name)
	if !filepath.IsAbs(name) {
		at = filepath.Join(cwd, name)
	}
	below := filepath.Base(at)
	for dir := filepath.Dir(at); ; dir = filepath.Dir(dir) {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(resolved, below)
		}
		if dir == filepath.Dir(dir) {
			return at
		}
		below = filepath.Join(filepath.Base(dir), below)
	}
}

// print prints a content as it is. A terminal shows only text.
func (cmd *Show) print(a *app.App, content []byte) error {
	if tty.IsTerminal(a.Stdout) {
		if isBinary(content) || !utf8.Valid(content) {
			return app.Exit(app.ExitFailed, app.Message{Text: binaryText(cmd.Path)})
		}
		content = []byte(tty.Safe(string(content)))
	}
	_, err := a.Stdout.Write(content)
	return err
}
