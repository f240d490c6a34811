package coordinator

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// PanelSplit reports that the members of a panel have their turns one after another.
type PanelSplit struct {
	Members []team.Member
	Why     PanelSplitReason
}

// PanelSplitReason is why members cannot have their turns at the same time.
type PanelSplitReason int

// The reasons.
const (
	PanelTooLarge  PanelSplitReason = iota + 1 // more than MaxPanel members
	PanelOfPeople                              // a person is among them
	PanelRepeats                               // a member is among them twice
	PanelMayChange                             // some may change the same files
)

// MaxPanel is the most members who can have their turns at the same time.
const MaxPanel = 4

// panelsOf returns the place of each target of a message in its panel, from 1; 0: it is in none, or in one whose
// members cannot have their turns at the same time, which the listener is notified of.
func (c *Coordinator) panelsOf(m marker.Message) (places []int) {
	places = make([]int, len(m.Next))
	for from, to := 0, 0; from < len(m.Next); from = to {
		panel := m.Next[from].Panel
		for to = from + 1; to < len(m.Next) && m.Next[to].Panel == panel; to++ {
		}
		if panel == 0 {
			continue
		}
		switch members, why := c.panelOf(m.Next[from:to]); {
		case why == 0 && len(members) < to-from: // some are unknown, which another notice says
			continue
		case why != 0:
			c.notify(PanelSplit{members, why})
			continue
		}
		for i := range to - from {
			places[from+i] = i + 1
		}
	}
	return places
}

// panelOf returns the members of a panel, and why they cannot have their turns at the same time; 0: they can. Unknown
// names are left out.
func (c *Coordinator) panelOf(targets []marker.Target) (members []team.Member, why PanelSplitReason) {
	if len(targets) > MaxPanel {
		return nil, PanelTooLarge
	}
	for _, target := range targets {
		member, ok := c.team.Match(target.Identifier)
		isSame := func(other team.Member) bool { return other.ID == member.ID }
		switch {
		case !ok:
			continue
		case member.Type == team.Human:
			return members, PanelOfPeople
		case slices.ContainsFunc(members, isSame):
			return members, PanelRepeats
		}
		members = append(members, member)
	}
	if slices.ContainsFunc(members, func(m team.Member) bool { return !isIsolated(c.o.Engines, m) }) {
		return members, PanelMayChange
	}
	return members, 0
}

// isIsolated reports whether a member's turn cannot change the files that another one reads at the same time.
func isIsolated(engines map[string]agent.Engine, m team.Member) bool {
	if _, runs := engines[m.EngineName()].(agent.ProgramEngine); !runs || m.Worktree != nil {
		return true
	}
	info, _ := agent.Lookup(m.EngineName())
	return (m.Permissions == agent.Deny || m.Permissions == agent.ReadOnly) &&
		slices.Contains(info.Permissions, m.Permissions)
}

// PanelMembers returns the members of a team whose turns can run at the same time, with the engines of the program.
func PanelMembers(t *team.Team) (members []team.Member) {
	engines := agent.Engines()
	for _, m := range t.Members {
		if m.Type == team.AI && isIsolated(engines, m) {
			members = append(members, m)
		}
	}
	return members
}

// nextTurns returns how many turns begin next.
func (c *Coordinator) nextTurns() int {
	rest := queue{items: slices.Clone(c.queue.items), inARow: c.queue.inARow}
	next, _ := rest.takeAll(c.last)
	return len(next)
}
