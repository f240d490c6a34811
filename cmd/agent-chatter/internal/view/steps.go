package view

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Calls are tool calls by the seq of the events that start them. Entries have only their names.
type Calls map[uint64]Call

// Collect yields events and adds the tool calls that they start, without results.
func (c Calls) Collect(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Type == toolStarted {
				c.start(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (c Calls) start(e journal.Event) {
	if p, err := projection.Decode(e); err == nil {
		call := p.(projection.ToolStarted)
		call.Input = bytes.Clone(call.Input) // that of e is valid until the next event
		c[e.Seq] = Call{Started: call, At: e.Time, Ended: true}
	}
}

// maxCallSearch limits how many events CallsOf reads.
const maxCallSearch = 1 << 14

// CallsOf returns the tool calls of entries with their results, as far as the journal of their session can be read.
func CallsOf(dir *catalog.Dir, id string, entries []projection.Entry) Calls {
	calls := Calls{}
	steps, last := map[uint64]bool{}, uint64(0)
	for _, entry := range entries {
		for _, step := range entry.Steps {
			if step.Plan == nil {
				steps[step.Seq] = true
			}
		}
		last = max(last, entry.Seq)
	}
	if len(steps) == 0 {
		return calls
	}
	first := slices.Min(slices.Collect(maps.Keys(steps)))
	reader, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return calls
	}
	defer reader.Close()
	at, err := reader.Find(first)
	if err != nil {
		return calls
	}
	open := map[[2]string]uint64{} // by turn and tool
	for e, err := range reader.ScanAfter(at) {
		switch {
		case err != nil, e.Seq > last, e.Seq-first >= maxCallSearch:
			return calls
		case steps[e.Seq]:
			calls.start(e)
			started := calls[e.Seq].Started
			open[[2]string{started.TurnID, started.ToolID}] = e.Seq
		case e.Type == toolCompleted:
			calls.complete(e, open)
		}
	}
	return calls
}

// Complete yields events and adds the tool calls that they start, with those results that are among the events.
func (c Calls) Complete(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		open := map[[2]string]uint64{} // by turn and tool
		for e, err := range c.Collect(events) {
			if call, ok := c[e.Seq]; ok && err == nil {
				open[[2]string{call.Started.TurnID, call.Started.ToolID}] = e.Seq
			} else if err == nil && e.Type == toolCompleted {
				c.complete(e, open)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// complete adds the result of one of the open calls.
func (c Calls) complete(e journal.Event, open map[[2]string]uint64) {
	payload, err := projection.Decode(e)
	if err != nil {
		return
	}
	p := payload.(projection.ToolCompleted)
	key := [2]string{p.TurnID, p.ToolID}
	if seq, ok := open[key]; ok {
		call := c[seq]
		call.Completed, call.Took = &p, e.Time.Sub(call.At)
		c[seq] = call
		delete(open, key)
	}
}

const (
	toolStarted   = "tool.started"
	toolCompleted = "tool.completed"
)

// Entry adds a message or an unfinished reply without its events, as a State has it, and returns its blocks. Of tool
// calls that are not in calls, the name is shown.
func (t *Transcript) Entry(e projection.Entry, calls Calls) []Block {
	t.endTurn(nil)
	member := t.member(e.Speaker)
	t.addName(member)
	for _, p := range Segments(e) {
		switch {
		case p.Step == nil:
			name := member.DisplayName + app.UnfinishedText(e)
			t.add(someText, t.text.last != aName, message{name: name, text: p.Text})
		case p.Step.Plan != nil:
			t.add(aPlan, t.text.last != aName, Checklist{Entries: p.Step.Plan, More: p.Step.More})
		default:
			call := StepCall(*p.Step, calls[p.Step.Seq])
			t.add(aCall, t.text.last != aName, call)
		}
	}
	t.text = written{last: t.text.last}
	if e.Partial {
		t.add(anEnd, false, TurnEnd{Problem: strings.Trim(app.UnfinishedText(e), " ()")})
	}
	return t.take()
}

// A message is a text that is complete. Its Markdown is parsed when it is rendered.
type message struct {
	name, text string
	filled     bool // the line breaks of the source are blanks
}

func (m message) Lines(s Style) (lines []ansi.Line) {
	var w written
	for _, p := range append(w.stream.Write(m.text), w.stream.Close()...) {
		if m.filled {
			p.Inlines = fill(p.Inlines)
		}
		b := w.block(p)
		if b.content == nil {
			continue
		}
		shown := b.content.Lines(s)
		if b.blank && len(shown) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, shown...)
	}
	return lines
}

// fill replaces the line breaks of the source by blanks.
func fill(inlines []markdown.Inline) []markdown.Inline {
	filled := slices.Clone(inlines)
	for i, in := range filled {
		filled[i].Text, filled[i].Inlines = strings.ReplaceAll(in.Text, "\n", " "), fill(in.Inlines)
	}
	return filled
}

func (m message) Plain(Style) []string {
	return strings.Split(tty.SafeLine(m.name)+": "+tty.Safe(m.text), "\n")
}

// MessageText returns a message after the name of its speaker.
func MessageText(e projection.Entry) string {
	m := message{name: e.Speaker.DisplayName + app.UnfinishedText(e), text: e.Content}
	return strings.Join(m.Plain(Style{}), "\n")
}

// A Segment is a part of an entry: a piece of its text, or a step of its turn.
type Segment struct {
	Text string
	Step *projection.Step // nil: text
}

// Segments divides an entry at its steps. A piece of white space is left out, unless it is all there is.
func Segments(e projection.Entry) []Segment {
	var parts []Segment
	rest, at := e.Content, 0
	for i := range e.Steps {
		step := &e.Steps[i]
		before := runecut.Prefix(rest, int(step.At)-at)
		rest, at = rest[len(before):], at+len(before)
		if before = strings.Trim(before, blanks); before != "" {
			parts = append(parts, Segment{Text: before})
		}
		parts = append(parts, Segment{Step: step})
	}
	if len(parts) == 0 {
		return []Segment{{Text: rest}}
	}
	// A turn without any text ends with the name of its member.
	rest = strings.TrimLeft(rest, blanks)
	if rest != "" || !slices.ContainsFunc(parts, func(p Segment) bool { return p.Step == nil }) {
		parts = append(parts, Segment{Text: rest})
	}
	return parts
}
