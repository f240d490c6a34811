package sessions

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Replay prints the conversation of a session, or reruns it with another team.
type Replay struct {
	ID     string   `arg:"" optional:"" help:"The session: id, ID#N, title, path (default: latest)."`
	From   string   `help:"First event: number, time or turn:N." placeholder:"X"`
	To     string   `help:"Last event: number, time or turn:N." placeholder:"X"`
	At     string   `help:"Show the session as of X (same as --to)." placeholder:"X"`
	Speed  *float64 `help:"Multiple of the original pace (default: no delay)." placeholder:"X"`
	Output string   `help:"Output format: ${enum}." enum:"text,json,events,snapshot" default:"text"`

	WithTeam  string `help:"Rerun the prompts with this team." placeholder:"TEAM"`
	WithModel string `help:"Rerun the prompts with this model." placeholder:"M"`
}

// Help returns examples.
func (Replay) Help() string {
	return `Examples:
  agent-chatter replay
  agent-chatter replay 7QN3#12
  agent-chatter replay 7QN3 --output json | jq -r .content
  agent-chatter replay latest --at turn:2 --output snapshot
  agent-chatter replay 7QN3 --with-team review`
}

// Run implements the command.
func (cmd *Replay) Run(a *app.App) error { return app.WithName(cmd.ID, cmd.run(a)) }

func (cmd *Replay) run(a *app.App) error {
	if s := cmd.Speed; s != nil && !(*s > 0 && *s <= math.MaxFloat64) {
		return app.UsageError("--speed takes a number above 0, such as 2 for twice as fast.")
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	name, from, err := a.CutEvent(ctx, cmp.Or(cmd.ID, catalog.LatestName), "from", cmd.From)
	if err != nil {
		return err
	}
	span, err := view.ParseSpan(from, cmd.To, cmd.At)
	if err != nil {
		return err
	}
	r, err := view.OpenReplay(ctx, a, name)
	if err != nil {
		return err
	}
	if err := r.CheckSpan(ctx, span); err != nil {
		return err
	}
	if cmd.WithTeam != "" || cmd.WithModel != "" {
		if cmd.Speed != nil || cmd.Output != "text" && cmd.Output != "json" {
			return app.UsageError("--with-team and --with-model support only --output text or json, without --speed.")
		}
		o := rerunOptions{Team: cmd.WithTeam, Model: cmd.WithModel, JSON: cmd.Output == "json"}
		return rerunSession(ctx, a, r, span, o)
	}
	out := bufio.NewWriter(a.Stdout)
	err = cmd.print(ctx, a, out, r, span)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// print prints the span. Of a damaged session it prints what precedes the damage.
func (cmd *Replay) print(ctx context.Context, a *app.App, out *bufio.Writer, r *view.Replay, span view.Span) error {
	if cmd.Output == "snapshot" {
		return printSnapshot(ctx, out, r, span)
	}
	first, err := span.FirstSeq(r.Events(ctx))
	if err != nil || first == 0 {
		return err
	}
	events := span.UpTo(r.EventsFor(ctx, span))
	p := pacer{flush: out.Flush}
	if cmd.Speed != nil {
		p.speed = *cmd.Speed
	}
	if cmd.Output == "events" {
		for e, err := range events {
			if err != nil {
				return err
			}
			if e.Seq >= first {
				p.wait(ctx, e.Time)
				fmt.Fprintf(out, "%s\n", e.Line())
			}
		}
		return nil
	}
	style := view.OutputStyle(a)
	if cmd.Output == "text" && !style.Plain {
		return printBlocks(out, p.pace(ctx, events, first), first, style)
	}
	var transcript view.Transcript
	columns := tty.Columns(a.Stdout)
	for i, err := range new(conversation.Conversation).Read(projection.Brief(events)) {
		if err != nil {
			return err
		}
		entry, ok := i.Entry()
		_, changed := i.Change.(projection.Described)
		changed = changed && cmd.Output == "text" && i.First >= first
		if !ok && !changed || entry.Seq < first && (cmd.Output == "json" || i.Last < first) {
			continue
		}
		if t, err := time.Parse(time.RFC3339Nano, entry.Timestamp); err == nil {
			p.wait(ctx, t)
		}
		if cmd.Output == "json" {
			if err := app.WriteJSON(out, entry); err != nil {
				return err
			}
			continue
		}
		for _, b := range transcript.Item(i) {
			for _, line := range view.Render(b, style) {
				if _, err := fmt.Fprintln(out, tty.Fold(line, columns)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printBlocks prints a conversation as the chat shows it, from the turn or message that event first belongs to.
func printBlocks(out io.Writer, events iter.Seq2[journal.Event, error], first uint64, s view.Style) error {
	printed := false
	for b, err := range view.BlocksFrom(projection.Decoded(events), first) {
		if err != nil {
			return err
		}
		for _, line := range view.Render(b, s) {
			if !printed && line == "" {
				continue
			}
			printed = true
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// printSnapshot reads the session twice: the state precedes the messages in a snapshot.
func printSnapshot(ctx context.Context, out io.Writer, r *view.Replay, span view.Span) error {
	if span.From != nil {
		return app.UsageError("A snapshot starts at the first event: omit --from, or #N in the name.")
	}
	var state projection.State
	for e, err := range span.UpTo(r.Events(ctx)) {
		if err != nil {
			return err
		}
		state.Apply(e)
	}
	return projection.WriteSnapshot(out, &state, span.UpTo(r.Events(ctx)))
}

// A pacer delays output to a multiple of the pace at which the events were recorded.
type pacer struct {
	speed float64 // 0: no delay
	last  time.Time
	flush func() error
}

// pace yields events, those from first on when they are due, until ctx is done.
func (p *pacer) pace(
	ctx context.Context, events iter.Seq2[journal.Event, error], first uint64,
) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Seq >= first {
				p.wait(ctx, e.Time)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// wait blocks until an event with time t is due, or ctx is done.
func (p *pacer) wait(ctx context.Context, t time.Time) {
	if p.speed > 0 {
		p.flush()
		if gap := t.Sub(p.last); !p.last.IsZero() && gap > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(float64(gap) / p.speed)):
			}
		}
	}
	p.last = t
}
