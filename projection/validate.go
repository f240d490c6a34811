package projection

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Validate checks an event against the schema of journal events and returns the
// error of package schemas.
func Validate(e journal.Event) error {
	if fits(e) {
		return nil
	}
	return schemas.Check(schemas.JournalEvent, e.Line())
}

// fits reports whether an event certainly matches the schema, without the schema,
// which takes a hundred times as long. It knows the frequent payloads as Record
// writes them: their layout fixes which fields there are, and their types.
func fits(e journal.Event) bool {
	if e.Seq == 0 {
		return false
	}
	switch e.Type {
	case MessageAppended{}.eventType():
		var p MessageAppended
		if !layout.Decode(e.Data, &p) {
			return false
		}
		at, err := time.Parse(timestampLayout, p.Message.Timestamp)
		return err == nil && FormatTime(at) == p.Message.Timestamp &&
			slices.Contains([]string{TypeAI, TypeHuman, TypeSystem}, p.Message.Speaker.Type)
	case TurnStarted{}.eventType():
		var p TurnStarted
		return layout.Decode(e.Data, &p) && p.TurnID != "" && p.MemberID != ""
	case TurnText{}.eventType():
		var p TurnText
		return layout.Decode(e.Data, &p) && p.TurnID != ""
	case TurnEnded{}.eventType():
		p, ok := turnEndedOf(e)
		return ok && p.TurnID != "" && p.MemberID != "" &&
			slices.Contains([]FinishReason{Done, Failed, Cancelled, TimedOut, Interrupted}, p.FinishReason) &&
			(p.PromptSHA256 == "" || len(p.PromptSHA256) == 64 && strings.Trim(p.PromptSHA256, "0123456789abcdef") == "") &&
			(p.Usage == nil || p.Usage.Cost == nil || p.Usage.Cost.Valid())
	case ToolStarted{}.eventType():
		var p ToolStarted
		// Numbers that are out of range match no schema.
		return layout.Decode(e.Data, &p) && p.TurnID != "" &&
			(p.Input == nil || json.Unmarshal(p.Input, new(any)) == nil)
	case ToolCompleted{}.eventType():
		var p toolCompleted
		return layout.Decode(e.Data, &p) && p.TurnID != ""
	}
	return false
}
