package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type replayCommand struct {
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
func (replayCommand) Help() string {
	return `Examples:
  agent-chatter replay latest
  agent-chatter replay 7QN3 --output json | jq -r .content
  agent-chatter replay latest --at turn:2 --output snapshot
  agent-chatter replay 7QN3 --with-team review`
}

// Run implements the command.
func (cmd *replayCommand) Run(a *app) error { return named(cmd.ID, cmd.run(a)) }

func (cmd *replayCommand) run(a *app) error {
	part, err := parseSpan(cmd.From, cmd.To, cmd.At)
	if err != nil {
		return err
	}
	if cmd.Speed < 0 || math.IsNaN(cmd.Speed) || math.IsInf(cmd.Speed, 0) {
		return usageError("--speed takes a number above 0, such as 2 for twice as fast.")
	}
	r, err := a.openReplay(cmd.ID)
	if err != nil {
		return err
	}
	if err := r.reaches(part); err != nil {
		return err
	}
	if cmd.WithTeam != "" || cmd.WithModel != "" {
		return cmd.askAgain(a, r, part)
	}
	out := bufio.NewWriter(a.stdout)
	err = cmd.print(out, r, part)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// replay is a session that is read again.
type replay struct {
	app  *app
	team *catalog.Dir
	id   string
	last uint64 // its last event; 0: nobody knows what a damaged one has

	torn     journal.Torn // what was said of its end; many read it more than once
	headless error        // what is wrong with a session whose lines check; nil: nothing
}

func (a *app) openReplay(name string) (*replay, error) {
	c := a.catalog()
	session, err := a.findOrOpen(c, name)
	if err != nil {
		return nil, err
	}
	return a.replayOf(c, session), nil
}

func (a *app) replayOf(c *catalog.Catalog, session catalog.Session) *replay {
	if session.Truncated {
		a.notice(shrunkText(session))
	}
	r := &replay{app: a, team: c.At(session.Dir()), id: session.ID}
	if session.Damaged == "" {
		r.last = session.LastSeq
	}
	if session.MissingHeader {
		r.headless = &catalog.MissingHeaderError{ID: session.ID, Reason: session.Damaged}
	}
	return r
}

// reaches refuses a span that begins or ends where the session has nothing; a
// damaged one is refused by whoever reads it. The session is read only to count
// its turns.
func (r *replay) reaches(part span) error {
	for _, p := range []*place{part.from, part.to} {
		switch {
		case p == nil:
		case r.last > 0 && p.seq > r.last:
			return r.notReached(fmt.Sprint(p.seq))
		case p.turn > 0:
			state, _, err := r.team.Load(context.TODO(), r.id)
			if err == nil && p.turn > state.Stats.Turns+len(state.OpenTurns) {
				return r.notReached(fmt.Sprintf("turn:%d", p.turn))
			}
		}
	}
	return nil
}

func (r *replay) notReached(place string) error {
	return &exitError{exitFailed, notReachedText(r.id, place)}
}

// events reads the journal from its beginning. A torn tail is said.
func (r *replay) events() iter.Seq2[journal.Event, error] {
	return r.read(func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		r.pass(reader, journal.Position{}, yield)
	})
}

func (r *replay) read(read func(*journal.Reader, func(journal.Event, error) bool)) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		reader, err := r.team.Journals().Reader(r.id, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer reader.Close()
		read(reader, yield)
	}
}

// pass yields the events behind a position.
func (r *replay) pass(reader *journal.Reader, p journal.Position, yield func(journal.Event, error) bool) {
	for e, err := range reader.ScanAfter(p) {
		if !yield(e, err) {
			return
		}
	}
	if torn := reader.Torn(); torn.Bytes > 0 && torn != r.torn {
		r.torn = torn
		r.app.notice(tornText(r.id, torn))
	}
	if r.headless != nil {
		yield(journal.Event{}, r.headless)
	}
}

// eventsOf reads what a span needs: when it begins at the number of an event,
// the first event, which says who the members are, and then from the beginning
// of the turn in which the span begins. What lies between is not read.
func (r *replay) eventsOf(part span) iter.Seq2[journal.Event, error] {
	if !part.bySeq() {
		return r.events()
	}
	return r.read(func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		p, err := beginOf(reader, part.from.seq)
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		if p.Seq > 0 {
			for e, err := range reader.All() {
				if !yield(e, err) || err != nil {
					return
				}
				break
			}
		}
		r.pass(reader, p, yield)
	})
}

// mostOfATurn bounds how far the beginning of a turn is looked for, in events.
const mostOfATurn = 1 << 14

// beginOf is the position in front of an event, or of the turn that goes on
// there.
func beginOf(reader *journal.Reader, seq uint64) (journal.Position, error) {
	p, err := reader.Find(seq)
	if err != nil {
		return p, err
	}
	for e, err := range reader.Before(p) {
		if err != nil || p.Seq-e.Seq > mostOfATurn {
			break
		}
		payload, err := projection.Decode(e)
		if err != nil {
			continue
		}
		switch event := payload.(type) {
		case projection.TurnStarted:
			return reader.Find(e.Seq)
		case projection.TurnEnded:
			return p, nil
		case projection.MessageAppended:
			if event.Message.Speaker.Type == projection.TypeHuman { // nobody's turn goes on behind it
				return p, nil
			}
		}
	}
	return p, nil
}

func (cmd *replayCommand) print(out *bufio.Writer, r *replay, part span) error {
	if cmd.Output == "snapshot" {
		return printSnapshot(out, r, part)
	}
	first, err := part.firstSeq(r.events())
	if err != nil || first == 0 {
		return err
	}
	p := pace{speed: cmd.Speed, flush: out.Flush}
	if cmd.Output == "events" {
		for e, err := range part.upTo(r.eventsOf(part)) {
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
	for entry, err := range projection.Replay(part.upTo(r.eventsOf(part))) {
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
		return writeJSON(out, entry)
	}
	_, err := fmt.Fprintln(out, messageText(entry))
	return err
}

// writeJSON prints one JSON object on one line.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printSnapshot folds twice: once for what stands around the messages, once
// for them.
func printSnapshot(out io.Writer, r *replay, part span) error {
	if part.from != nil {
		return usageError("A snapshot begins at the beginning: leave --from out.")
	}
	var state projection.State
	for e, err := range part.upTo(r.events()) {
		if err != nil {
			return err
		}
		state.Apply(e)
	}
	return projection.WriteSnapshot(out, &state, part.upTo(r.events()))
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
