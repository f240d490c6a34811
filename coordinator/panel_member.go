package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// PanelMembers returns the members of a team whose turns can run at the same time, with the engines of the program.
func PanelMembers(t *team.Team) (members []team.Member) {
	c := &Coordinator{o: Options{Engines: agent.Engines()}}
	for _, m := range t.Members {
		if m.Type == team.AI && c.isIsolated(m) {
			members = append(members, m)
		}
	}
	return members
}
