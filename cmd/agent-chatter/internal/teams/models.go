package teams

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// Models returns the models of a team's members, by id. Each of models is a model for all agents or, as MEMBER=MODEL,
// for one. A member whose engine has no models gets none, and a notice says so.
func Models(a *app.App, t *team.Team, models []string) (map[string]string, error) {
	chosen := map[string]string{}
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
		for _, m := range t.Members {
			err := m.CheckModel(model)
			switch {
			case m.Type != team.AI || ofOne && m.ID != member.ID:
			case m.EngineInfo().Models && err != nil:
				return nil, app.UsageError("The model %s of %s: %v", tty.SafeLine(model), tty.SafeLine(m.Name), err)
			case m.EngineInfo().Models:
				chosen[m.ID] = model
			case !without[m.ID]:
				a.Notice(withoutModelText(m))
				without[m.ID] = true
			}
		}
	}
	return chosen, nil
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
