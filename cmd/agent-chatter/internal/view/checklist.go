package view

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Checklist is a todo list.
type checklist struct {
	Entries []projection.PlanEntry
	More    int // number of entries that Entries lacks
}

func (c checklist) Lines(s Style) []ansi.Line {
	var lines []ansi.Line
	add := func(mark string, style ansi.Style, text string, textStyle ansi.Style) {
		for i, line := range ansi.Wrap(ansi.Line{{Text: tty.SafeLine(text), Style: textStyle}}, s.columns()-2) {
			if i > 0 {
				mark = "  "
			}
			lines = append(lines, append(ansi.Line{{Text: mark, Style: style}}, line...))
		}
	}
	for _, e := range c.Entries {
		switch e.Status {
		case projection.Completed:
			add("✓ ", ansi.Style{Color: ansi.Green}, e.Content, ansi.Style{Dim: true})
		case projection.InProgress:
			add("▸ ", ansi.Style{Color: ansi.Yellow}, e.Content, ansi.Style{Bold: true})
		default:
			add("○ ", ansi.Style{Dim: true}, e.Content, ansi.Style{})
		}
	}
	if c.More > 0 {
		add("  ", ansi.Style{}, fmt.Sprintf("… and %d more", c.More), ansi.Style{Dim: true})
	}
	return lines
}

func (c checklist) Plain(Style) []string {
	return strings.Split("  "+strings.ReplaceAll(PlanText(c.Entries, c.More), "\n", "\n  "), "\n")
}

// PlanText is a todo list, a line for each entry.
func PlanText(entries []projection.PlanEntry, more int) string {
	var lines []string
	for _, e := range entries {
		box := "[ ] "
		switch e.Status {
		case projection.Completed:
			box = "[x] "
		case projection.InProgress:
			box = "[>] "
		}
		lines = append(lines, box+tty.SafeLine(e.Content))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}
