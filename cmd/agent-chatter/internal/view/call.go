package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A call is a tool call. It is final when it has a result, or when its turn ended.
type call struct {
	started   projection.ToolStarted
	completed *projection.ToolCompleted // nil: it has no result
	from      time.Time
	took      time.Duration
	ended     bool
}

func (t *Transcript) startCall(e journal.Event, p projection.ToolStarted) {
	if t.turn == nil || t.turn.id != p.TurnID {
		return
	}
	t.begin()
	t.endText(t.turn.member.DisplayName)
	t.add(aCall, t.text.last == someText || t.text.last == aPlan, call{started: p, from: e.Time})
}

func (t *Transcript) completeCall(e journal.Event, p projection.ToolCompleted) {
	for i, b := range t.queue {
		if c, ok := b.content.(call); ok && !c.ended && c.started.ToolID == p.ToolID {
			c.completed, c.took, c.ended = &p, e.Time.Sub(c.from), true
			t.queue[i].content = c
			return
		}
	}
	if t.turn == nil || t.turn.id != p.TurnID {
		return
	}
	for i, c := range t.turn.released {
		if c.started.ToolID == p.ToolID {
			c.completed, c.took, c.ended = &p, e.Time.Sub(c.from), true
			t.turn.released = slices.Delete(t.turn.released, i, i+1)
			t.endText(t.turn.member.DisplayName)
			t.add(aCall, t.text.last != aCall, c)
			return
		}
	}
}

const (
	callMark    = "● "
	resultLines = 3
	resultMark  = "  "
)

func (c call) lines(s Style) []ansi.Line {
	mark, state, stateStyle := ansi.Style{Color: ansi.Yellow}, "", ansi.Style{Dim: true}
	switch {
	case c.completed != nil && c.completed.Error != "":
		mark.Color, stateStyle = ansi.Red, ansi.Style{Color: ansi.Red}
		state = "  failed " + durationText(c.took)
	case c.completed != nil:
		mark.Color = ansi.Green
		state = "  ok " + durationText(c.took)
	case c.ended:
		state = "  no result"
	}
	line := ansi.Line{{Text: callMark, Style: mark}, {Text: c.started.Name, Style: ansi.Style{Bold: true}}}
	if input := tty.SafeLine(mainInput(c.started.Input)); input != "" {
		line = append(line, ansi.Span{Text: "  " + input})
	}
	end := ansi.Span{Text: state, Style: stateStyle}
	lines := []ansi.Line{append(ansi.Cut(line, max(s.columns()-ansi.Line{end}.Columns(), minColumns)), end)}
	return append(lines, c.result(s)...)
}

// result is the beginning of the output or of the error.
func (c call) result(s Style) []ansi.Line {
	if c.completed == nil {
		return nil
	}
	output, style := c.completed.Output, ansi.Style{Dim: true}
	if c.completed.Error != "" {
		output, style = c.completed.Error, ansi.Style{Color: ansi.Red}
	}
	var lines []ansi.Line
	rest := strings.Trim(output, "\r\n")
	for n := 0; rest != ""; n++ {
		if n == resultLines && !s.Whole {
			more := "… " + app.Count(strings.Count(rest, "\n")+1, "more line")
			lines = append(lines, ansi.Line{{Text: resultMark + more, Style: ansi.Style{Dim: true}}})
			break
		}
		var text string
		text, rest, _ = strings.Cut(rest, "\n")
		line := ansi.Line{{Text: resultMark + strings.TrimRight(text, " \t\r"), Style: style}}
		if !s.Whole {
			line = ansi.Cut(line, s.columns())
		}
		lines = append(lines, line)
	}
	return lines
}

func (c call) plain(Style) []string {
	line := "  " + ToolText(c.started)
	if c.completed != nil && c.completed.Error != "" {
		first, _, _ := strings.Cut(c.completed.Error, "\n")
		line += " (failed: " + tty.SafeLine(first) + ")"
	}
	return []string{line}
}

// checklist is a todo list.
type checklist struct {
	entries []projection.PlanEntry
	more    int
}

func (t *Transcript) updatePlan(p projection.PlanUpdated) {
	if t.turn == nil || t.turn.id != p.TurnID || slices.Equal(t.turn.plan, p.Entries) || len(p.Entries) == 0 {
		return
	}
	t.turn.plan = p.Entries
	t.begin()
	t.endText(t.turn.member.DisplayName)
	t.add(aPlan, t.text.last != aName, checklist{p.Entries, p.More})
}

func (c checklist) lines(s Style) []ansi.Line {
	var lines []ansi.Line
	add := func(mark string, style ansi.Style, text string, textStyle ansi.Style) {
		for i, line := range ansi.Wrap(ansi.Line{{Text: tty.SafeLine(text), Style: textStyle}}, s.columns()-2) {
			if i > 0 {
				mark = "  "
			}
			lines = append(lines, append(ansi.Line{{Text: mark, Style: style}}, line...))
		}
	}
	for _, e := range c.entries {
		switch e.Status {
		case projection.Completed:
			add("✓ ", ansi.Style{Color: ansi.Green}, e.Content, ansi.Style{Dim: true})
		case projection.InProgress:
			add("▸ ", ansi.Style{Color: ansi.Yellow}, e.Content, ansi.Style{Bold: true})
		default:
			add("○ ", ansi.Style{Dim: true}, e.Content, ansi.Style{})
		}
	}
	if c.more > 0 {
		add("  ", ansi.Style{}, fmt.Sprintf("… and %d more", c.more), ansi.Style{Dim: true})
	}
	return lines
}

func (c checklist) plain(Style) []string {
	return strings.Split("  "+strings.ReplaceAll(PlanText(c.entries, c.more), "\n", "\n  "), "\n")
}
