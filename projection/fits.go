package projection

import (
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Fits reports whether an event certainly fits the schema of journal events.
// False says nothing: then package schemas has to be asked, which takes a
// hundred times as long. True are the payloads that a session is full of, as
// this program writes them: their layout says which fields there are, and of
// which types.
func Fits(e journal.Event) bool {
	p, ok := readOrdinary(e.Type, layout.Glance(e.Data))
	if !ok || e.Seq == 0 {
		return false
	}
	switch p := p.(type) {
	case MessageAppended:
		return isFormatted(p.Message.Timestamp) && p.Message.Speaker.fits()
	case TurnStarted:
		return p.TurnID != "" && p.MemberID != ""
	case TurnText:
		return p.TurnID != ""
	case TurnEnded:
		return p.TurnID != "" && p.MemberID != "" && p.FinishReason.known()
	case ToolStarted:
		return p.TurnID != ""
	case ToolCompleted:
		return p.TurnID != ""
	}
	return false
}

// isFormatted reports whether a time looks as FormatTime would write it.
func isFormatted(timestamp string) bool {
	t, err := time.Parse(timestampLayout, timestamp)
	return err == nil && FormatTime(t) == timestamp
}

func (s Speaker) fits() bool {
	return s.Type == TypeAI || s.Type == TypeHuman || s.Type == TypeSystem
}

func (r FinishReason) known() bool {
	switch r {
	case Done, Failed, Cancelled, TimedOut, Interrupted:
		return true
	}
	return false
}
