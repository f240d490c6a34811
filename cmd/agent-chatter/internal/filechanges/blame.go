package filechanges

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Blame prints who changed each line of a file last.
type Blame struct {
	ID     string `arg:"" complete:"id" help:"The session: id, title, path or latest."`
	Path   string `arg:"" help:"The file, in its directory or in this one."`
	At     string `help:"An event: number, time or turn:N (default: the last)." placeholder:"X"`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Blame) Help() string {
	return `Examples:
  agent-chatter files blame latest src/cart.go
  agent-chatter files blame 7QN3 src/cart.go --at turn:2
  agent-chatter files blame 7QN3 src/cart.go --json | jq -r 'select(.member == "ada").text'`
}

// Run implements the command.
func (cmd *Blame) Run(a *app.App) error { return app.WithName(cmd.ID, cmd.run(a)) }

func (cmd *Blame) run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	span, err := view.ParseSpan("", "", cmd.At)
	if err != nil {
		return err
	}
	h, trees, err := openTrees(ctx, a, cmd.ID, span)
	if err != nil {
		return err
	}
	for _, t := range trees {
		lines, err := h.blame(a.Cwd, t, cmd.Path)
		if errors.Is(err, errNoFile) {
			continue
		}
		if err != nil {
			return err
		}
		return cmd.print(a, h, lines)
	}
	return app.Exit(app.ExitFailed, notBlamedText(cmd.Path, h.id))
}

// A blamed line is a line of a file, and the step that changed it last; nil: it was there before the first one, or
// before the first one with a content that was captured.
type blamed struct {
	step *step
	text string // with its line feed, if it has one
}

// blame returns the lines that a file had in a tree.
func (h *history) blame(cwd string, t tree, name string) ([]blamed, error) {
	path, last, err := h.find(cwd, t, name)
	if err != nil {
		return nil, err
	}
	f := versions{h: h, dir: t.dir, path: path}
	for i := range h.steps {
		s := &h.steps[i]
		if s.dir != t.dir || s.at > t.at {
			continue
		}
		changes, err := h.compare(s.dir, s.before, s.after)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(changes, func(c objects.Change) bool { return c.Path == path })
		if at < 0 {
			continue
		}
		between := &step{seq: s.seq, dir: s.dir} // if another program changed it during turns
		if err := cmp.Or(f.add(between, changes[at].Before), f.add(s, changes[at].After)); err != nil {
			return nil, err
		}
	}
	err = f.add(&step{seq: t.at, dir: t.dir}, last)
	return f.lines, err
}

// versions folds the versions of a file, the oldest first.
type versions struct {
	h         *history
	dir, path string
	begun     bool
	last      objects.Entry
	content   []byte // of the last one
	lines     []blamed
}

// add adds a version that a step has made. The first one was there before.
func (f *versions) add(s *step, e objects.Entry) error {
	switch {
	case !f.begun:
		s = nil
	case e == f.last:
		return nil
	case isMissing(f.last):
		s = nil
	}
	next, err := f.h.side(f.dir, f.path, e)
	switch {
	case err != nil:
		return err
	case isBinary(next.content):
		return app.Exit(app.ExitFailed, app.Text("%s is no text.", pathText(f.path)))
	case len(next.content) > workspace.MaxDiff:
		return app.Exit(app.ExitFailed, tooLargeText(f.path))
	}
	texts := slices.Collect(strings.Lines(string(next.content)))
	var lines []blamed
	at := 0
	for _, hunk := range workspace.Hunks(f.content, next.content) {
		lines = append(lines, f.lines[at:hunk.Before.From]...)
		at = hunk.Before.From
		for _, line := range hunk.Lines {
			switch line[0] {
			case '-':
				at++
			case '+':
				lines = append(lines, blamed{s, texts[len(lines)]})
			default:
				lines = append(lines, f.lines[at])
				at++
			}
		}
	}
	f.lines = append(lines, f.lines[at:]...)
	f.begun, f.last, f.content = true, e, next.content
	return nil
}

// blamedJSON is the JSON output of a line. Scripts rely on it: fields are only added.
type blamedJSON struct {
	Line   int    `json:"line"` // 1 is the first
	Text   string `json:"text"`
	Seq    uint64 `json:"seq,omitempty"` // of the event that recorded the change; none: it was there before
	Turn   int    `json:"turn,omitempty"`
	Member string `json:"member,omitempty"` // its id; none: you or another program
}

// print prints the lines.
func (cmd *Blame) print(a *app.App, h *history, lines []blamed) error {
	out := bufio.NewWriter(a.Stdout)
	if cmd.Output == "json" {
		for i, l := range lines {
			line := blamedJSON{Line: i + 1, Text: strings.TrimSuffix(l.text, "\n")}
			if l.step != nil {
				line.Seq, line.Turn = l.step.seq, l.step.turn
				if l.step.changed != nil {
					line.Member = l.step.changed.MemberID
				}
			}
			if err := app.WriteJSON(out, line); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	var cells [][]string
	for i, l := range lines {
		seq, who := "", ""
		if l.step != nil {
			seq, who = fmt.Sprint(l.step.seq), h.whoText(*l.step)
		}
		cells = append(cells, []string{seq, who, fmt.Sprint(i + 1)})
	}
	for i, columns := range ansi.Align(cells) {
		fmt.Fprintln(out, columns+"  "+tty.SafeLine(strings.TrimRight(lines[i].text, "\r\n")))
	}
	return out.Flush()
}
