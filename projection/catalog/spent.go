package catalog

import "github.com/agent-chatter/agent-chatter/projection"

// Spent is what the turns of a session used. A State that is folded from a row needs the other fields to continue.
type Spent struct {
	Usage  []projection.Tally `json:"usage,omitempty"` // State.Tallies
	Copied bool               `json:"copied,omitempty"`
	Open   []OpenTurn         `json:"openTurns,omitempty"`
}

// OpenTurn is the part of a projection.OpenTurn that decides to whom its usage belongs.
type OpenTurn struct {
	TurnID   string `json:"turnId"`
	MemberID string `json:"memberId"`
	Agent    string `json:"agent"`
	Model    string `json:"model,omitempty"`
	Copied   bool   `json:"copied,omitempty"`
}

// The bounds of Spent.Open. The usage of other open turns, which only crashes leave, has no model.
const (
	maxOpenTurns = 8
	maxOpenName  = 200 // bytes
)

// spentOf returns the part of a row of a state.
func spentOf(state *projection.State) Spent {
	s := Spent{Usage: state.Tallies, Copied: state.Copied}
	for _, t := range state.OpenTurns[max(0, len(state.OpenTurns)-maxOpenTurns):] {
		if max(len(t.TurnID), len(t.MemberID), len(t.AgentType), len(t.Model)) <= maxOpenName {
			s.Open = append(s.Open, OpenTurn{t.TurnID, t.MemberID, t.AgentType, t.Model, t.Copied})
		}
	}
	return s
}

// restore sets what spentOf has read.
func (s Spent) restore(state *projection.State) {
	state.Tallies, state.Copied = s.Usage, s.Copied
	for _, t := range s.Open {
		state.OpenTurns = append(state.OpenTurns, projection.OpenTurn{
			Copied: t.Copied, TurnStarted: projection.TurnStarted{
				TurnID: t.TurnID, MemberID: t.MemberID, AgentType: t.Agent, Model: t.Model,
			},
		})
	}
}
