package projection

import (
	"bytes"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

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
}

// The bounds of a plan in an event that the program records, and in a Step.
const (
	MaxPlanEntries = 100
	MaxPlanContent = 500 // bytes of PlanEntry.Content
)

// startTool adds a tool call at the end of the reply so far.
func (t *OpenTurn) startTool(seq uint64, p ToolStarted) {
	t.Steps = append(t.Steps, Step{Seq: seq, At: t.TextBytes, ToolID: p.ToolID, Name: p.Name})
}

// endTool ends a tool call, if it is one of the newest maxSteps steps. Otherwise the time
// for a result would grow with the turn.
func (t *OpenTurn) endTool(p ToolCompleted) {
	recent := newest(t.Steps, maxSteps)
	for i := range recent {
		if step := &recent[i]; step.Plan == nil && step.ToolID == p.ToolID {
			step.Ended, step.Error = true, clip(p.Error)
		}
	}
}

// setPlan adds a plan at the end of the reply so far, in place of the previous one. A plan
// without entries only removes it.
func (t *OpenTurn) setPlan(seq uint64, p PlanUpdated) {
	recent := newest(t.Steps, maxSteps)
	if i := slices.IndexFunc(recent, func(step Step) bool { return step.Plan != nil }); i >= 0 {
		i += len(t.Steps) - len(recent)
		t.Steps = slices.Delete(t.Steps, i, i+1)
	}
	if len(p.Entries) == 0 {
		return
	}
	p = p.Short()
	t.Steps = append(t.Steps, Step{Seq: seq, At: t.TextBytes, Plan: p.Entries, More: p.More})
}

// Short returns the list within the bounds of a Step.
func (p PlanUpdated) Short() PlanUpdated {
	entries := make([]PlanEntry, min(len(p.Entries), MaxPlanEntries))
	for i, e := range p.Entries[:len(entries)] {
		status := PlanStatus(clip(string(e.Status)))
		entries[i] = PlanEntry{runecut.Prefix(e.Content, MaxPlanContent), status, clip(e.Priority)}
	}
	return PlanUpdated{TurnID: p.TurnID, Entries: entries, More: p.More + len(p.Entries) - len(entries)}
}

// toolStartedOf decodes a tool.started without its input, which it does not read if the
// payload begins as Record writes it.
func toolStartedOf(e journal.Event) (p ToolStarted, ok bool) {
	c := layout.At(e.Data)
	c.Expect(`{"turnId":`)
	p.TurnID = c.String()
	c.Expect(`,"toolId":`)
	p.ToolID = c.String()
	c.Expect(`,"name":`)
	p.Name = c.String()
	if c.OK() {
		return p, true
	}
	p, err := payloadAs[ToolStarted](e, true)
	return p, err == nil
}

// toolCompletedOf decodes the ids and the error of a tool.completed. It does not read the
// output, which is half of the bytes of a session, if there is no error and the payload
// begins as Record writes it.
func toolCompletedOf(e journal.Event) (p ToolCompleted, ok bool) {
	c := layout.At(e.Data)
	c.Expect(`{"turnId":`)
	p.TurnID = c.String()
	c.Expect(`,"toolId":`)
	p.ToolID = c.String()
	// Record writes an error as the last field.
	rest := c.Rest()
	n := len(rest)
	if c.OK() && (n < 2 || rest[n-2] != '"' || !bytes.Contains(rest, []byte(`"error":`))) {
		return p, true
	}
	p, err := payloadAs[ToolCompleted](e, true)
	return p, err == nil
}

// within returns the steps of a turn with positions in content instead of the recorded
// text. The content may lack parts of the text, such as markers: the steps after the
// first such part are placed there.
func within(steps []Step, text, content string) []Step {
	if len(steps) == 0 {
		return nil
	}
	common := 0
	for common < min(len(text), len(content)) && text[common] == content[common] {
		common++
	}
	placed := slices.Clone(steps)
	for i := range placed {
		placed[i].At = min(placed[i].At, int64(common))
	}
	return placed
}
