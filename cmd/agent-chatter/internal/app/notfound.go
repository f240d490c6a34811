package app

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func notFoundText(e *catalog.NotFoundError) Message {
	if e.Name == catalog.LatestName {
		return Text("There is no readable session.").With(To("start one", "chat"))
	}
	m := Text("No session is named '%s'.", tty.SafeLine(e.Name)).With(To("list the sessions", "sessions"))
	if session, number, ok := cutEvent(e.Name); ok {
		m.Text += fmt.Sprintf(" For event %s of a session, name only the session here: %s",
			number, tty.SafeLine(session))
		m.Help = []Help{
			To("read it from there", "replay", e.Name),
			To("continue there in a copy", "chat", "--resume", e.Name, "--fork"),
		}
	}
	return m
}

func notFoundForTeamText(name, team string) string {
	return fmt.Sprintf("Session '%s' not found for team '%s'.\n"+
		"Use --resume without ID to restore the latest session, or start a new session.",
		tty.SafeLine(name), tty.SafeLine(team))
}

// nothingForTeamText is for a team without sessions.
func nothingForTeamText(team string) string {
	return fmt.Sprintf("No previous sessions found for team '%s'", tty.SafeLine(team))
}

// nothingToResumeText is for a home without sessions.
func nothingToResumeText() Message {
	return Text("No session to resume").With(To("start one", "chat"))
}

// ambiguousText lists the sessions of an ambiguous name.
func ambiguousText(e *catalog.AmbiguousError) Message {
	const shown = 10
	var b strings.Builder
	fmt.Fprintf(&b, "'%s' names %d sessions:\n", tty.SafeLine(e.Name), len(e.Candidates))
	for _, s := range e.Candidates[:min(shown, len(e.Candidates))] {
		fmt.Fprintf(&b, "  %s  %s  %s\n", s.ID, tty.SafeLine(s.TeamID), tty.SafeLine(s.Title))
	}
	if more := len(e.Candidates) - shown; more > 0 {
		fmt.Fprintf(&b, "  … and %d more\n", more)
	}
	return Message{Text: b.String() + "Type more of the id."}
}

// notInTrashText lists what the trash contains instead.
func notInTrashText(name string, ids []string) Message {
	const shown = 10
	m := Text("No session in the trash is named '%s'.", tty.SafeLine(name))
	if len(ids) == 0 {
		m.Text += " It is empty."
	}
	for _, id := range ids[:min(shown, len(ids))] {
		m = m.With(To("restore this one", "sessions", "restore", id))
	}
	if more := len(ids) - shown; more > 0 {
		m.Text += fmt.Sprintf(" It has these and %d more:", more)
	}
	return m
}

func noTeamText(e *team.NotFoundError) Message {
	if e.Directory != "" {
		return Text("%s is a directory. Name a team file in it.", tty.SafeLine(e.Directory)).
			With(To("list the teams", "team", "list"))
	}
	looked := make([]string, len(e.Looked))
	for i, path := range e.Looked {
		looked[i] = tty.SafeLine(path)
	}
	return Text("There is no team '%s'. Searched:\n  %s\nThe built-in team is called demo.",
		tty.SafeLine(e.Name), strings.Join(looked, "\n  ")).With(To("list the teams", "team", "list"))
}
