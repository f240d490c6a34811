package interchange

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// maxSubagents is how deep subagents may start others.
const maxSubagents = 8

// maxSaid is how much of what a subagent wrote is held, in bytes.
const maxSaid = 16 << 20

// A subagent is an agent that a tool call of a session started. What it did
// belongs to the turn of that call: its tool calls and tokens are added to the
// turn, and what it wrote is the output of the call.
type subagent struct {
	*transcript
	toolID string
	said   []string
	bytes  int           // of said
	claude *claudeReader // if its lines are in the file of the session
}

// newSubagent returns the collector of a subagent.
func (t *transcript) newSubagent(toolID string) *subagent {
	s := &subagent{toolID: toolID}
	s.transcript = &transcript{
		format: t.format, id: toolID, source: t.source, readSubagent: t.readSubagent, depth: t.depth + 1,
		subagents: t.subagents,
		sink:      func(at time.Time, p projection.Payload) { t.addSubagentEvent(s, at, p) },
	}
	return s
}

// addSubagentEvent adds an event of a subagent to the turn.
func (t *transcript) addSubagentEvent(s *subagent, at time.Time, p projection.Payload) {
	switch p := p.(type) {
	case projection.ToolStarted:
		p.TurnID = t.turn.id
		t.emit(at, p)
	case projection.ToolCompleted:
		p.TurnID = t.turn.id
		t.emit(at, p)
	case projection.MessageAppended:
		switch text := p.Message.Content; {
		case p.Message.Speaker.Type != projection.TypeAI:
		case s.bytes+len(text) > maxSaid:
			t.skipped++
		default:
			s.said, s.bytes = append(s.said, text), s.bytes+len(text)
		}
	case projection.TurnEnded:
		if p.Usage != nil {
			t.addUsage(*p.Usage)
		}
	}
}

// addSubagent adds what the agent did that a call of the turn started, and
// returns what it wrote; "" if the call started none, or it wrote nothing.
func (t *transcript) addSubagent(toolID, agentID string) string {
	if t.yield == nil && t.sink == nil || !t.isCall(toolID) || t.source.Subagent == nil || t.depth >= maxSubagents {
		return ""
	}
	src, ok := t.source.Subagent(toolID, agentID)
	if !ok || t.subagents[src.Path] || src.Path == t.source.Path { // of a call before this, or it started itself
		return ""
	}
	if t.subagents == nil {
		t.subagents = map[string]bool{t.source.Path: true}
	}
	t.subagents[src.Path] = true
	s := t.newSubagent(toolID)
	if t.readSubagent(s.transcript, src) != nil {
		t.skipped++ // the rest of its file
	}
	s.end()
	return strings.Join(s.said, "\n\n")
}

func (s *subagent) end() { s.endTurn() }

// isCall reports whether the turn has a call without a result.
func (t *transcript) isCall(toolID string) bool {
	toolID = label(toolID)
	return t.turn != nil && slices.ContainsFunc(t.turn.calls, func(c call) bool { return c.id == toolID })
}

// agentIDs are the ids that may be a part of a file name.
var agentIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`) })

// withSubagents returns a source that finds the transcripts of subagents, unless it does already. paths returns where
// that of a call may be.
func (s Source) withSubagents(paths func(toolID, agentID string) []string) Source {
	if s.Subagent != nil || s.File == nil {
		return s
	}
	var find func(toolID, agentID string) (Source, bool)
	find = func(toolID, agentID string) (Source, bool) {
		for _, path := range paths(toolID, agentID) {
			if src, ok := s.File(path); ok {
				src.Subagent = find
				return src, true
			}
		}
		return Source{}, false
	}
	s.Subagent = find
	return s
}
