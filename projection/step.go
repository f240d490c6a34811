package projection

import (
	"encoding/json"
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

// addStep adds a tool call or a plan to an open turn, or ends a tool call.
func (s *State) addStep(turnID string, seq uint64, p Payload) {
	if t := s.turn(turnID); t != nil {
		t.Steps = newest(addStep(t.Steps, seq, t.TextBytes, p), maxOpenTurns)
	}
}

// addStep adds a tool call or a plan, which replaces an older one, to the steps of a
// turn, or ends a tool call. at is the length of the reply so far. What is replaced or
// ended is one of the newest maxOpenTurns steps, so that the time is bounded.
func addStep(steps []Step, seq uint64, at int64, p Payload) []Step {
	oldest := max(0, len(steps)-maxOpenTurns)
	switch p := p.(type) {
	case ToolStarted:
		return append(steps, Step{Seq: seq, At: at, ToolID: p.ToolID, Name: p.Name})
	case ToolCompleted:
		for i := range steps[oldest:] {
			if step := &steps[oldest+i]; step.Plan == nil && step.ToolID == p.ToolID {
				step.Ended, step.Error = true, clip(p.Error)
			}
		}
	case PlanUpdated:
		if i := slices.IndexFunc(steps[oldest:], func(step Step) bool { return step.Plan != nil }); i >= 0 {
			steps = slices.Delete(steps, oldest+i, oldest+i+1)
		}
		if len(p.Entries) == 0 {
			return steps
		}
		plan := append([]PlanEntry{}, p.Entries[:min(len(p.Entries), MaxPlanEntries)]...)
		for i := range plan {
			plan[i] = PlanEntry{
				runecut.Prefix(plan[i].Content, MaxPlanContent),
				PlanStatus(clip(string(plan[i].Status))), clip(plan[i].Priority),
			}
		}
		return append(steps, Step{Seq: seq, At: at, Plan: plan, More: p.More + len(p.Entries) - len(plan)})
	}
	return steps
}

// decodeStep is Decode, except that the payload of a tool call may lack what a Step lacks,
// which is most of the bytes of a session.
func decodeStep(e journal.Event) (Payload, error) {
	switch e.Type {
	case ToolStarted{}.eventType():
		var p struct {
			TurnID string          `json:"turnId"`
			ToolID string          `json:"toolId"`
			Name   string          `json:"name"`
			Input  json.RawMessage `json:"input,omitempty"`
		}
		if len(upcasters[e.Type]) == 0 && layout.Decode(e.Data, &p) {
			return ToolStarted{TurnID: p.TurnID, ToolID: p.ToolID, Name: p.Name}, nil
		}
	case ToolCompleted{}.eventType():
		var p struct {
			TurnID      string         `json:"turnId"`
			ToolID      string         `json:"toolId"`
			Name        layout.Ignored `json:"name,omitempty"`
			Output      layout.Ignored `json:"output,omitempty"`
			OutputBytes int64          `json:"outputBytes,omitempty"`
			Error       string         `json:"error,omitempty"`
		}
		if len(upcasters[e.Type]) == 0 && layout.Decode(e.Data, &p) {
			return ToolCompleted{TurnID: p.TurnID, ToolID: p.ToolID, Error: p.Error}, nil
		}
	}
	return Decode(e)
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
