package filechanges

import (
	"bufio"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// Patch prints the changes of agents as one patch that git apply takes.
type Patch struct {
	ID     string `arg:"" complete:"id" help:"The session: id, title, path or latest."`
	Member string `complete:"member" help:"Only changes of this member." placeholder:"NAME"`
	From   string `help:"First event: number, time or turn:N." placeholder:"X"`
	To     string `help:"Last event: number, time or turn:N." placeholder:"X"`
	Dir    string `help:"The directory, if agents have changed several." placeholder:"DIR"`
}

// Help returns examples.
func (Patch) Help() string {
	return `Examples:
  agent-chatter files patch latest | git apply
  agent-chatter files patch 7QN3 --member ada --from turn:2 > review.patch`
}

// Run implements the command.
func (cmd *Patch) Run(a *app.App) error { return app.WithName(cmd.ID, cmd.run(a)) }

func (cmd *Patch) run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	span, err := view.ParseSpan(cmd.From, cmd.To, "")
	if err != nil {
		return err
	}
	r, err := view.OpenReplay(ctx, a, cmd.ID)
	if err != nil {
		return err
	}
	if err := r.CheckSpan(ctx, span); err != nil {
		return err
	}
	h, err := readHistory(ctx, a, r, nil)
	if err != nil {
		return err
	}
	member := ""
	if cmd.Member != "" {
		if member, err = h.member(cmd.Member); err != nil {
			return err
		}
	}
	steps, err := h.stepsIn(ctx, r, span)
	if err != nil {
		return err
	}
	dir, err := cmd.dirOf(steps, member, a.Cwd)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s step) bool { return s.dir != dir })
	p, err := newPatch(h, dir, member, steps)
	if err != nil {
		return err
	}
	return p.print(a)
}

// stepsIn returns the steps of a span.
func (h *history) stepsIn(ctx context.Context, r *view.Replay, span view.Span) (steps []step, err error) {
	first, err := span.FirstSeq(r.Events(ctx))
	if err != nil || first == 0 {
		return nil, err
	}
	last, err := span.LastSeq(r.Events(ctx))
	if err != nil {
		return nil, err
	}
	for _, s := range h.steps {
		if s.at >= first && (span.To == nil || s.at <= last) {
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// dirOf returns the directory whose changes by agents are in the patch: the given one, the only one, or that around the
// working directory; "": there are no such changes.
func (cmd *Patch) dirOf(steps []step, member, cwd string) (string, error) {
	var dirs []string
	for _, s := range steps {
		if s.changed != nil && (member == "" || s.changed.MemberID == member) && !slices.Contains(dirs, s.dir) {
			dirs = append(dirs, s.dir)
		}
	}
	if cmd.Dir != "" {
		dir := realPath(cwd, cmd.Dir)
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		return dir, nil
	}
	if len(dirs) <= 1 {
		return strings.Join(dirs, ""), nil
	}
	cwd = realPath(cwd, ".")
	around := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		below, err := filepath.Rel(dir, cwd)
		return err != nil || !filepath.IsLocal(below)
	})
	if len(around) == 0 {
		return "", app.Exit(app.ExitUsage, app.Message{Text: severalText(dirs)})
	}
	return slices.MaxFunc(around, func(a, b string) int { return cmp.Compare(len(a), len(b)) }), nil
}

// print prints the patch, for a terminal without control characters, and on standard error what it leaves out.
func (p *patch) print(a *app.App) error {
	out := bufio.NewWriter(a.Stdout)
	printed, terminal := 0, tty.IsTerminal(a.Stdout)
	for _, name := range p.paths() {
		c := p.chains[name]
		if c.why != "" {
			a.Notice(leftOutText(name, c.why))
			continue
		}
		text, err := p.h.gitDiff(p.dir, name, c.before, c.after)
		if err != nil {
			return err
		}
		printed += len(text)
		if terminal {
			text = []byte(tty.Safe(string(text)))
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	if printed == 0 {
		a.Show(emptyPatchText(p.h.id))
	}
	return out.Flush()
}
