package projection

import "github.com/agent-chatter/agent-chatter/projection/runecut"

// Step is what an agent did in a turn besides replying: a tool call, or the newest
// version of its plan.
type Step struct {
	Seq    uint64      `json:"seq"` // of the tool.started or plan.updated
	At     int64       `json:"at"`  // length in bytes of the part of the reply that precedes it
	ToolID string      `json:"toolId,omitempty"`
	Name   string      `json:"name,omitempty"`  // of the tool
	Ended  bool        `json:"ended,omitempty"` // the tool has a result
	Error  string      `json:"error,omitempty"` // the start of the tool's error
	Plan   []PlanEntry `json:"plan,omitempty"`  // nil: a tool call
	More   int         `json:"more,omitempty"`  // number of entries that Plan lacks

	Bypassed bool `json:"bypassed,omitempty"` // the tool was used without the permission that it needs
}

// The bounds of a plan in an event that the program records, and in a Step.
const (
	MaxPlanEntries = 100
	MaxPlanContent = 500 // bytes of PlanEntry.Content
)

// Short returns the list within the bounds of a Step.
func (p PlanUpdated) Short() PlanUpdated {
	entries := make([]PlanEntry, min(len(p.Entries), MaxPlanEntries))
	for i, e := range p.Entries[:len(entries)] {
		status := PlanStatus(clip(string(e.Status)))
		entries[i] = PlanEntry{runecut.Prefix(e.Content, MaxPlanContent), status, clip(e.Priority)}
	}
	return PlanUpdated{TurnID: p.TurnID, Entries: entries, More: p.More + len(p.Entries) - len(entries)}
}
