package filechanges

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Command are the commands of the changes of files.
type Command struct {
	List    List    `cmd:"" aliases:"ls" default:"withargs" help:"List what each turn changed."`
	Show    Show    `cmd:"" help:"Print a file as it was."`
	Blame   Blame   `cmd:"" help:"Print who changed each line last."`
	Patch   Patch   `cmd:"" help:"Print the agents' changes as a patch."`
	Restore Restore `cmd:"" help:"Set files back."`
	Merge   Merge   `cmd:"" help:"Merge what a member changed in its worktree."`
	Drop    Drop    `cmd:"" help:"Remove the worktree of a member."`
}

// Help returns examples.
func (Command) Help() string {
	return `Examples:
  agent-chatter files latest
  agent-chatter files show latest turn:2 src/cart.go
  agent-chatter files blame latest src/cart.go
  agent-chatter files patch latest | git apply
  agent-chatter files restore latest --at turn:1 --dry-run
  agent-chatter files merge latest ada --dry-run`
}

// List prints what each turn changed.
type List struct {
	ID     string   `arg:"" optional:"" help:"The session: id, title, path (default: latest)."`
	Paths  []string `arg:"" optional:"" name:"path" help:"Only these files and directories."`
	At     string   `help:"Only up to an event: number, time or turn:N." placeholder:"X"`
	Member string   `complete:"member" help:"Only changes of this member." placeholder:"NAME"`
	Diff   bool     `help:"Print the changed lines, too."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (List) Help() string {
	return `Examples:
  agent-chatter files latest
  agent-chatter files 7QN3 src --member ada --diff
  agent-chatter files 7QN3 --json | jq -r '.changes[].path'`
}

// Run implements the command.
func (cmd *List) Run(a *app.App) error { return app.WithName(cmd.ID, cmd.run(a)) }

func (cmd *List) run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	if cmd.Diff && cmd.Output == "json" {
		return app.UsageError("--diff and JSON exclude each other: files patch prints what changed.")
	}
	span, err := view.ParseSpan("", "", cmd.At)
	if err != nil {
		return err
	}
	r, err := view.OpenReplay(ctx, a, cmp.Or(cmd.ID, catalog.LatestName))
	if err != nil {
		return err
	}
	h, err := readHistory(ctx, a, r, nil)
	if err != nil {
		return err
	}
	if err := h.cut(ctx, r, span); err != nil {
		return err
	}
	if cmd.Member != "" {
		if cmd.Member, err = h.member(cmd.Member); err != nil {
			return err
		}
	}
	rows, missing := cmd.rows(h, a.Cwd)
	out := bufio.NewWriter(a.Stdout)
	if cmd.Output == "json" {
		err = h.writeJSON(out, rows)
	} else {
		err = cmd.print(a, out, h, rows)
	}
	if err = cmp.Or(err, out.Flush()); err != nil {
		return err
	}
	switch {
	case missing != nil:
		return missing
	case len(h.steps) == 0:
		a.Show(nothingText(h.id))
	case len(rows) == 0:
		a.Show(noMatchText(h.id))
	}
	return nil
}

// cut removes the steps after the end of a span.
func (h *history) cut(ctx context.Context, r *view.Replay, span view.Span) error {
	if span.To == nil {
		return nil
	}
	if err := r.CheckSpan(ctx, span); err != nil {
		return err
	}
	last, err := span.LastSeq(r.Events(ctx))
	h.steps = slices.DeleteFunc(h.steps, func(s step) bool { return s.at > last })
	return err
}

// A row is a step with the changes that are listed.
type row struct {
	step
	changes []projection.FileChange
}

// rows returns the steps that match, and the first error of those whose changes are not known.
func (cmd *List) rows(h *history, cwd string) (rows []row, missing error) {
	for _, s := range h.steps {
		if cmd.Member != "" && !h.mayBeOf(s, cmd.Member) {
			continue
		}
		all, err := h.changes(s)
		if err != nil && missing == nil {
			missing = err
		}
		var listed []projection.FileChange
		for _, c := range all {
			if len(cmd.Paths) == 0 || matches(s.dir, cwd, string(c.Path), cmd.Paths) {
				listed = append(listed, c)
			}
		}
		if len(listed) > 0 || err != nil {
			rows = append(rows, row{s, listed})
		}
	}
	return rows, missing
}

// mayBeOf reports whether a member may have changed the files of a step.
func (h *history) mayBeOf(s step, member string) bool {
	if s.changed == nil {
		return false
	}
	is := func(turnID string) bool { return h.turns[turnID].member == member }
	return s.changed.MemberID == member || slices.ContainsFunc(s.changed.With, is)
}

// matches reports whether a path below a directory is one of the names, or below one.
func matches(dir, cwd, at string, names []string) bool {
	for _, name := range names {
		for _, of := range namesIn(dir, cwd, name) {
			if of == "." || at == of || strings.HasPrefix(at, of+"/") {
				return true
			}
		}
	}
	return false
}

// maxNamed is how many files a line names.
const maxNamed = 8

// print prints the rows, and what was not captured.
func (cmd *List) print(a *app.App, out *bufio.Writer, h *history, rows []row) error {
	var cells [][]string
	for _, r := range rows {
		seq, files := "", app.Count(len(r.changes), "file")
		if r.changed != nil {
			seq = fmt.Sprint(r.seq)
		}
		if len(r.changes) == 0 {
			files = "unknown"
		}
		who := h.whoText(r.step) + h.whereText(r.step)
		cells = append(cells, []string{seq, who, files, linesText(r.changes), h.namesText(r)})
	}
	lines := ansi.Align(cells)
	style := view.OutputStyle(a)
	for i, r := range rows {
		fmt.Fprintln(out, strings.TrimRight(lines[i], " "))
		if cmd.Diff {
			if err := h.printDiff(out, r, style, tty.IsTerminal(a.Stdout)); err != nil {
				return err
			}
		}
	}
	for _, dir := range h.capturedDirs() {
		if text := skippedText(h.captured[dir]); text != "" {
			fmt.Fprintln(out, text)
		}
	}
	return nil
}

// namesText names the files of a row.
func (h *history) namesText(r row) string {
	var names []string
	for i, c := range r.changes {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(r.changes)-i))
			break
		}
		if !h.isWorktree(r.dir) && len(h.dirs()) > 1 {
			c.Path = projection.FilePath(path.Join(filepath.ToSlash(r.dir), string(c.Path)))
		}
		names = append(names, pathText(c.Text()))
	}
	return strings.Join(names, "  ")
}

// capturedDirs returns the directories that were captured, sorted.
func (h *history) capturedDirs() (dirs []string) {
	for dir := range h.captured {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}
