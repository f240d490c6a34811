package view

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Call is a tool call as a block.
type Call struct{ conversation.Call }

const (
	callMark     = "● "
	resultMark   = "  "
	resultLines  = 3
	changedLines = 16
)

// WithoutPermission says that a tool was used although it was not allowed.
const WithoutPermission = "done without permission"

// todoTools are the tools that change a todo list, which a Checklist shows.
var todoTools = []string{"TodoWrite", "write_todos"}

// Todo reports whether the call changed a todo list, which a Checklist shows. A call that failed did not.
func (c Call) Todo() bool {
	state := c.State()
	return slices.Contains(todoTools, c.Started.Name) && state != conversation.Failed && state != conversation.Refused
}

// Lines returns nothing for a Todo.
func (c Call) Lines(s Style) []ansi.Line {
	if c.Todo() && !s.Whole {
		return nil
	}
	name := ansi.Line{{Text: callMark, Style: c.markStyle()}, {Text: c.Started.Name, Style: ansi.Style{Bold: true}}}
	input := MainInput(c.Started.Input)
	state := ansi.Line{c.state()}
	var lines []ansi.Line
	if s.Whole {
		lines = append(lines, append(name, state...))
		lines = append(lines, quote(input, ansi.Style{}, unlimited, s)...)
	} else {
		if input = tty.SafeLine(input); input != "" {
			name = append(name, ansi.Span{Text: "  " + input})
		}
		name = append(ansi.Cut(name, max(s.columns()-state.Columns(), minColumns)), state...)
		lines = append(lines, ansi.Cut(name, s.columns()))
	}
	hunks := HunksIn(c.Started.Input)
	changed := 0
	for _, h := range hunks {
		changed += len(h.Changes)
	}
	shown := changed
	if shown > changedLines+1 && !s.Whole {
		shown = changedLines
	}
	if lines = append(lines, diffLines(hunks, shown, s)...); shown < changed {
		lines = append(lines, moreLines(changed-shown))
	}
	if c.Answer != nil {
		lines = append(lines, quote(AnswersText(*c.Answer), ansi.Style{}, unlimited, s)...)
	}
	switch state := c.State(); {
	case state == conversation.Failed:
		lines = append(lines, quote(c.failure(s.Whole), ansi.Style{Color: ansi.Red}, resultLines, s)...)
	case (state == conversation.OK || state == conversation.Bypassed && c.Result != nil) &&
		(changed == 0 || s.Whole):
		lines = append(lines, quote(c.Result.Output, ansi.Style{Dim: true}, resultLines, s)...)
	}
	if !s.Whole {
		return lines
	}
	var wrapped []ansi.Line
	for _, line := range lines {
		wrapped = append(wrapped, ansi.Wrap(line, s.columns())...)
	}
	return wrapped
}

// failure is why the call failed. An error that is only the beginning of the output is replaced by it.
func (c Call) failure(whole bool) string {
	output, failure := strings.TrimSpace(c.Result.Output), c.Result.Error
	begin := strings.TrimSpace(strings.TrimSuffix(failure, "…"))
	switch {
	case output == "":
		return failure
	case strings.HasPrefix(output, begin):
		return c.Result.Output
	case whole:
		return c.Result.Output + "\n" + failure
	}
	return failure
}

var changeStyles = map[ChangeKind]ansi.Style{
	Added: {Color: ansi.Green}, Removed: {Color: ansi.Red}, Kept: {Dim: true},
}

// Text is what the call says: its name, input, output and error.
func (c Call) Text() string {
	text := c.Started.Name + "\n" + MainInput(c.Started.Input)
	if c.Result != nil {
		text += "\n" + c.Result.Output + "\n" + c.Result.Error
	}
	return text
}

func (c Call) markStyle() ansi.Style {
	switch c.State() {
	case conversation.Running:
		return ansi.Style{Color: ansi.Yellow}
	case conversation.Failed, conversation.Refused, conversation.Bypassed:
		return ansi.Style{Color: ansi.Red}
	case conversation.OK:
		return ansi.Style{Color: ansi.Green}
	}
	return ansi.Style{Dim: true}
}

// state says how the call ended, and how long it took unless that is unknown.
func (c Call) state() ansi.Span {
	state, took := c.State(), ""
	if !c.Time.IsZero() {
		took = " " + DurationText(c.Took)
	}
	switch state {
	case conversation.Running:
		return ansi.Span{}
	case conversation.Failed:
		return ansi.Span{Text: "  failed" + took, Style: ansi.Style{Color: ansi.Red}}
	case conversation.Refused:
		return ansi.Span{Text: "  refused", Style: ansi.Style{Color: ansi.Red}}
	case conversation.Bypassed:
		return ansi.Span{Text: "  " + WithoutPermission, Style: ansi.Style{Color: ansi.Red}}
	case conversation.OK:
		return ansi.Span{Text: "  ok" + took, Style: ansi.Style{Dim: true}}
	}
	return ansi.Span{Text: "  " + string(state), Style: ansi.Style{Dim: true}}
}

// quote returns the first lines of a text, indented.
func quote(text string, style ansi.Style, most int, s Style) []ansi.Line {
	var lines []ansi.Line
	rest := strings.Trim(text, "\r\n")
	for rest != "" {
		if len(lines) == most && !s.Whole && strings.Contains(rest, "\n") {
			return append(lines, moreLines(strings.Count(rest, "\n")+1))
		}
		var first string
		first, rest, _ = strings.Cut(rest, "\n")
		line := ansi.Line{{Text: resultMark + ansi.ExpandTabs(strings.TrimRight(first, " \t\r")), Style: style}}
		if !s.Whole {
			line = ansi.Cut(line, s.columns())
		}
		lines = append(lines, line)
	}
	return lines
}

func moreLines(n int) ansi.Line {
	return ansi.Line{{Text: resultMark + "… " + app.Count(n, "more line"), Style: ansi.Style{Dim: true}}}
}

func (c Call) Plain(Style) []string {
	line := "  " + ToolText(c.Started)
	switch c.State() {
	case conversation.Failed:
		first, _, _ := strings.Cut(c.Result.Error, "\n")
		line += " (failed: " + tty.SafeLine(first) + ")"
	case conversation.Refused:
		line += " (refused)"
	case conversation.Bypassed:
		line += " (" + WithoutPermission + ")"
	}
	lines := []string{line}
	if c.Answer != nil && c.Answer.Answers != nil {
		for answer := range strings.SplitSeq(AnswersText(*c.Answer), "\n") {
			lines = append(lines, "    "+answer)
		}
	}
	return lines
}
