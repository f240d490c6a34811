package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ResumedText is for a session that a chat continues, with its number of messages.
func ResumedText(id string, messages int) string {
	return fmt.Sprintf("✓ Resumed session: %s (%s loaded)", id, Count(messages, "message"))
}

// UnfinishedText marks a reply without an end; "" for a complete one.
func UnfinishedText(e projection.Entry) string {
	switch {
	case !e.Partial:
		return ""
	case e.ContentBytes > 0:
		return fmt.Sprintf(" (unfinished, the first %d of %d bytes)", len(e.Content), e.ContentBytes)
	}
	return " (unfinished)"
}

// MissingText lists the speakers of a session who are not members of its team.
func MissingText(missing []projection.MemberRef) string {
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = tty.SafeLine(m.Name)
	}
	return fmt.Sprintf("⚠️  Some speakers in history are not in current team: %s\n"+
		"   Their messages will be displayed with original names.", strings.Join(names, ", "))
}

// mismatchText is for a session of another team.
func mismatchText(e *store.TeamMismatchError) string {
	return fmt.Sprintf("Session teamId mismatch: snapshot is for team '%s', but current team is '%s'.\n"+
		"Please use the correct team configuration.", tty.SafeLine(e.Want), tty.SafeLine(e.Got))
}

// upgradeText is for a session of a newer format.
func upgradeText(e *store.UpgradeError) Message {
	return Text("⚠️  Session %s has incompatible schema version: %s\n"+
		"A newer agent-chatter wrote it. Upgrade to resume it.", e.SessionID, tty.SafeLine(e.Version)).
		With(To("read it", "replay", e.SessionID))
}

// incompatibleText is for a session of a newer format that a search for a session skips.
func incompatibleText(s catalog.Session) string {
	return fmt.Sprintf(
		"⚠️  Session %s has incompatible schema version: %s\n   It is skipped. Upgrade agent-chatter to resume it.",
		s.ID,
		tty.SafeLine(s.Newer),
	)
}

// lockedText is for a session that another process writes.
func lockedText(e *journal.LockedError, file *FileError) Message {
	id := strings.TrimSuffix(filepath.Base(e.Path), ".jsonl")
	m := Text("Session %s is locked by %s.", tty.SafeLine(id), tty.SafeLine(e.Holder.String())).
		With(To("watch it", "tail", "-f", file.Name(id)))
	if file == nil {
		m = m.With(To("resume a copy", "chat", "--resume", id, "--fork"))
	}
	return m
}

// SaveFailedText is for a conversation that continues unsaved.
func SaveFailedText(err error) string {
	return fmt.Sprintf("❌  Failed to save session: %s", tty.SafeLine(err.Error())) + remedyAnywhere(err)
}
