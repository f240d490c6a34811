package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// QuestionText asks the user the question i of a member, with numbered options.
func QuestionText(member string, p agent.Permission, i int) string {
	q, head := p.Questions[i], tty.SafeLine(member)+" asks"
	if len(p.Questions) > 1 {
		head = fmt.Sprintf("%s (%d of %d)", head, i+1, len(p.Questions))
	}
	if q.Header != "" {
		head += ": " + tty.SafeLine(q.Header)
	}
	lines := []string{head + ": " + tty.SafeLine(q.Text)}
	if i == 0 && p.Title != q.Text && p.Title != q.Header {
		lines = append(lines, "  "+tty.SafeLine(p.Title))
	}
	for n, o := range q.Options {
		line := fmt.Sprintf("  %d. %s", n+1, tty.SafeLine(o.Label))
		if o.Description != "" {
			line += ": " + tty.SafeLine(o.Description)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// ParseAnswer returns the answer that a typed line is: the numbers of options with commas between them, or a text.
// ok is false if the line is none: TypeText says what is.
func ParseAnswer(q agent.Question, line string) (answer []string, ok bool) {
	line = strings.TrimSpace(line)
	answer, chosen := optionsIn(q, line)
	if !chosen {
		answer = []string{line}
	}
	mistyped := !chosen && len(q.Options) > 0 && isNumbers(line) // no option has that number
	return answer, q.Check(answer) == nil && !mistyped
}

// optionsIn returns the labels of the options whose numbers are in a line. ok is false for another text.
func optionsIn(q agent.Question, line string) (labels []string, ok bool) {
	for text := range strings.SplitSeq(line, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > len(q.Options) {
			return nil, false
		}
		labels = append(labels, q.Options[n-1].Label)
	}
	return labels, len(labels) > 0
}

func isNumbers(line string) bool { return strings.Trim(line, "0123456789, ") == "" }

// TypeText says what can be typed as the answer to a question.
func TypeText(q agent.Question) string {
	var ways []string
	switch n := len(q.Options); {
	case n > 0 && q.Several:
		ways = append(ways, fmt.Sprintf("numbers from 1 to %d with commas between them", n))
	case n > 0:
		ways = append(ways, fmt.Sprintf("a number from 1 to %d", n))
	}
	switch {
	case q.Number:
		ways = append(ways, "a number")
	case q.Free:
		ways = append(ways, "a text of at most "+app.Count(agent.MaxAnswer, "byte"))
	}
	return "Type " + strings.Join(ways, ", or ") + "."
}
