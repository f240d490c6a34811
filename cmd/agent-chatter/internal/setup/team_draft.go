package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// draft is a team configuration before it is written.
type draft struct {
	name, description string
	agents            []string // names of known or registered agents, or demo
	registered        []team.Agent
	human             string
	maxRounds         int
	permissions       string    // of the agents whose engine has them
	template          *template // nil: each agent is a member
}

// teamFileJSON is a team configuration, version 1.2.
type teamFileJSON struct {
	SchemaVersion string       `json:"schemaVersion"`
	Team          teamPartJSON `json:"team"`
	MaxRounds     int          `json:"maxRounds"`
}

type teamPartJSON struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Members     []teamMemberJSON `json:"members"`
}

type teamMemberJSON struct {
	Name              string `json:"name"`
	DisplayName       string `json:"displayName"`
	Role              string `json:"role"`
	Type              string `json:"type"`
	AgentType         string `json:"agentType,omitempty"`
	Engine            string `json:"engine,omitempty"`
	Permissions       string `json:"permissions,omitempty"`
	BaseDir           string `json:"baseDir"`
	SystemInstruction string `json:"systemInstruction"`
}

// file returns the configuration as JSON.
func (d draft) file(baseDir string) ([]byte, error) {
	members, err := d.members()
	if err != nil {
		return nil, err
	}
	for i := range members {
		members[i].BaseDir = baseDir
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(teamFileJSON{"1.2", teamPartJSON{d.name, d.description, members}, d.maxRounds})
	return b.Bytes(), err
}

// members returns the agents and the human.
func (d draft) members() ([]teamMemberJSON, error) {
	var members []teamMemberJSON
	for _, name := range d.agents {
		members = append(members, d.membersOf(name)...)
	}
	var roles []role
	if d.template != nil && len(members) > 0 {
		agents := members
		members, roles = nil, d.template.rolesOf(len(agents))
		for i, r := range roles {
			m := agents[i%len(agents)]
			if again := i/len(agents) + 1; r.name == "" && again > 1 {
				m.Name, m.DisplayName = fmt.Sprintf("%s-%d", m.Name, again), fmt.Sprintf("%s %d", m.DisplayName, again)
			}
			members = append(members, m)
		}
	}
	for i, m := range members {
		m.Type = team.AI
		if slices.Contains(m.engine().Permissions, d.permissions) {
			m.Permissions = d.permissions
		}
		members[i] = m
	}
	human := d.human
	for d.isMember(human, members) {
		human += "-human"
	}
	for i, r := range roles {
		members[i] = r.apply(members[i], human)
	}
	for i, m := range members {
		if slices.ContainsFunc(members[:i], func(other teamMemberJSON) bool { return other.Name == m.Name }) {
			return nil, app.UsageError("%s", duplicateText(m.Name))
		}
	}
	return append(members,
		teamMemberJSON{Name: human, DisplayName: titled(human), Role: "human", Type: team.Human}), nil
}

// isMember reports whether a name is one of a member, or of a role.
func (d draft) isMember(name string, members []teamMemberJSON) bool {
	isRole := d.template != nil && slices.ContainsFunc(d.template.roles, func(r role) bool {
		return strings.EqualFold(r.name, name)
	})
	named := func(m teamMemberJSON) bool { return strings.EqualFold(m.Name, name) }
	return isRole || slices.ContainsFunc(members, named)
}

// membersOf returns the members for an agent: one, or the two of the demo.
func (d draft) membersOf(name string) []teamMemberJSON {
	if name == team.Demo().Name {
		var members []teamMemberJSON
		for _, m := range team.Demo().Members {
			if m.Type == team.AI {
				members = append(members,
					teamMemberJSON{Name: m.Name, DisplayName: m.DisplayName, Role: m.Role, AgentType: m.AgentType})
			}
		}
		return members
	}
	m := teamMemberJSON{Name: plainName(name, "agent"), DisplayName: titled(name), Role: "agent", AgentType: name}
	if known, ok := agent.KnownAgent(name); ok {
		m.DisplayName, m.AgentType = known.DisplayName, cmp.Or(known.AgentType, known.Name)
		if known.Engine != known.Name {
			m.Engine = known.Engine
		}
	} else if i := slices.IndexFunc(d.registered, func(r team.Agent) bool { return r.Name == name }); i >= 0 {
		m.Engine = agents.MemberOf(d.registered[i]).Engine
	}
	return []teamMemberJSON{m}
}

// engine returns the engine of a member.
func (m teamMemberJSON) engine() agent.Info {
	if i, ok := agent.Lookup(m.Engine); ok {
		return i
	}
	return agent.ForType(m.AgentType)
}

// restricted reports whether the permissions have an effect on an agent of the team.
func (d draft) restricted() bool {
	members, _ := d.members() // of which the agents are known
	return slices.ContainsFunc(members, func(m teamMemberJSON) bool { return m.Permissions != "" })
}

// plainName reduces a name to letters, digits, '-' and '_'. It returns fallback if
// no letter and no digit remains.
func plainName(name, fallback string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_':
			return r
		case r == ' ' || r == '.':
			return '-'
		}
		return -1
	}, name)
	if strings.Trim(plain, "-_") == "" {
		return fallback
	}
	return strings.Trim(plain, "-")
}

// titled returns a name with a capital.
func titled(name string) string {
	_, size := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:size]) + name[size:]
}

func duplicateText(name string) string {
	return fmt.Sprintf("Two members would have the name %s: name each agent once", tty.SafeLine(name))
}
