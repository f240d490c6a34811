package permission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/clipperhouse/displaywidth"
)

// shownInput is how many bytes of a field of a tool's input Text shows.
const shownInput = 8000

// Text asks the user to allow an action of an agent. It shows what would change in files, and everything
// else that the input of the tool has.
func Text(member string, p agent.Permission) string {
	lines := []string{fmt.Sprintf("%s requests permission for: %s",
		tty.SafeLine(member), tty.SafeLine(cmp.Or(p.Title, p.Tool)))}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(p.Input, &fields) != nil && p.Input != nil {
		fields["input"] = p.Input
	}
	var changes []string
	for _, e := range p.Edits {
		replaced, _ := json.Marshal(map[string]string{"oldText": e.Old, "newText": e.New})
		changes = append(append(changes, "  "+tty.SafeLine(e.Path)), changeLines(replaced)...)
	}
	if len(p.Edits) == 0 && !hasPatch(fields) {
		changes = changeLines(p.Input)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fieldText(fields[name])
		isTitle := value == tty.Safe(p.Title) && !strings.Contains(value, "\n")
		if !isTitle && (len(changes) == 0 || !inChanges(p, name, fields[name])) {
			lines = append(lines, "  "+tty.SafeLine(name)+": "+strings.ReplaceAll(value, "\n", "\n    "))
		}
	}
	lines = append(lines, changes...)
	if p.Omitted > 0 {
		lines = append(lines, omittedText(p.Omitted))
	}
	return strings.Join(lines, "\n")
}

// omittedText ends a question that does not show everything.
func omittedText(bytes int) string {
	return fmt.Sprintf("  Not shown, since too long: %s of the request.", app.Count(bytes, "byte"))
}

// inChanges reports whether the changes that are shown have all of a field of a tool's input.
func inChanges(p agent.Permission, name string, value json.RawMessage) bool {
	switch {
	case !slices.Contains(changedFields, name):
		return false
	case len(p.Edits) == 0:
		return view.EditsCover(p.Input, name)
	}
	var text string
	return json.Unmarshal(value, &text) == nil && slices.ContainsFunc(p.Edits, func(e agent.FileEdit) bool {
		return text == e.Old || text == e.New
	})
}

// Rows returns how many rows of a screen a text takes.
func Rows(text string, columns int) (n int) {
	for line := range strings.SplitSeq(text, "\n") {
		n += 1 + max(displaywidth.String(line)-1, 0)/columns
	}
	return n
}

// Lines returns Text after a blank line. What an edit adds and removes is in colour.
func Lines(member string, p agent.Permission, s view.Style) []string {
	lines := strings.Split(Text(member, p), "\n")
	title := ansi.Span{Text: lines[0], Style: ansi.Style{Bold: true, Color: ansi.Yellow}}
	shown := []string{""}
	for _, line := range ansi.Wrap(ansi.Line{title}, s.Width-1) {
		shown = append(shown, s.Profile.Encode(line))
	}
	for _, line := range lines[1:] {
		span := ansi.Span{Text: line}
		switch {
		case strings.HasPrefix(line, "  + "):
			span.Color = ansi.Green
		case strings.HasPrefix(line, "  - "):
			span.Color = ansi.Red
		}
		shown = append(shown, s.Profile.Encode(ansi.Line{span}))
	}
	return shown
}

// changedFields are the fields of a tool's input that changes can come from.
var changedFields = []string{
	"old_string", "new_string", "oldString", "newString", "oldText", "newText", "old_str", "new_str", "edits",
	"content", "file_text",
}

// hasPatch reports whether the input of a tool has a patch, whose headers name the files: it is shown as it is.
func hasPatch(fields map[string]json.RawMessage) bool {
	return fields["patch"] != nil || fields["input"] != nil || fields["changes"] != nil
}

// changeLines shows the lines that the input of a tool changes; none if it is no edit.
func changeLines(input json.RawMessage) (lines []string) {
	for _, c := range view.ChangesIn(input) {
		lines = append(lines, fmt.Sprintf("  %c %s", c.Kind, tty.SafeLine(c.Text)))
	}
	return lines
}

// fieldText is a value of a tool's input: a text as it is, everything else as JSON.
func fieldText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	if len(text) > shownInput {
		begin, end := runecut.Prefix(text, shownInput/2), runecut.Suffix(text, shownInput/2)
		text = fmt.Sprintf("%s\n… %s not shown …\n%s", begin, app.Count(len(text)-len(begin)-len(end), "byte"), end)
	}
	return tty.Safe(text)
}

// Question returns the answers to a request for permission. cancels reports whether Escape cancels the turn.
func Question(p agent.Permission, cancels bool) console.Question {
	q := console.Question{Again: textAnswerAgain, Choices: []console.KeyChoice{
		{Key: 'y', Text: "[Y] Allow"}, {Key: 's', Text: "[S] Allow for this session"},
		{Key: 'a', Text: "[A] Always allow"}, {Key: 'n', Text: "[N] Refuse"},
		{Key: 'r', Text: "[R] Refuse with a reason", Reason: true}, {Key: tty.KeyEscape, Text: "[Esc] Cancel the turn"},
	}}
	q.Choices = slices.DeleteFunc(q.Choices, func(c console.KeyChoice) bool {
		return c.Key == 'a' && !p.Always || c.Key == 's' && p.Omitted > 0 || c.Key == tty.KeyEscape && !cancels
	})
	if !cancels {
		q.Again = TextPlainAgain
	}
	return q
}

const (
	textAnswerAgain = "Press Y to allow it, or N to refuse it."
	TextPlainAgain  = "Type y to allow it, or n to refuse it."
)

// PlainChoicesText lists the answers that a line can be on a plain terminal, as many in a row as fit; columns is 0 for
// no limit.
func PlainChoicesText(p agent.Permission, columns int) string {
	var text string
	used := 0
	for i, c := range Question(p, false).Choices {
		if c.Reason {
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

// PlainAnswer returns what a line on a plain terminal means. ok reports whether it is one of the answers, of which only
// a refusal has further words: "a plan" allows nothing.
func PlainAnswer(p agent.Permission, line string) (answer coordinator.Answer, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	key := strings.ToLower(word)
	switch key {
	case "yes":
		key = "y"
	case "no":
		key = "n"
	}
	ok = slices.ContainsFunc(Question(p, false).Choices, func(c console.KeyChoice) bool {
		return string(c.Key) == key && !c.Reason && (rest == "" || key == "n")
	})
	if !ok {
		return coordinator.Refused, "", false
	}
	answer, reason = AnswerOf(key + rest)
	return answer, reason, true
}

// AnswerOf returns what a key means, and the reason that follows it.
func AnswerOf(typed string) (answer coordinator.Answer, reason string) {
	if typed == "" {
		return coordinator.Refused, ""
	}
	switch typed[0] {
	case 'y':
		return coordinator.Allowed, ""
	case 's':
		return coordinator.AllowedForSession, ""
	case 'a':
		return coordinator.AllowedAlways, ""
	}
	return coordinator.Refused, strings.TrimSpace(typed[1:])
}

// RefusalText is the message that tells an agent why its request was refused.
func RefusalText(member, reason string) string { return fmt.Sprintf("[NEXT: %s] %s", member, reason) }

// AnsweredText records an answer below its question.
func AnsweredText(a coordinator.Answer) string {
	switch a {
	case coordinator.Allowed:
		return "  Allowed."
	case coordinator.AllowedForSession:
		return "  Allowed for this session."
	case coordinator.AllowedAlways:
		return "  Always allowed."
	}
	return "  Refused."
}
