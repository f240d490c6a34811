package host

import (
	"log/slog"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection"
)

// EventLog is a coordinator.Listener that logs the starts, resumes, saves and failures of a conversation
// without its texts.
type EventLog struct {
	coordinator.Listener
	Log *slog.Logger

	session string // its id; "" before the first event
	round   int    // agent turns since the last human message of this run
	wrote   bool   // events were appended since the last save
}

// Event implements coordinator.Listener.
func (l *EventLog) Event(e coordinator.Event) {
	l.wrote = true
	switch p := e.Payload.(type) {
	case projection.SessionCreated:
		l.session, l.round = p.SessionID, 0
		l.Log.Info("session started", "session", l.session, "team", p.Team.ID)
	case projection.SessionResumed:
		l.Log.Info("session resumed", "session", l.session)
	case projection.JournalRecovered:
		l.Log.Warn("journal recovered", "session", l.session, "bytes", p.Bytes, "aside", p.Aside)
	case projection.MessageAppended:
		if p.Message.Speaker.Type == projection.TypeHuman {
			l.round = 0
		}
	case projection.TurnStarted:
		l.round++
	case projection.TurnEnded:
		if p.FinishReason != projection.Done {
			l.Log.Warn("turn ended early", "session", l.session, "member", p.MemberID, "reason", p.FinishReason)
		}
	case projection.SessionEnded:
		l.Log.Info("session ended", "session", l.session, "reason", p.Reason)
		l.wrote = false // "ended" says that all is saved
	}
	l.Listener.Event(e)
}

// Notice implements coordinator.Listener.
func (l *EventLog) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.Restored:
		l.session, l.round = n.SessionID, 0
	case coordinator.SaveFailed:
		l.Log.Error("save failed", "session", l.session, "error", n.Err)
	case coordinator.NotSaved:
		l.Log.Error("session not saved", "session", l.session, "events", n.Events, "aside", n.File, "error", n.Err)
	}
	l.Listener.Notice(n)
}

// Status implements coordinator.Listener.
func (l *EventLog) Status(s coordinator.Status) {
	if l.wrote && !s.Unsaved && s.SessionID != "" && s.Phase != coordinator.Active {
		l.wrote = false
		l.Log.Info("session saved", "session", s.SessionID, "round", l.round)
	}
	l.Listener.Status(s)
}
