package setup

import (
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// An UnknownAgentError is the error of NewMember for a name that is no agent's.
type UnknownAgentError struct {
	Name  string
	Known []string
}

func (e *UnknownAgentError) Error() string { return fmt.Sprintf("unknown agent: %.100q", e.Name) }

// NewMember returns an agent, by one of the names that AgentNames returns, as a member that works in the working
// directory. name is that of the member; "": that of the agent, reduced to what a name may have.
func NewMember(a *app.App, agentName, name string) (team.Member, error) {
	choices, err := findAgents(a)
	if err != nil {
		return team.Member{}, err
	}
	if known := choices.all(); !slices.Contains(known, agentName) {
		return team.Member{}, &UnknownAgentError{agentName, known}
	}
	of := teamMemberJSON{Name: agentName, DisplayName: titled(agentName), AgentType: agentName}
	if info := agent.ForType(agentName); !info.BuiltIn() {
		of = draft{registered: choices.registered}.membersOf(agentName)[0]
	}
	if name != "" && name != of.Name {
		of.Name, of.DisplayName = name, titled(name)
	}
	return team.NewMember(a.Home, a.Cwd, team.Member{
		Name: of.Name, DisplayName: of.DisplayName, Role: "agent", AgentType: of.AgentType, Engine: of.Engine,
	})
}

// MemberMaker returns coordinator.Options.NewMember.
func MemberMaker(a *app.App) func(agentName, name string) (team.Member, error) {
	return func(agentName, name string) (team.Member, error) { return NewMember(a, agentName, name) }
}

// FreeName returns the name of a new member, with a number if the team has another member of that name.
func FreeName(t *team.Team, name string) string {
	free := name
	for i := 2; ; i++ {
		if _, taken := t.Match(free); !taken {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}

// IsPlainName reports whether a member can have a name.
func IsPlainName(name string) bool { return name != "" && name == plainName(name, "") }

// AgentNames returns the names of the agents that are registered or installed, and of the others that are known.
func AgentNames(a *app.App) (found, others []string) {
	choices, err := findAgents(a)
	if err != nil {
		return nil, nil // adding one says why
	}
	return choices.found, choices.more
}
