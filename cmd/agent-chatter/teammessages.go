package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// The texts of teams.
const (
	textNothingWritten = "Nothing was written."
	textPlainName      = "A name has letters, digits, '-' and '_' only."
	textRounds         = "That is a number, 0 or more."
)

func unsetNoticeText(m team.Member, names []string) string {
	return fmt.Sprintf("%s goes without what is not set in your environment: %s", safeLine(m.Name), safeLine(strings.Join(names, ", ")))
}

func noPermissionsText(m team.Member) string {
	return fmt.Sprintf("%s may do whatever its program does: the engine command knows no permissions.", safeLine(m.Name))
}

func inPlainText(m team.Member, names []string) string {
	return fmt.Sprintf("%s has secrets that everybody can read who can read the file: %s\nTo take them from your environment, write \"$NAME\" in their place.", safeLine(m.Name), safeLine(strings.Join(names, ", ")))
}

func noBaseDirText(m team.Member) string {
	return fmt.Sprintf("%s works in a directory that is not there: %s", safeLine(m.Name), safeLine(m.BaseDir))
}

// listedText is a row of the list of teams.
func listedText(row listedTeam) string {
	where := safeLine(row.Path)
	if row.Path == "" {
		where = "built in"
	}
	members := safeLine(strings.Join(row.Members, ", "))
	if !row.Valid {
		members = "not valid: agent-chatter team validate " + hint.Quote(row.Path)
	}
	if row.Hidden {
		where += ", hidden by one of the same name"
	}
	return fmt.Sprintf("%s\t%s\t%s", safeLine(row.Name), members, where)
}

// shownTeamText is a team as it is understood.
func shownTeamText(t shownTeam) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, safeLine(value))
		}
	}
	line("team", t.Name)
	line("description", t.Description)
	line("file", t.Path)
	line("instructions", t.InstructionFile)
	line("turns of agents before you are asked again", allowedRoundsText(t.MaxRounds))
	line("time for one turn", (time.Duration(t.MaxAgentResponseTime) * time.Millisecond).String())
	for _, m := range t.Members {
		fmt.Fprintf(&b, "\n%s (%s), %s\n", safeLine(m.Name), safeLine(m.DisplayName), m.Type)
		line("  role", m.Role)
		line("  engine", m.Engine)
		line("  command", strings.Join(append([]string{m.Command}, m.Args...), " "))
		line("  model", m.Model)
		line("  permissions", m.Permissions)
		line("  endpoint", m.Endpoint)
		line("  key in", m.APIKeyEnv)
		line("  works in", m.BaseDir)
		line("  instructions", m.InstructionFile)
		line("  environment", strings.Join(m.Env, ", "))
		line("  not set", strings.Join(m.Unset, ", "))
	}
	return b.String()
}

func allowedRoundsText(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprint(n)
}

func writtenTeamText(name string) string {
	return fmt.Sprintf("To talk to the team, type: agent-chatter chat -t %s\nTo try its agents out, type: agent-chatter agents verify -t %[1]s", hint.Quote(name))
}

func fileThereText(path string) string {
	return fmt.Sprintf("There is a file already: %s\nName another: agent-chatter team init NAME", safeLine(path))
}

func agentChoiceText(c choices) string {
	text := "Agents that are there: " + safeLine(strings.Join(c.found, ", "))
	if len(c.more) > 0 {
		text += "; others: " + safeLine(strings.Join(c.more, ", "))
	}
	return text
}

func unknownAgentsText(unknown, known []string) string {
	return fmt.Sprintf("There is no agent %s. Those that there are: %s. To add another, type: agent-chatter agents register NAME PROGRAM", safeLine(strings.Join(unknown, ", ")), safeLine(strings.Join(known, ", ")))
}

func twiceText(name string) string {
	return fmt.Sprintf("Two members would be called %s: name each agent once", safeLine(name))
}
