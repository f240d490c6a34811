package chat

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// facts returns what the status row says besides what is done now: the facts that the configuration names, in its
// order, or all of them. What is unknown is left out.
func (d *display) facts(s *coordinator.Session, at team.Member) (facts []string) {
	names := d.repl.statusFacts
	if names == nil {
		names = home.StatusFacts
	}
	for _, name := range names {
		if text := d.fact(name, s, at); text != "" {
			facts = append(facts, text)
		}
	}
	return facts
}

// fact returns a fact about the session, nil before the first message, or about the member at work or of the last turn.
func (d *display) fact(name home.StatusFact, s *coordinator.Session, at team.Member) string {
	switch name {
	case home.StatusTeam:
		return tty.SafeLine(d.Team.DisplayName)
	case home.StatusDirectory:
		return d.directory
	}
	if s == nil {
		return ""
	}
	switch name {
	case home.StatusMessages:
		return app.Count(s.Stats.Messages, "message")
	case home.StatusModel:
		return tty.SafeLine(cmp.Or(at.Model, d.models[at.ID]))
	case home.StatusContext:
		return view.ContextText(s.Contexts[at.ID].Used, s.Contexts[at.ID].Window)
	case home.StatusTokens:
		if n := s.Stats.Usage.Tokens(); n > 0 {
			return view.ShortCount(n) + " tokens"
		}
	case home.StatusCost:
		return view.CostText(s.Stats.Usage)
	case home.StatusSaved:
		if d.repl.noSave || d.Unsaved {
			return "" // that is said in red
		}
		return d.repl.hub.Short()
	}
	return ""
}

// placeText names the working directory, and the branch of git if there is one.
func placeText(dir, branch string) string {
	name := filepath.Base(dir)
	if home, err := os.UserHomeDir(); err == nil && dir == home {
		name = "~"
	}
	if branch != "" {
		name += " (" + branch + ")"
	}
	return tty.SafeLine(name)
}

// lookAtDirectory reads the branch of the working directory again.
func (d *display) lookAtDirectory() { d.directory = placeText(d.App.Cwd, host.Branch(d.App.Cwd)) }
