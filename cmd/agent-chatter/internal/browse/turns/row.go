package turns

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A layout has the widths of the columns of a row, 0 for one that is left out. The first words have the rest.
type layout struct{ when, member, took, tools, tokens, cost int }

// layoutOf returns the layout of rows of so many columns.
func layoutOf(columns int) layout {
	switch {
	case columns < 40:
		return layout{member: 8}
	case columns < 60:
		return layout{when: 5, member: 8, took: 7}
	case columns < 100:
		return layout{when: 5, member: 10, took: 7, tools: 6, tokens: 6}
	}
	return layout{when: 11, member: 14, took: 8, tools: 7, tokens: 6, cost: 10}
}

// The columns before the first one: whether the row is selected, and how its turn ended.
const markColumns = 4

// header returns the names of the columns, and at the right of them a text.
func (l layout) header(text string, columns int) ansi.Line {
	line := l.cells(ansi.Line{{Text: strings.Repeat(" ", markColumns)}}, cells{
		when: dim("TIME"), member: ansi.Line{dimmed("MEMBER")}, took: dim("TOOK"), tools: dim("TOOLS"),
		tokens: dim("TOKENS"), cost: dim("COST"),
	})
	line = append(line, dimmed("FIRST WORDS"))
	if room := columns - line.Columns() - len(text); room > 0 {
		line = append(line, ansi.Span{Text: strings.Repeat(" ", room)}, dimmed(text))
	}
	return ansi.Cut(line, columns)
}

// cells are the cells of a row before the first words.
type cells struct{ when, member, took, tools, tokens, cost ansi.Line }

// cells adds the cells that the layout has to a line.
func (l layout) cells(line ansi.Line, c cells) ansi.Line {
	for _, of := range []struct {
		columns int
		cell    ansi.Line
		right   bool
	}{
		{l.when, c.when, false}, {l.member, c.member, false}, {l.took, c.took, true}, {l.tools, c.tools, true},
		{l.tokens, c.tokens, true}, {l.cost, c.cost, true},
	} {
		if of.columns == 0 {
			continue
		}
		cell := ansi.Cut(of.cell, of.columns)
		blanks := ansi.Span{Text: strings.Repeat(" ", max(of.columns-cell.Columns(), 0))}
		if of.right {
			line = append(append(line, blanks), cell...)
		} else {
			line = append(append(line, cell...), blanks)
		}
		line = append(line, ansi.Span{Text: "  "})
	}
	return line
}

// rowLine returns a row in so many columns. color is that of the member.
func rowLine(r projection.TimelineRow, color ansi.Color, selected bool, columns int) ansi.Line {
	l := layoutOf(columns)
	line := ansi.Line{{Text: "  "}}
	if selected {
		line = ansi.Line{{Text: "▸ ", Style: ansi.Style{Color: ansi.Cyan}}}
	}
	line = append(line, sign(r), ansi.Span{Text: " "})
	c := cells{
		when:   dim(when(r.Time, l.when)),
		member: ansi.Line{{Text: tty.SafeLine(r.Member.DisplayName), Style: ansi.Style{Bold: true, Color: color}}},
	}
	switch r.Kind {
	case projection.RowTurn:
		c.took, c.tools, c.tokens, c.cost = took(r), tools(r), tokens(r.Usage), cost(r.Usage)
	case projection.RowMessage:
	default: // a note has the columns after its time
		l = layout{when: l.when}
	}
	line = append(l.cells(line, c), words(r, selected)...)
	return ansi.Cut(line, columns)
}

// sign is how a turn ended, in one column: blank for one that is done.
func sign(r projection.TimelineRow) ansi.Span {
	for _, e := range endings {
		if r.Kind == projection.RowTurn && e.reason == r.FinishReason {
			return ansi.Span{Text: e.sign, Style: ansi.Style{Color: e.color}}
		}
	}
	if r.Kind == projection.RowTurn {
		return ansi.Span{Text: "?"}
	}
	if r.Kind == projection.RowMessage {
		return ansi.Span{Text: " "}
	}
	return dimmed("·")
}

// endings are the ways in which turns end, and their signs.
var endings = []struct {
	reason projection.FinishReason // "": it has no end
	sign   string
	color  ansi.Color
	name   string
}{
	{projection.Done, " ", ansi.Default, "done"},
	{"", "●", ansi.Green, "no end"},
	{projection.Failed, "✗", ansi.Red, "error"},
	{projection.TimedOut, "◷", ansi.Red, "timeout"},
	{projection.Cancelled, "○", ansi.Yellow, "cancelled"},
	{projection.Interrupted, "!", ansi.Yellow, "interrupted"},
}

// when is a time in so many columns.
func when(t time.Time, columns int) string {
	if columns < len("01-02 15:04") {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("01-02 15:04")
}

func took(r projection.TimelineRow) ansi.Line {
	if r.DurationMS <= 0 {
		return nil
	}
	return ansi.Line{{Text: view.DurationText(time.Duration(r.DurationMS) * time.Millisecond)}}
}

// tools is the number of tool calls, and of those that failed.
func tools(r projection.TimelineRow) (line ansi.Line) {
	if r.Tools > 0 || r.FailedTools > 0 {
		line = ansi.Line{{Text: view.CountText(int64(r.Tools))}}
	}
	if r.FailedTools > 0 {
		failed := " ✗" + view.CountText(int64(r.FailedTools))
		line = append(line, ansi.Span{Text: failed, Style: ansi.Style{Color: ansi.Red}})
	}
	return line
}

// tokens is the number of tokens in and out.
func tokens(u projection.Usage) ansi.Line {
	var sum projection.Usage
	for _, n := range []int64{u.Input, u.CachedRead, u.CachedWrite, u.Output, u.Thought} {
		sum.Add(projection.Usage{Input: n})
	}
	if sum.Input == 0 {
		return nil
	}
	return ansi.Line{{Text: view.CountText(sum.Input)}}
}

func cost(u projection.Usage) ansi.Line {
	if u.Cost == nil || !u.Cost.Valid() {
		return nil
	}
	return ansi.Line{{Text: view.Amount(u.Cost.Amount) + " " + u.Cost.Currency}}
}

// words are the first words of a row, after why its turn is unfinished.
func words(r projection.TimelineRow, selected bool) ansi.Line {
	said := ansi.Span{Text: tty.SafeLine(r.Text), Style: ansi.Style{Bold: selected}}
	switch r.Kind {
	case projection.RowMessage:
		return ansi.Line{said}
	case projection.RowTurn:
	default:
		return ansi.Line{{Text: noteText(r), Style: ansi.Style{Italic: true, Bold: selected}}}
	}
	if r.FinishReason == projection.Done {
		return ansi.Line{said}
	}
	reason := ansi.Span{Text: tty.SafeLine(string(r.FinishReason)), Style: ansi.Style{Color: sign(r).Color}}
	for _, e := range endings {
		if e.reason == r.FinishReason {
			reason.Text = e.name
		}
	}
	if r.Text == "" {
		return ansi.Line{reason}
	}
	return ansi.Line{reason, {Text: ": "}, said}
}

// noteText is a change of the session.
func noteText(r projection.TimelineRow) string {
	text := tty.SafeLine(r.Text)
	switch r.Kind {
	case projection.RowTask:
		if text == "" {
			return "The team has no task any more."
		}
		return "Team task: " + text
	case projection.RowTitle:
		return "Session renamed to: " + text
	case projection.RowMember, projection.RowBudget, projection.RowFiles:
		return text
	case projection.RowFork:
		return fmt.Sprintf("Copy of session %s up to event %d.", tty.SafeLine(r.Parent.SessionID), r.Parent.Seq)
	case projection.RowImport:
		from := tty.SafeLine(r.Import.Source) + ", " + tty.SafeLine(r.Import.Path)
		if r.Import.Source == "merge" {
			from = "session " + tty.SafeLine(r.Import.Path)
		}
		return fmt.Sprintf("%s from %s.", app.Count(r.Import.Taken, "message"), from)
	}
	return tty.SafeLine(string(r.Kind))
}

func dim(text string) ansi.Line { return ansi.Line{dimmed(text)} }

func dimmed(text string) ansi.Span {
	return ansi.Span{Text: text, Style: ansi.Style{Color: ansi.BrightBlack}}
}

// figures are the duration, the tokens and the cost of a turn, as the end of a turn in a conversation shows them.
func figures(r projection.TimelineRow) []string {
	if r.Kind != projection.RowTurn {
		return nil
	}
	end, _ := view.EndOf(&projection.TurnEnded{DurationMS: r.DurationMS, Usage: &r.Usage}, true)
	return end.Figures
}
