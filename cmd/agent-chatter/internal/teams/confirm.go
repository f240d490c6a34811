package teams

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// confirmText asks whether a team may run.
func confirmText(a *app.App, t *team.Team, why string) string {
	return fmt.Sprintf("The team file %s would run:\n%s%s\nRun it?", tty.SafeLine(t.Source.Path), runsText(a, t), why)
}

// refusedText is for a team that cannot be confirmed without a terminal.
func refusedText(a *app.App, t *team.Team, why string) app.Message {
	return app.Text("The team file %s was not loaded. It would run:\n%s%s",
		tty.SafeLine(t.Source.Path), runsText(a, t), why).
		With(app.To("confirm it", "team", "trust", t.Source.Path))
}

// runsText lists what a team runs, without the user's secrets. It ends with a newline. Nothing that the
// team file has in plain text counts as a secret elsewhere in it: its author could hide a command so.
func runsText(a *app.App, t *team.Team) string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "    %s: %s\n", label, tty.SafeLine(value))
		}
	}
	secrets := a.Redactor(team.InheritedSecrets())
	for _, m := range t.Members {
		if m.Type != team.AI {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s\n", tty.SafeLine(m.Name), tty.SafeLine(runText(secrets, m)))
		line("directory", m.BaseDir)
		if m.Worktree != nil {
			line("works in a copy, with", strings.Join(m.Worktree.Copy, ", "))
			line("set-up command", secrets.Text(hint.Join(m.Worktree.Setup)))
		}
		line("permissions", m.Permissions)
		line("may read sessions of", RecallText(m.Recall))
		engine := m.EngineInfo()
		if engine.Protocol {
			line("model", m.Model)
		}
		for _, name := range slices.Sorted(maps.Keys(m.Env)) {
			if value := m.Env[name]; team.IsSecret(name, value) {
				line("environment", name)
			} else {
				line("environment", name+"="+secrets.Text(value))
			}
		}
		if engine.Endpoint {
			for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
				line("header", name+": "+secrets.Text(m.Headers[name]))
			}
		}
	}
	for _, path := range t.Elsewhere {
		fmt.Fprintf(&b, "  and send the content of %s\n", tty.SafeLine(path))
	}
	return b.String()
}

// RecallText describes which sessions a member may read; "" is none.
func RecallText(recall string) string {
	switch recall {
	case team.RecallTeam:
		return "this team"
	case team.RecallAll:
		return "all teams"
	}
	return ""
}

// runText returns the program with its arguments, or the API, that a member runs. The model and whether it
// reasons are left out: they may change without a confirmation.
func runText(secrets *redact.Redactor, m team.Member) string {
	engine := m.EngineInfo()
	m.Model, m.Thinking = "", nil
	switch {
	case engine.Name == "":
		return m.EngineName()
	case engine.Endpoint:
		return strings.TrimSpace(EndpointText(secrets, m.Endpoint) + " " + m.APIKeyEnv)
	}
	line := engine.CommandLine(m.ForEngine(""))
	if line == nil {
		return "nothing (built in)"
	}
	return secrets.Text(hint.Join(line))
}

// EndpointText returns an address without its password and secrets.
func EndpointText(secrets *redact.Redactor, endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil && u.User != nil {
		if _, set := u.User.Password(); set {
			u.User = url.UserPassword(u.User.Username(), "REDACTED")
			endpoint = u.String()
		}
	}
	return secrets.Text(endpoint)
}
