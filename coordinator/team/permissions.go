package team

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// AsksWhenUnset reports whether the member's agent asks for permission because the member has no permissions, wherever
// a person can answer.
func (m Member) AsksWhenUnset() bool {
	info := m.EngineInfo()
	return m.Type == AI && m.Permissions == "" && !info.Protocol && slices.Contains(info.Permissions, agent.Ask)
}

// WithoutPermissions returns the names of the members for which AsksWhenUnset is true.
func (t *Team) WithoutPermissions() (names []string) {
	for _, m := range t.Members {
		if m.AsksWhenUnset() {
			names = append(names, m.Name)
		}
	}
	return names
}
