package projection

import (
	"slices"
	"strings"
)

// MemberChanged records how the team of this session differs from its configuration from now on. Model and Permissions
// are values that the member has instead of the configured ones.
type MemberChanged struct {
	MemberID    string  `json:"memberId"`
	Model       *string `json:"model,omitempty"`       // nil: unchanged; "": the agent's default
	Permissions *string `json:"permissions,omitempty"` // nil: unchanged; "": unset
	// Added is the member that is in the team now; nil: none was added. Without Agent, the configuration has it.
	Added   *Member `json:"added,omitempty"`
	Agent   string  `json:"agent,omitempty"` // the agent, registered or known by this name, that runs as Added
	Removed bool    `json:"removed,omitempty"`
	// Host is a hash of the team and the other fields with a secret key of the home and the machine: a session from
	// elsewhere can neither run an agent, nor choose a provider, nor permit more than the configuration.
	Host string `json:"host,omitempty"`
}

func (MemberChanged) eventType() string { return "member.changed" }

// Text describes the change in one line.
func (p MemberChanged) Text() string {
	var parts []string
	if p.Model != nil {
		parts = append(parts, "model "+orDefault(*p.Model))
	}
	if p.Permissions != nil {
		parts = append(parts, "permissions "+orUnset(*p.Permissions))
	}
	if p.Removed {
		parts = append(parts, "removed")
	}
	if p.Added != nil && p.Agent == "" {
		parts = append(parts, "added again")
	} else if p.Added != nil {
		parts = append(parts, "added, "+p.Agent)
	}
	return shortText(lineBreak.Replace(head(p.MemberID + ": " + strings.Join(parts, ", "))))
}

func orDefault(model string) string {
	if model == "" {
		return "default"
	}
	return model
}

func orUnset(permissions string) string {
	if permissions == "" {
		return "unset"
	}
	return permissions
}

// A ChangedMember is how a member differs from the configuration of the team.
type ChangedMember struct {
	MemberID string `json:"memberId"`
	// Model, Permissions and Added have the newest events that agree on that, the newest last; nil: there are none.
	Model       []MemberChanged `json:"model,omitempty"`
	Permissions []MemberChanged `json:"permissions,omitempty"`
	Added       []MemberChanged `json:"added,omitempty"`
	Removed     bool            `json:"removed,omitempty"`
}

// Whole returns all differences as one change.
func (c ChangedMember) Whole() MemberChanged {
	p := MemberChanged{MemberID: c.MemberID, Removed: c.Removed}
	if len(c.Model) > 0 {
		p.Model = c.Model[0].Model
	}
	if len(c.Permissions) > 0 {
		p.Permissions = c.Permissions[0].Permissions
	}
	if len(c.Added) > 0 {
		p.Added, p.Agent = c.Added[0].Added, c.Added[0].Agent
	}
	return p
}

// Without returns the differences that a change has not.
func (c ChangedMember) Without(p MemberChanged) ChangedMember {
	if c.MemberID != p.MemberID {
		return c
	}
	if p.Model != nil {
		c.Model = nil
	}
	if p.Permissions != nil {
		c.Permissions = nil
	}
	if p.Added != nil {
		c.Added = nil
	}
	c.Removed = c.Removed && !p.Removed
	return c
}

// Removed reports whether a member was removed from the team of the session.
func (s *State) Removed(memberID string) bool {
	return slices.ContainsFunc(s.Changes, func(c ChangedMember) bool { return c.MemberID == memberID && c.Removed })
}

// TakesChange reports whether the state can have a change of a member.
func (s *State) TakesChange(memberID string) bool {
	return len(s.Changes) < maxInstructed ||
		slices.ContainsFunc(s.Changes, func(c ChangedMember) bool { return c.MemberID == memberID })
}

// maxAgreeing is how many events a list of ChangedMember has: more than one if a conversation moves between machines.
const maxAgreeing = 4

// changeMember folds a MemberChanged.
func (s *State) changeMember(p MemberChanged) {
	at := slices.IndexFunc(s.Changes, func(c ChangedMember) bool { return c.MemberID == p.MemberID })
	if !s.TakesChange(p.MemberID) || !p.short() {
		return
	}
	s.Changes = slices.Clone(s.Changes) // States may share it
	if at < 0 {
		at = len(s.Changes)
		s.Changes = append(s.Changes, ChangedMember{MemberID: p.MemberID})
	}
	c := &s.Changes[at]
	if p.Model != nil {
		c.Model = agreeing(c.Model, p, func(other MemberChanged) bool { return *other.Model == *p.Model })
	}
	if p.Permissions != nil {
		c.Permissions = agreeing(c.Permissions, p, func(other MemberChanged) bool {
			return *other.Permissions == *p.Permissions
		})
	}
	if p.Added != nil {
		c.Removed = false
		c.Added = agreeing(c.Added, p, func(other MemberChanged) bool {
			return *other.Added == *p.Added && other.Agent == p.Agent
		})
	}
	if p.Removed {
		*c = ChangedMember{MemberID: p.MemberID, Removed: true}
	}
	s.Team.change(p)
}

// agreeing adds an event to those before it that agree with it, which is all or none of them.
func agreeing(before []MemberChanged, p MemberChanged, agrees func(MemberChanged) bool) []MemberChanged {
	if len(before) > 0 && !agrees(before[0]) {
		return []MemberChanged{p}
	}
	others := slices.DeleteFunc(slices.Clone(before), func(other MemberChanged) bool { return other.Host == p.Host })
	return newest(append(others, p), maxAgreeing)
}

// change changes the members as an event says.
func (t *Team) change(p MemberChanged) {
	t.Members = slices.Clone(t.Members)
	is := func(m Member) bool { return m.ID == p.MemberID }
	if p.Added != nil && !slices.ContainsFunc(t.Members, is) && len(t.Members) < rowMembers {
		t.Members = slices.Insert(t.Members, afterAgents(t.Members), *p.Added)
	}
	if i := slices.IndexFunc(t.Members, is); i >= 0 && p.Model != nil {
		t.Members[i].Model = *p.Model
	}
	if p.Removed {
		t.Members = slices.DeleteFunc(t.Members, is)
	}
}

// afterAgents returns the index after the last agent, where an added one is in the team.
func afterAgents(members []Member) int {
	for i, m := range slices.Backward(members) {
		if m.Type == TypeAI {
			return i + 1
		}
	}
	return 0
}

// short reports whether the event is short enough for the bounds of State. This program writes no longer ones.
func (p MemberChanged) short() bool {
	texts := []string{p.MemberID, p.Agent, p.Host}
	for _, value := range []*string{p.Model, p.Permissions} {
		if value != nil {
			texts = append(texts, *value)
		}
	}
	if a := p.Added; a != nil {
		texts = append(texts, a.ID, a.Name, a.DisplayName, a.Type, a.AgentType, a.Model)
	}
	return areShort(texts...)
}

// Members returns those who can speak: the members of the team, and then others who have spoken.
func (s *State) Members() (all []Speaker) {
	for _, m := range s.Team.Members {
		all = append(all, Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	for _, known := range s.Speakers {
		if !slices.ContainsFunc(all, func(m Speaker) bool { return m.ID == known.ID }) {
			all = append(all, known)
		}
	}
	return all
}

// Speaker returns the member with an id, as the team or an earlier message names it. An
// unknown id is the name of an AI speaker.
func (s *State) Speaker(memberID string) Speaker {
	for _, m := range s.Team.Members {
		if m.ID == memberID {
			return m.Speaker()
		}
	}
	for _, known := range s.Speakers {
		if known.ID == memberID {
			return known
		}
	}
	return Speaker{ID: memberID, Name: memberID, DisplayName: memberID, Type: TypeAI}
}
