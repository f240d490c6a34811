package teams

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// WithModels returns the team with other models. Each of models is a model for all agents or, as MEMBER=MODEL, for
// one. A member whose engine has no models is unchanged, and a notice says so.
func WithModels(a *app.App, t *team.Team, models []string) (*team.Team, error) {
	if len(models) == 0 {
		return t, nil
	}
	other := *t
	other.Members = slices.Clone(t.Members)
	without := map[string]bool{} // by the id of the member: the notice was printed
	for _, of := range models {
		name, model, ofOne := strings.Cut(of, "=")
		if !ofOne {
			name, model = "", of
		}
		member, ok := t.Match(name)
		switch {
		case model == "":
			return nil, app.UsageError("The name of a model is missing: %s", tty.SafeLine(of))
		case ofOne && (!ok || member.Type != team.AI):
			return nil, app.Exit(app.ExitUsage, noAgentOfNameText(name, t))
		}
		for i, m := range other.Members {
			switch {
			case m.Type != team.AI || ofOne && m.ID != member.ID:
			case m.EngineInfo().Models:
				other.Members[i].Model = model
			case !without[m.ID]:
				a.Notice(withoutModelText(m))
				without[m.ID] = true
			}
		}
	}
	return &other, nil
}

func noAgentOfNameText(name string, t *team.Team) app.Message {
	var agents []string
	for _, m := range t.Members {
		if m.Type == team.AI {
			agents = append(agents, tty.SafeLine(m.Name))
		}
	}
	return app.Text("The team has no agent '%s'. Its agents are: %s.\n"+
		"For the model of all agents, leave out the name and the =.",
		tty.SafeLine(name), strings.Join(agents, ", "))
}

// withoutModelText is for a member whose engine has no choice of model.
func withoutModelText(m team.Member) string {
	return fmt.Sprintf("The engine '%s' of %s has no models: its replies do not change.",
		tty.SafeLine(m.EngineName()), tty.SafeLine(m.Name))
}
