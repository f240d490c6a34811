package team

import (
	"errors"
	"path/filepath"
)

// NewMember returns an agent that works in the absolute directory dir, as if a team file there had it: the name, the
// display name, the role, the agent type and the engine of m. The registry in the directory home has its command.
func NewMember(home, dir string, m Member) (Member, error) {
	r := &fileReader{dir: dir, registry: registry{dir: filepath.Join(home, "agents")}}
	member := r.member("", memberJSON{
		Name: m.Name, DisplayName: m.DisplayName, Type: AI, Role: m.Role, AgentType: &m.AgentType, Engine: m.Engine,
	}, nil)
	switch {
	case r.registry.needed && r.registry.err != nil:
		return Member{}, r.registry.err
	case len(r.problems) > 0:
		return Member{}, errors.New(r.problems[0].Message)
	}
	return member, nil
}
