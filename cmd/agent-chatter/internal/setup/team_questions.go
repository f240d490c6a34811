package setup

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// askUser asks the user about the team, also about the permissions of the agents if askPermissions is set. An empty
// answer keeps the default.
func askUser(a *app.App, d *draft, c choices, askPermissions bool) error {
	q := &questions{out: a.Stderr, next: tty.NewAnswers(a.Stdin).Next}
	a.Notice(agentChoiceText(c))
	d.description = q.ask("What is the team for?", d.description, nil)
	agents := q.ask("Which agents are in the team?", strings.Join(d.agents, ", "), func(answer string) string {
		names := splitNames(answer)
		if unknown := c.unknown(names); len(unknown) > 0 {
			return a.Render(unknownAgentsText(unknown, c.all()))
		}
		if _, err := (draft{agents: names}).members(); err != nil {
			return err.Error()
		}
		return ""
	})
	d.agents = splitNames(agents)
	if askPermissions && q.err == nil && d.restricted() {
		d.permissions = q.askPermissions()
	}
	d.human = q.ask("What is your name?", d.human, func(answer string) string {
		if answer != plainName(answer, "") {
			return textPlainName
		}
		return ""
	})
	rounds := q.ask(
		"How many turns may agents take between your messages? (0: no limit)",
		strconv.Itoa(d.maxRounds),
		func(answer string) string {
			if n, err := strconv.Atoi(answer); err != nil || n < 0 {
				return textRounds
			}
			return ""
		},
	)
	d.maxRounds, _ = strconv.Atoi(rounds)
	if q.err != nil {
		return app.Exit(app.ExitFailed, app.Message{Text: textNothingWritten})
	}
	return nil
}

// teamPermissions are the permissions that a new team can have, the default first, and what they mean.
var teamPermissions = []struct{ value, meaning string }{
	{agent.Ask, "they ask you before they change a file or run a command"},
	{agent.Edit, "they change files in the working directory, and ask you for the rest"},
	{agent.Allow, "they do what you can, unasked: change and delete files, run commands"},
	{agent.ReadOnly, "they read files, and can change nothing"},
	{agent.Deny, "what they would have to ask for is refused"},
}

// PermissionMeaning says what agents with permissions may do.
func PermissionMeaning(value string) string {
	for _, p := range teamPermissions {
		if p.value == value {
			return p.meaning
		}
	}
	return "without the agent's own checks" // agent.Bypass
}

// askPermissions asks which permissions the agents have.
func (q *questions) askPermissions() string {
	fmt.Fprintln(q.out, "What the agents may do:")
	for _, p := range teamPermissions {
		fmt.Fprintf(q.out, "  %-5s  %s\n", p.value, p.meaning)
	}
	return q.ask("Which permissions do the agents get?", agent.Ask, func(answer string) string {
		for _, p := range teamPermissions {
			if p.value == answer {
				return ""
			}
		}
		return textPermissions
	})
}

// splitNames splits a list of names at commas and spaces.
func splitNames(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// questions asks one question after another until the input ends.
type questions struct {
	out  io.Writer
	next func() (answer string, err error)
	err  error
}

// ask repeats a question until check has no complaint. An empty answer means the
// proposal.
func (q *questions) ask(question, proposal string, check func(answer string) (complaint string)) string {
	for q.err == nil {
		fmt.Fprintf(q.out, "%s [%s] ", question, tty.SafeLine(proposal))
		var answer string
		if answer, q.err = q.next(); q.err != nil {
			fmt.Fprintln(q.out)
			break
		}
		answer = cmp.Or(answer, proposal)
		complaint := ""
		if check != nil {
			complaint = check(answer)
		}
		if complaint == "" {
			return answer
		}
		fmt.Fprintln(q.out, complaint)
	}
	return proposal
}

// The texts of teams.
const (
	textNothingWritten = "Nothing was written."
	textPlainName      = "A name may contain only letters, digits, '-' and '_'."
	textRounds         = "Enter a number, 0 or more."
	textPermissions    = "Enter ask, edit, allow, read or deny."
)

func agentChoiceText(c choices) string {
	text := "Agents found: " + tty.SafeLine(strings.Join(c.found, ", "))
	if len(c.more) > 0 {
		text += "; others: " + tty.SafeLine(strings.Join(c.more, ", "))
	}
	return text
}
