package view

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/part"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// ToolTexts yields events and collects the ToolText of tool calls, by the seq of their events.
func ToolTexts(
	events iter.Seq2[journal.Event, error], texts map[uint64]string,
) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Type == toolStarted {
				if p, err := projection.Decode(e); err == nil {
					texts[e.Seq] = part.ToolText(p.(projection.ToolStarted))
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

const toolStarted = "tool.started"

// EntryText returns an entry as text output prints it: each part of its text after the name of its
// speaker, and between them the steps of its turn. tools has the texts of tool calls; of others the
// name is shown.
func EntryText(e projection.Entry, tools map[uint64]string) string {
	var lines []string
	for _, p := range partsOf(e) {
		if p.step == nil {
			lines = append(lines, speakerName(e)+": "+tty.Safe(p.text))
		} else {
			lines = append(lines, stepLines(*p.step, tools))
		}
	}
	return strings.Join(lines, "\n")
}

// stepLines is a step of a turn, indented.
func stepLines(s projection.Step, tools map[uint64]string) string {
	text := part.PlanText(s.Plan, s.More)
	if s.Plan == nil {
		text = tools[s.Seq]
		if text == "" {
			text = tty.SafeLine(s.Name)
		}
		if s.Error != "" {
			first, _, _ := strings.Cut(s.Error, "\n")
			text += " (failed: " + tty.SafeLine(first) + ")"
		}
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
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

// plan prints a todo list that an agent has changed.
func (s *Screen) plan(p projection.PlanUpdated) {
	s.EndLine()
	if s.watched() && len(p.Entries) > 0 {
		step := projection.Step{Plan: p.Entries, More: p.More}
		fmt.Fprintln(s.App.Stdout, s.styled("\x1b[2m", stepLines(step, nil)))
	}
}

// ShowEntry prints an entry.
func (s *Screen) ShowEntry(e projection.Entry) {
	for _, p := range partsOf(e) {
		if p.step != nil {
			fmt.Fprintln(s.App.Stdout, s.styled("\x1b[2m", stepLines(*p.step, nil)))
			continue
		}
		s.name(speakerName(e))
		fmt.Fprintln(s.App.Stdout, s.Wrap.Pass(tty.Safe(p.text)))
	}
}
