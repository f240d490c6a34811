package app

import "github.com/agent-chatter/agent-chatter/projection"

// logRetired logs what retention did to a session.
func (a *App) logRetired(p projection.Payload) {
	switch p := p.(type) {
	case projection.SessionArchived:
		a.Log.Info("session archived", "session", p.SessionID, "reason", p.Reason)
	case projection.SessionTrashed:
		a.Log.Info("session moved to the trash", "session", p.SessionID, "reason", p.Reason)
	case projection.SessionPurged:
		a.Log.Info("session purged", "session", p.SessionID, "reason", p.Reason)
	}
}

// LogFailure logs that a command that writes failed. Its error is not logged, since the
// text may quote a message. Wrong usage is no failure.
func (a *App) LogFailure(command string, code int) {
	switch code {
	case ExitFailed, ExitLocked, ExitDamaged:
		a.Log.Error("command failed", "command", command, "exit", code)
	}
}
