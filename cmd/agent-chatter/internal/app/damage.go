package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// skippedText is for a damaged or unreadable session that a search for a session
// skips.
func skippedText(s catalog.Session) Message {
	m := Text("⚠️  Failed to load session %s: %s\n   It is skipped.", s.ID, tty.SafeLine(s.Damaged))
	if s.ReadErr != nil {
		return m.With(To("diagnose this", "doctor"))
	}
	return m.With(To("locate the damage", "verify", s.ID))
}

// TruncatedText is for a journal that is shorter than the index recorded.
func TruncatedText(s catalog.Session) string {
	return fmt.Sprintf("⚠️  Session %s has fewer events than the index recorded: its end may be missing.", s.ID)
}

// InvalidEventsText is for a session with events that do not match their schema, of which
// first is the first. Some of them may be missing from what is shown.
func InvalidEventsText(id string, events int, first uint64) Message {
	return Text("⚠️  Session %s has %s, first event %d. What is shown may be incomplete.",
		tty.SafeLine(id), Count(events, "invalid event"), first).With(To("locate them", "verify", id))
}

// corruptText is for a journal with a damaged line or one that exceeds the limit.
func corruptText(e *journal.CorruptError, file *FileError) Message {
	name, archived := strings.CutSuffix(filepath.Base(e.Path), ".zst")
	id := strings.TrimSuffix(name, ".jsonl")
	m := Text("⚠️  Failed to load session %s: %s\n", tty.SafeLine(id), Reason(e))
	switch {
	case e.TooLong > 0:
		m.Text += "The line is intact, and nothing was changed. " + AllowText(e.TooLong)
		return m
	case archived:
		m.Text += "Nothing after it was read, and nothing was changed.\n"
		help := archiveHelp(file.Name(id))
		return Message{m.Text + help.Text, help.Help}
	}
	m.Text += "Nothing after it was read, and nothing was changed."
	return m.With(repairHelp(file.Name(id)))
}

// DamagedCountText ends a check that found damaged sessions: help is for each of them.
func DamagedCountText(help []Message, of int) Message {
	if len(help) > 1 {
		return Text("%d of %s are damaged. Nothing was changed.", len(help), Count(of, "session")).
			With(To("diagnose each", "doctor"))
	}
	m := Text("1 of %s is damaged. Nothing was changed.", Count(of, "session"))
	if help[0].Text != "" {
		m.Text += "\n" + help[0].Text
	}
	return m.With(help[0].Help...)
}

// DamageHelp returns what helps with a damaged session.
func DamageHelp(s catalog.Session, file *FileError) Message {
	switch {
	case s.MissingHeader && s.HeaderError().Empty:
		return Text(textNoEvent)
	case s.MissingHeader:
		return missingHeaderHelp(file.Name(s.ID))
	case s.Archived:
		return archiveHelp(file.Name(s.ID))
	}
	return Message{Help: []Help{repairHelp(file.Name(s.ID))}}
}

func repairHelp(name string) Help {
	return To("set aside the damaged lines and keep the rest", "repair", name)
}

// archiveHelp is for a damaged archive.
func archiveHelp(name string) Message {
	return Text("An archive cannot be repaired: restore its .zst file from a backup.").
		With(To("read what is intact", "replay", name))
}

// ArchivedText explains why an archived session is not repaired.
func ArchivedText(id string) Message {
	help := archiveHelp(id)
	return Text("Session %s is archived and was not changed.\n%s", id, help.Text).With(To("check it", "verify", id)).
		With(help.Help...)
}

// missingHeaderText is for a journal whose first event is lost: repair cannot help.
func missingHeaderText(e *catalog.MissingHeaderError, file *FileError) Message {
	help := missingHeaderHelp(file.Name(e.ID))
	if e.Empty {
		help = Text(textNoEvent)
	}
	return Text("⚠️  Failed to load session %s: %s\n%s",
		tty.SafeLine(e.ID), tty.SafeLine(e.Reason), help.Text).With(help.Help...)
}

const textNoEvent = "Another program wrote it, or truncated it. Restore the file from a backup."

func missingHeaderHelp(name string) Message {
	return Text(
		"Every checksum matches, so there is nothing to repair, but the session cannot be resumed without its " +
			"header. Restore the file from a backup.",
	).With(To("read what is left", "replay", name))
}

// HeaderLostText is for a session whose header a repair could not restore.
func HeaderLostText(s catalog.Session) Message {
	return Text("The header of session %s is lost (%s); it cannot be resumed.", s.ID, tty.SafeLine(s.Damaged)).
		With(To("read what is left", "replay", s.ID))
}

// unreadableText is for a team's directory that cannot be read.
func unreadableText(path string, err error) string {
	return fmt.Sprintf("⚠️  Sessions in %s are not listed: %s",
		tty.SafeLine(path), tty.SafeLine(err.Error())) + Remedy(err)
}

// NotAllReadText ends a command that could not read every session.
func NotAllReadText() Message {
	return Text("Some sessions could not be read.").With(To("diagnose this", "doctor"))
}
