package chat

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// permissionRows returns how many rows of a screen a text takes.
func permissionRows(text string, columns int) (n int) {
	for line := range strings.SplitSeq(text, "\n") {
		n += 1 + max(displaywidth.String(line)-1, 0)/columns
	}
	return n
}

// permissionLines returns the text of a request as titledLines does, with what an edit adds and removes as in the tool
// calls of the transcript.
func permissionLines(member string, p agent.Permission, s view.Style) []string {
	r := host.NewRequest(member, p)
	shown := titledLines(strings.Join(r.Lines, "\n"), s)
	add := func(lines ...ansi.Line) {
		for _, line := range lines {
			shown = append(shown, s.Profile.Encode(line))
		}
	}
	if r.Named {
		for _, h := range r.Hunks {
			add(ansi.Line{{Text: "  " + h.Path}})
			add(view.DiffLines([]view.Hunk{h}, s)...)
		}
	} else {
		add(view.DiffLines(r.Hunks, s)...)
	}
	if r.Omitted != "" {
		add(ansi.Line{{Text: r.Omitted}})
	}
	return shown
}

// titledLines returns a text after a blank line, with its first line as the title.
func titledLines(text string, s view.Style) []string {
	lines := strings.Split(text, "\n")
	title := ansi.Span{Text: lines[0], Style: ansi.Style{Bold: true, Color: ansi.Yellow}}
	shown := []string{""}
	for _, line := range ansi.Wrap(ansi.Line{title}, s.Width-1) {
		shown = append(shown, s.Profile.Encode(line))
	}
	for _, line := range lines[1:] {
		shown = append(shown, s.Profile.Encode(ansi.Line{{Text: line}}))
	}
	return shown
}

// permissionQuestion returns the answers to a request for permission. cancels reports whether Escape cancels the turn.
func permissionQuestion(p agent.Permission, cancels bool) console.Question {
	q := console.Question{Again: textAnswerAgain, Choices: []console.KeyChoice{
		{Key: 'y', Text: "[Y] Allow"}, {Key: 's', Text: "[S] Allow for this session"},
		{Key: 'a', Text: "[A] Always allow (writes " + p.Always + ")"}, {Key: 'n', Text: "[N] Refuse"},
		{Key: 'r', Text: "[R] Refuse with a reason", Asks: "Reason"},
		{Key: tty.KeyEscape, Text: "[Esc] Cancel the turn"},
	}}
	q.Choices = slices.DeleteFunc(q.Choices, func(c console.KeyChoice) bool {
		return c.Key == 'a' && p.Always == "" || c.Key == 's' && p.Omitted > 0 || c.Key == tty.KeyEscape && !cancels
	})
	return q
}

const textAnswerAgain = "Type y to allow it, or n to refuse it."

// plainChoicesText lists the answers that a line can be on a plain terminal, as many in a row as fit; columns is 0 for
// no limit.
func plainChoicesText(p agent.Permission, columns int) string {
	var text string
	used := 0
	for i, c := range permissionQuestion(p, false).Choices {
		if c.Asks != "" {
			c.Text = "[N REASON] Refuse with a reason"
		}
		n := displaywidth.String(c.Text)
		switch {
		case i > 0 && columns > 0 && used+2+n >= columns:
			text, used = text+"\n"+c.Text, n
		case i > 0:
			text, used = text+"  "+c.Text, used+2+n
		default:
			text, used = c.Text, n
		}
	}
	return text
}

// plainAnswer returns what a line on a plain terminal means. ok reports whether it is one of the answers, of which only
// a refusal has further words: "a plan" allows nothing.
func plainAnswer(p agent.Permission, line string) (answer coordinator.Answer, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	key := strings.ToLower(word)
	switch key {
	case "yes":
		key = "y"
	case "no":
		key = "n"
	}
	ok = slices.ContainsFunc(permissionQuestion(p, false).Choices, func(c console.KeyChoice) bool {
		return string(c.Key) == key && c.Asks == "" && (rest == "" || key == "n")
	})
	if !ok {
		return coordinator.Answer{Decision: coordinator.Refused}, false
	}
	return answerOf(key + rest), true
}

// answerOf returns what a key means, and the reason that follows it.
func answerOf(typed string) coordinator.Answer {
	if typed == "" {
		return coordinator.Answer{Decision: coordinator.Refused}
	}
	switch typed[0] {
	case 'y':
		return coordinator.Answer{Decision: coordinator.Allowed}
	case 's':
		return coordinator.Answer{Decision: coordinator.AllowedForSession}
	case 'a':
		return coordinator.Answer{Decision: coordinator.AllowedAlways}
	}
	return coordinator.Answer{Decision: coordinator.Refused, Reason: strings.TrimSpace(typed[1:])}
}

// answeredText records an answer below its question.
func answeredText(a coordinator.Decision) string { return "  " + host.AnsweredText(a) }
