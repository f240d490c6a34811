package view

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/part"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Calls are the starts of tool calls by the seq of their events. Entries have only their names.
type Calls map[uint64]projection.ToolStarted

// Collect yields events and adds the tool calls among them.
func (c Calls) Collect(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Type == toolStarted {
				if p, err := projection.Decode(e); err == nil {
					call := p.(projection.ToolStarted)
					call.Input = bytes.Clone(call.Input) // that of e is valid until the next event
					c[e.Seq] = call
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

const toolStarted = "tool.started"

// Entry adds a message or an unfinished reply without its events, as a State has it, and returns its blocks. Of tool
// calls that are not in calls, the name is shown.
func (t *Transcript) Entry(e projection.Entry, calls Calls) []Block {
	t.endTurn(nil)
	member := t.member(e.Speaker)
	t.addName(member)
	for _, p := range partsOf(e) {
		switch {
		case p.step == nil:
			name := member.DisplayName + app.UnfinishedText(e)
			t.add(someText, t.text.last != aName, message{name: name, text: p.text})
		case p.step.Plan != nil:
			t.add(aPlan, t.text.last != aName, part.Checklist{Entries: p.step.Plan, More: p.step.More})
		default:
			call := part.StepCall(*p.step, calls[p.step.Seq])
			t.add(aCall, t.text.last == someText || t.text.last == aPlan, call)
		}
	}
	t.text = written{last: t.text.last}
	if e.Partial {
		t.add(anEnd, false, part.TurnEnd{Problem: strings.Trim(app.UnfinishedText(e), " ()")})
	}
	return t.take()
}

// A message is a text that is complete. Its Markdown is parsed when it is rendered.
type message struct{ name, text string }

func (m message) Lines(s Style) (lines []ansi.Line) {
	var w written
	for _, p := range append(w.stream.Write(m.text), w.stream.Close()...) {
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

func (m message) Plain(Style) []string {
	return strings.Split(tty.SafeLine(m.name)+": "+tty.Safe(m.text), "\n")
}

// MessageText returns a message after the name of its speaker.
func MessageText(e projection.Entry) string {
	return strings.Join(message{e.Speaker.DisplayName + app.UnfinishedText(e), e.Content}.Plain(Style{}), "\n")
}

// A segment is a part of an entry: a piece of its text, or a step of its turn.
type segment struct {
	text string
	step *projection.Step // nil: text
}

// partsOf divides an entry at its steps. A piece of white space is left out, unless it is all there is.
func partsOf(e projection.Entry) []segment {
	var parts []segment
	rest, at := e.Content, 0
	for i := range e.Steps {
		step := &e.Steps[i]
		before := runecut.Prefix(rest, int(step.At)-at)
		rest, at = rest[len(before):], at+len(before)
		if before = strings.Trim(before, blanks); before != "" {
			parts = append(parts, segment{text: before})
		}
		parts = append(parts, segment{step: step})
	}
	if len(parts) == 0 {
		return []segment{{text: rest}}
	}
	// A turn without any text ends with the name of its member.
	rest = strings.TrimLeft(rest, blanks)
	if rest != "" || !slices.ContainsFunc(parts, func(p segment) bool { return p.step == nil }) {
		parts = append(parts, segment{text: rest})
	}
	return parts
}
