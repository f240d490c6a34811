package projection

import (
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// OpenTurn is a turn without an end: it is running, or the program crashed in it.
type OpenTurn struct {
	TurnStarted
	StartedAt time.Time  `json:"startedAt"`
	Copied    bool       `json:"copied,omitempty"`    // it started in the session's parent
	Text      string     `json:"text,omitempty"`      // the start of the recorded reply; "" after its message
	TextBytes int64      `json:"textBytes,omitempty"` // length of the recorded reply
	Message   uint64     `json:"message,omitempty"`   // Seq of the turn's message; 0: none
	Tools     []OpenTool `json:"tools,omitempty"`     // the newest ones
	// Seen is State.LastMessage, and Sum State.History, when its panel began: its prompt has no later message. 0 and ""
	// in no panel.
	Seen uint64 `json:"seen,omitempty"`
	Sum  string `json:"sum,omitempty"`
	Waits
}

// OpenTool is a tool call without a result.
type OpenTool struct {
	ToolID string `json:"toolId"`
	Name   string `json:"name"`
}

// UnfinishedTurn is a turn that ended without a reply.
type UnfinishedTurn struct {
	MemberID         string `json:"memberId"`
	TriggerMessageID string `json:"triggerMessageId"`
	Panel            string `json:"panel,omitempty"` // the id of its panel; "": none
	Seen             uint64 `json:"seen,omitempty"`  // as in OpenTurn
	Sum              string `json:"sum,omitempty"`
}

// unfinished returns the turn as one without a reply.
func (t *OpenTurn) unfinished() UnfinishedTurn {
	u := UnfinishedTurn{MemberID: t.MemberID, TriggerMessageID: t.TriggerMessageID}
	if t.Panel != nil {
		u.Panel, u.Seen, u.Sum = t.Panel.ID, t.Seen, t.Sum
	}
	return u
}

// WithoutReply returns the last turns without a reply, those that have not ended included.
func (s *State) WithoutReply() []UnfinishedTurn {
	all := slices.Clone(s.Unfinished)
	for _, t := range s.OpenTurns {
		if t.Message == 0 {
			all = append(all, t.unfinished())
		}
	}
	return all
}

func (s *State) turn(id string) *OpenTurn {
	for i := range s.OpenTurns {
		if s.OpenTurns[i].TurnID == id {
			return &s.OpenTurns[i]
		}
	}
	return nil
}

func (t *OpenTurn) addText(text string) {
	if t.TextBytes == int64(len(t.Text)) {
		t.Text += runecut.Prefix(text, maxTurnText-len(t.Text))
	}
	t.TextBytes += int64(len(text))
}

// removeTurn removes the turns with an id.
func (s *State) removeTurn(id string) {
	s.OpenTurns = slices.DeleteFunc(s.OpenTurns, func(t OpenTurn) bool { return t.TurnID == id })
}

func (s *State) startTurn(e journal.Event, p TurnStarted) {
	t := OpenTurn{TurnStarted: p, StartedAt: e.Time, Copied: s.Copied}
	if p.Panel != nil { // its turns begin in one batch
		t.Seen, t.Sum = s.panelStart(p.Panel.ID)
	}
	first := len(s.OpenTurns) == 0
	over := func(t UnfinishedTurn) bool { return first || t.MemberID == p.MemberID }
	s.Unfinished = slices.DeleteFunc(s.Unfinished, over)
	s.OpenTurns = newest(append(s.OpenTurns, t), maxOpenTurns)
}

// panelStart returns LastMessage and History of when a panel began: now, unless turns of it are rerun.
func (s *State) panelStart(id string) (seen uint64, sum string) {
	for _, t := range s.WithoutReply() {
		if t.Panel == id {
			return t.Seen, t.Sum
		}
	}
	return s.LastMessage, s.History
}

func (s *State) endTurn(e journal.Event, p TurnEnded) {
	if t := s.turn(p.TurnID); t != nil && p.FinishReason != Done {
		s.Unfinished = newest(append(s.Unfinished, t.unfinished()), maxOpenTurns)
	}
	s.spend(e, p)
	s.endAttached(p)
	s.removeTurn(p.TurnID)
	if len(s.OpenTurns) == 0 {
		s.OpenTurns = nil
	}
	s.Stats.Turns++
	if p.FinishReason != Interrupted && p.FinishReason != Cancelled {
		s.Stats.Rounds++
	}
	if p.Usage != nil {
		s.Stats.Usage.Add(*p.Usage)
	}
	known := s.Instructions[p.MemberID] != ""
	if isSHA256(p.Instructions) && (known || len(s.Instructions) < maxInstructed) {
		if s.Instructions == nil {
			s.Instructions = map[string]string{}
		}
		s.Instructions[p.MemberID] = p.Instructions
	}
}
