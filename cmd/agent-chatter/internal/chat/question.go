package chat

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// askQuestions asks the questions of a member, one after the other. ask asks one of them, until it is answered.
func askQuestions(
	p agent.Permission, ask func(i int) (answer []string, decision coordinator.Decision, reason string),
) coordinator.Answer {
	given := coordinator.Answer{Decision: coordinator.Allowed}
	for i := range p.Questions {
		answer, decision, reason := ask(i)
		if decision != coordinator.Allowed {
			return coordinator.Answer{Decision: decision, Reason: reason}
		}
		given.Answers = append(given.Answers, answer)
	}
	return given
}

// askQuestion asks the question i on the terminal, on which print prints.
func (d *display) askQuestion(
	ctx context.Context, q coordinator.Question, i int, print func(...string),
) (answer []string, decision coordinator.Decision, reason string) {
	question := q.Permission.Questions[i]
	text := host.QuestionText(q.Member.DisplayName, q.Permission, i)
	print(titledLines(text, view.OutputStyle(d.App))...)
	for {
		keys := questionKeys(question, d.Team.AllowEscCancel)
		keys.Lines, keys.Member = permissionRows(text, d.console.Columns()), q.Member.ID
		keys.Asks = asksText(q.Member.DisplayName)
		typed := d.console.Ask(keys, ctx.Done())
		if ctx.Err() != nil || typed == "" {
			return nil, coordinator.Refused, ""
		}
		key, rest := typed[0], strings.TrimSpace(typed[1:])
		switch {
		case key == 's':
		case key == 't':
			var ok bool
			if answer, ok = host.ParseAnswer(question, rest); !ok {
				print("  " + host.TypeText(question))
				continue
			}
		case '1' <= key && key <= '9':
			answer = []string{question.Options[key-'1'].Label}
		default:
			print(answeredText(coordinator.Refused))
			return nil, coordinator.Refused, rest
		}
		print(chosenText(question, answer))
		return answer, coordinator.Allowed, ""
	}
}

// maxKeys is how many options can be chosen by a key.
const maxKeys = 9

// questionKeys returns the keys that answer a question. cancels reports whether Escape cancels the turn.
func questionKeys(q agent.Question, cancels bool) console.Question {
	keys := console.Question{Again: textKeyAgain}
	if !q.Several && len(q.Options) <= maxKeys {
		for i := range q.Options {
			n := strconv.Itoa(i + 1)
			keys.Choices = append(keys.Choices, console.KeyChoice{Key: rune(n[0]), Text: "[" + n + "]"})
		}
	}
	if q.Free || len(keys.Choices) == 0 {
		keys.Choices = append(keys.Choices, console.KeyChoice{
			Key: 't', Text: "[T] Type the answer", Asks: "Answer", Secret: q.Secret,
		})
	}
	if q.Optional {
		keys.Choices = append(keys.Choices, console.KeyChoice{Key: 's', Text: "[S] Skip"})
	}
	keys.Choices = append(keys.Choices, console.KeyChoice{Key: 'n', Text: "[N] Refuse"},
		console.KeyChoice{Key: 'r', Text: "[R] Refuse with a reason", Asks: "Reason"})
	if cancels {
		keys.Choices = append(keys.Choices, console.KeyChoice{Key: tty.KeyEscape, Text: "[Esc] Cancel the turn"})
	}
	return keys
}

const (
	textKeyAgain  = "Type the key of an answer, or n to refuse."
	refuseCommand = "/refuse"
	skipCommand   = "/skip"
)

// plainQuestionText says what a line on a plain terminal can be.
func plainQuestionText(q agent.Question) string {
	text := host.TypeText(q)
	if q.Optional {
		text += " " + skipCommand + " leaves it without an answer."
	}
	return text + " " + refuseCommand + " [REASON] refuses."
}

// askPlainQuestion asks the question i on a plain terminal.
func (r *repl) askPlainQuestion(
	ctx context.Context, q coordinator.Question, i int,
) (answer []string, decision coordinator.Decision, reason string) {
	question := q.Permission.Questions[i]
	text := host.QuestionText(q.Member.DisplayName, q.Permission, i) + "\n" + plainQuestionText(question)
	for {
		line, err := r.input.(*plainLines).Answer(text+"\n", ctx.Done())
		if err != nil {
			return nil, coordinator.Refused, ""
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line.Text), " ")
		switch {
		case word == refuseCommand:
			return nil, coordinator.Refused, strings.TrimSpace(rest)
		case word == skipCommand && rest == "" && question.Optional:
			return nil, coordinator.Allowed, ""
		}
		if answer, ok := host.ParseAnswer(question, line.Text); ok {
			return answer, coordinator.Allowed, ""
		}
		text = plainQuestionText(question)
	}
}

// chosenText records an answer below its question.
func chosenText(q agent.Question, answer []string) string {
	shown := slices.Clone(answer)
	for i := range shown {
		shown[i] = tty.SafeLine(shown[i])
	}
	switch {
	case len(answer) == 0:
		return "  Skipped."
	case q.Secret:
		return "  Answered."
	}
	return "  Answered: " + strings.Join(shown, ", ")
}

// askPlain asks for permission on a plain terminal and waits for a line that is an answer.
func (r *repl) askPlain(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if len(q.Permission.Questions) > 0 {
		answer := askQuestions(q.Permission, func(i int) ([]string, coordinator.Decision, string) {
			return r.askPlainQuestion(ctx, q, i)
		})
		r.noteRefusal(q, answer.Reason, "")
		return answer
	}
	choices := plainChoicesText(q.Permission, tty.Columns(r.app.Stdout))
	question := host.PermissionText(q.Member.DisplayName, q.Permission) + "\n" + choices
	for {
		line, err := r.input.(*plainLines).Answer(question+"\n", ctx.Done())
		if err != nil {
			return coordinator.Answer{Decision: coordinator.Refused}
		}
		if answer, ok := plainAnswer(q.Permission, line.Text); ok {
			r.noteRefusal(q, answer.Reason, "")
			return answer
		}
		question = textAnswerAgain
	}
}

// noteRefusal keeps the reason of a refusal that the agent does not get: it is sent as a message after the turn.
func (r *repl) noteRefusal(q coordinator.Question, reason, device string) {
	if reason != "" && !q.Permission.TakesReason {
		text := host.RefusalText(q.Member.Name, q.Permission, reason)
		r.refusing.Lock()
		defer r.refusing.Unlock()
		r.refusals = append(r.refusals, tty.Line{Text: text, Message: true, Device: device})
	}
}
