package sessions

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

type Replay struct {
	ID     string  `arg:"" help:"The session: its id or a part of it, its title, or latest."`
	From   string  `help:"Begin there: the number of an event, a time, or turn:N." placeholder:"X"`
	To     string  `help:"End there." placeholder:"X"`
	At     string  `help:"The session as it was there." placeholder:"X"`
	Speed  float64 `help:"Play at X times the original pace; without it, at once." placeholder:"X"`
	Output string  `help:"What is printed: ${enum}." enum:"text,json,events,snapshot" default:"text"`

	WithTeam  string `help:"Ask this team again what people said, in a new session, and show both." placeholder:"TEAM"`
	WithModel string `help:"Ask again with this model for every agent." placeholder:"M"`
}

// Help shows examples first.
func (Replay) Help() string {
	return `Examples:
  agent-chatter replay latest
  agent-chatter replay 7QN3 --output json | jq -r .content
  agent-chatter replay latest --at turn:2 --output snapshot
  agent-chatter replay 7QN3 --with-team review`
}

// Run implements the command.
func (cmd *Replay) Run(a *app.App) error { return app.Named(cmd.ID, cmd.run(a)) }

func (cmd *Replay) run(a *app.App) error {
	part, err := view.ParseSpan(cmd.From, cmd.To, cmd.At)
	if err != nil {
		return err
	}
	if cmd.Speed < 0 || math.IsNaN(cmd.Speed) || math.IsInf(cmd.Speed, 0) {
		return app.UsageError("--speed takes a number above 0, such as 2 for twice as fast.")
	}
	r, err := view.OpenReplay(a, cmd.ID)
	if err != nil {
		return err
	}
	if err := r.Reaches(part); err != nil {
		return err
	}
	if cmd.WithTeam != "" || cmd.WithModel != "" {
		return cmd.askAgain(a, r, part)
	}
	out := bufio.NewWriter(a.Stdout)
	err = cmd.print(out, r, part)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	return err
}

func (cmd *Replay) print(out *bufio.Writer, r *view.Replay, part view.Span) error {
	if cmd.Output == "snapshot" {
		return printSnapshot(out, r, part)
	}
	first, err := part.FirstSeq(r.Events())
	if err != nil || first == 0 {
		return err
	}
	p := pace{speed: cmd.Speed, flush: out.Flush}
	if cmd.Output == "events" {
		for e, err := range part.UpTo(r.EventsOf(part)) {
			if err != nil {
				return err
			}
			if e.Seq >= first {
				p.wait(e.Time)
				fmt.Fprintf(out, "%s\n", e.Line())
			}
		}
		return nil
	}
	var damaged error
	for entry, err := range projection.Replay(part.UpTo(r.EventsOf(part))) {
		if err != nil {
			damaged = err // what could be read before is shown
			break
		}
		if entry.Seq < first {
			continue
		}
		p.waitFor(entry)
		if err := printEntry(out, entry, cmd.Output); err != nil {
			return err
		}
	}
	return damaged
}

func printEntry(out io.Writer, entry projection.Entry, format string) error {
	if format == "json" {
		return app.WriteJSON(out, entry)
	}
	_, err := fmt.Fprintln(out, view.MessageText(entry))
	return err
}

// printSnapshot folds twice: once for what stands around the messages, once
// for them.
func printSnapshot(out io.Writer, r *view.Replay, part view.Span) error {
	if part.From != nil {
		return app.UsageError("A snapshot begins at the beginning: leave --from out.")
	}
	var state projection.State
	for e, err := range part.UpTo(r.Events()) {
		if err != nil {
			return err
		}
		state.Apply(e)
	}
	return projection.WriteSnapshot(out, &state, part.UpTo(r.Events()))
}

// pace plays events at a multiple of the speed at which they happened.
type pace struct {
	speed float64
	last  time.Time
	flush func() error
}

func (p *pace) waitFor(entry projection.Entry) {
	if t, err := time.Parse(time.RFC3339Nano, entry.Timestamp); err == nil {
		p.wait(t)
	}
}

func (p *pace) wait(t time.Time) {
	if p.speed > 0 {
		p.flush()
		if gap := t.Sub(p.last); !p.last.IsZero() && gap > 0 {
			time.Sleep(time.Duration(float64(gap) / p.speed))
		}
	}
	p.last = t
}
