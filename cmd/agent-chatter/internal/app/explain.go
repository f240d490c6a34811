package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Explain returns what failed, on what and why, and the commands that help. It is empty
// for a command that the user interrupted.
func Explain(err error) Message {
	var exit *ExitError
	var ambiguous *catalog.AmbiguousError
	var notFound *catalog.NotFoundError
	var mismatch *store.TeamMismatchError
	var upgrade *store.UpgradeError
	var locked *journal.LockedError
	var corrupt *journal.CorruptError
	var header *catalog.MissingHeaderError
	var tooLong *journal.TooLongError
	var noTeam *team.NotFoundError
	var unnamed *coordinator.WhoSpeaksError
	var file *FileError
	var output *OutputError
	var config *configError
	errors.As(err, &file)
	switch {
	case errors.As(err, &exit):
		return exit.Message
	case errors.As(err, &output):
		return Message{Text: Sentence(output) + textIncomplete}
	case errors.As(err, &config):
		return Message{Text: Sentence(config) + "\n" + TextCorrectConfig}.With(ToListSettings)
	case errors.As(err, &unnamed):
		return whoSpeaksText(unnamed)
	case errors.As(err, &ambiguous):
		return ambiguousText(ambiguous)
	case errors.As(err, &notFound):
		return notFoundText(notFound)
	case errors.As(err, &mismatch):
		return Message{Text: mismatchText(mismatch)}
	case errors.As(err, &upgrade):
		return upgradeText(upgrade)
	case errors.As(err, &locked):
		return lockedText(locked, file)
	case errors.As(err, &corrupt):
		return corruptText(corrupt, file)
	case errors.As(err, &header):
		return missingHeaderText(header.ID, header.Reason, file)
	case errors.As(err, &noTeam):
		return noTeamText(noTeam)
	case errors.Is(err, coordinator.ErrNoTeam):
		return Message{Text: "Team must be set before restoring session"}
	case errors.Is(err, team.ErrAgentNotFound):
		return Message{Text: Sentence(err)}.With(To("list the agents", "agents", "list"))
	case errors.As(err, &tooLong):
		return tooLongText(tooLong)
	case errors.Is(err, coordinator.ErrNotDelivered):
		return Message{Text: textNotDelivered}
	case errors.Is(err, context.Canceled):
		return Message{}
	}
	return Message{Text: Sentence(err) + remedyAnywhere(err)}.With(helpFor(err)...)
}

// helpFor returns the commands that help with an error that Explain does not know.
func helpFor(err error) []Help {
	var invalid *schemas.InvalidError
	if errors.As(err, &invalid) && guidePages[invalid.Schema] != "" {
		return []Help{To("read about the fields", "guide", guidePages[invalid.Schema])}
	}
	if h, ok := hint.Of(err); ok {
		return []Help{{Purpose(h), h}}
	}
	return nil
}

// guidePages are the pages of the manual about files that users write, by their schemas.
var guidePages = map[string]string{
	schemas.CLIConfig: "teams", schemas.AgentRegistry: "agents",
	schemas.SessionSnapshot: "import", schemas.Trust: "trust",
}

// Purpose returns what the hint of an error is for, if the error does not say it.
func Purpose(h hint.Hint) string {
	switch h.Argv[0] {
	case "command":
		return "look for it in PATH"
	case "chmod":
		return "make it executable"
	}
	return "fix this"
}

// Texts that several commands print.
const (
	textIncomplete    = "\nThe output is incomplete. Free space at its destination, or redirect it elsewhere."
	TextNotSaved      = "This conversation is not being saved. The next message retries."
	TextCorrectConfig = "Correct the file or move it away to start a chat."
	TextNoOthers      = "There are no other sessions."
	textNotDelivered  = "No member received the message; it is in the session."
)

// upgradeText is for a session of a newer format.
func upgradeText(e *store.UpgradeError) Message {
	return Text("⚠️  Session %s has incompatible schema version: %s\n"+
		"A newer agent-chatter wrote it. Upgrade to resume it.", e.SessionID, tty.SafeLine(e.Version)).
		With(To("read it", "replay", e.SessionID))
}

func noTeamText(e *team.NotFoundError) Message {
	if e.Directory != "" {
		return Text("%s is a directory. Name a team file in it.", tty.SafeLine(e.Directory)).
			With(To("list the teams", "team", "list"))
	}
	return Text("There is no team '%s'. Searched:\n  %s\nThe built-in team is called demo.",
		tty.SafeLine(e.Name), tty.Safe(strings.Join(e.Looked, "\n  "))).With(To("list the teams", "team", "list"))
}

// NotAllReadText ends a command that could not read every session.
func NotAllReadText() Message {
	return Text("Some sessions could not be read.").With(To("diagnose this", "doctor"))
}

// ToListSettings is the command that lists the settings of config.json.
var ToListSettings = To("list the settings", "guide", "configuration")

func notFoundText(e *catalog.NotFoundError) Message {
	if e.Name == catalog.LatestName {
		return Text("There is no readable session.").With(To("start one", "chat"))
	}
	return Text("No session is named '%s'.", tty.SafeLine(e.Name)).With(To("list the sessions", "sessions"))
}

func notFoundForTeamText(name, team string) string {
	return fmt.Sprintf("Session '%s' not found for team '%s'.\n"+
		"Use --resume without ID to restore the latest session, or start a new session.",
		tty.SafeLine(name), tty.SafeLine(team))
}

func nothingForTeamText(team string) string {
	return fmt.Sprintf("No previous sessions found for team '%s'", tty.SafeLine(team))
}

// nothingToResumeText is for a home without sessions.
func nothingToResumeText() Message {
	return Text("No session to resume").With(To("start one", "chat"))
}

func mismatchText(e *store.TeamMismatchError) string {
	return fmt.Sprintf("Session teamId mismatch: snapshot is for team '%s', but current team is '%s'.\n"+
		"Please use the correct team configuration.", tty.SafeLine(e.Want), tty.SafeLine(e.Got))
}

// whoSpeaksText explains how a message names its sender in a team of several people.
func whoSpeaksText(e *coordinator.WhoSpeaksError) Message {
	return Text("The team has several people, and the message names no sender: %s.\n"+
		"Nothing was sent. Start the message with a name, such as: [FROM: %s] hello",
		tty.SafeLine(strings.Join(e.Humans, ", ")), tty.SafeLine(e.Humans[0]))
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

func SaveFailedText(err error) string {
	return fmt.Sprintf("❌  Failed to save session: %s", tty.SafeLine(err.Error())) + remedyAnywhere(err)
}

func ResumedText(id string, messages int) string {
	return fmt.Sprintf("✓ Resumed session: %s (%s loaded)", id, Count(messages, "message"))
}

// skippedText is for a damaged or unreadable session that a search for a session
// skips.
func skippedText(s catalog.Session) Message {
	m := Text("⚠️  Failed to load session %s: %s\n   It is skipped.", s.ID, tty.SafeLine(s.Damaged))
	if s.ReadErr != nil {
		return m.With(To("diagnose this", "doctor"))
	}
	return m.With(To("locate the damage", "verify", s.ID))
}

// unreadableText is for a team's directory that cannot be read.
func unreadableText(path string, err error) string {
	return fmt.Sprintf("⚠️  Sessions in %s are not listed: %s",
		tty.SafeLine(path), tty.SafeLine(err.Error())) + Remedy(err)
}

func incompatibleText(s catalog.Session) string {
	return fmt.Sprintf(
		"⚠️  Session %s has incompatible schema version: %s\n   It is skipped. Upgrade agent-chatter to resume it.",
		s.ID,
		tty.SafeLine(s.Newer),
	)
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

func ambiguousText(e *catalog.AmbiguousError) Message {
	const shown = 10
	var b strings.Builder
	fmt.Fprintf(&b, "'%s' names %d sessions:\n", tty.SafeLine(e.Name), len(e.Candidates))
	for _, s := range e.Candidates[:min(shown, len(e.Candidates))] {
		fmt.Fprintf(&b, "  %s  %s  %s\n", s.ID, tty.SafeLine(s.TeamID), tty.SafeLine(s.Title))
	}
	if more := len(e.Candidates) - shown; more > 0 {
		fmt.Fprintf(&b, "  … and %d more\n", more)
	}
	return Message{Text: b.String() + "Type more of the id."}
}

func lockedText(e *journal.LockedError, file *FileError) Message {
	id := strings.TrimSuffix(filepath.Base(e.Path), ".jsonl")
	m := Text("Session %s is locked by %s.", tty.SafeLine(id), tty.SafeLine(e.Holder.String())).
		With(To("watch it", "tail", "-f", file.Name(id)))
	if file == nil {
		m = m.With(To("resume a copy", "chat", "--resume", id, "--fork"))
	}
	return m
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

// tooLongText is for a message that exceeds the limit of a line.
func tooLongText(e *journal.TooLongError) Message {
	return Text("The message is too long: it needs %d bytes, and the limit is %d.\n"+
		"Nothing was sent. Write it to a file and name the file. %s", e.Bytes, e.Limit, AllowText(int64(e.Bytes)))
}

// AllowText explains how to raise the maximum length of a line to a number of bytes.
func AllowText(bytes int64) string {
	const step = 1 << 20
	enough := (bytes + step - 1) / step * step
	if enough > maxMaxLine {
		return fmt.Sprintf("This exceeds the maximum of journal.maxLine, %d bytes.", maxMaxLine)
	}
	return fmt.Sprintf("To raise the limit, set this in config.json of the home: {\"journal\": {\"maxLine\": %d}}",
		enough)
}

func corruptText(e *journal.CorruptError, file *FileError) Message {
	name, archived := strings.CutSuffix(filepath.Base(e.Path), ".zst")
	id := strings.TrimSuffix(name, ".jsonl")
	m := Text("⚠️  Failed to load session %s: %s\n", tty.SafeLine(id), tty.Safe(e.Error()))
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

// notInTrashText lists what the trash contains instead.
func notInTrashText(name string, ids []string) Message {
	const shown = 10
	m := Text("No session in the trash is named '%s'.", tty.SafeLine(name))
	if len(ids) == 0 {
		m.Text += " It is empty."
	}
	for _, id := range ids[:min(shown, len(ids))] {
		m = m.With(To("restore this one", "sessions", "restore", id))
	}
	if more := len(ids) - shown; more > 0 {
		m.Text += fmt.Sprintf(" It has these and %d more:", more)
	}
	return m
}

// missingHeaderText is for a journal whose first event is lost: repair cannot help.
func missingHeaderText(id, reason string, file *FileError) Message {
	help := missingHeaderHelp(file.Name(id))
	return Text("⚠️  Failed to load session %s: %s\n%s",
		tty.SafeLine(id), tty.Safe(reason), help.Text).With(help.Help...)
}

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

// FollowEndedText explains why following a session ended.
func FollowEndedText(id string, err error) Message {
	var file *FileError
	errors.As(err, &file)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return Text("Session %s is gone.",
			tty.SafeLine(id)).With(To("restore it if it was deleted", "sessions", "restore", id))
	case errors.Is(err, journal.ErrReplaced):
		return Text("The journal of session %s was replaced: it was repaired, restored or truncated.",
			tty.SafeLine(id)).
			With(To("follow the new one", "tail", "-f", file.Name(id)))
	}
	return Explain(err)
}

// notNotifiedText is for a system that does not report changed files.
func notNotifiedText(reason error) string {
	why := tty.SafeLine(reason.Error())
	switch {
	case errors.Is(reason, syscall.EMFILE):
		why = "too many watchers; on Linux, raise fs.inotify.max_user_instances"
	case errors.Is(reason, syscall.ENOSPC):
		why = "too many watches; on Linux, raise fs.inotify.max_user_watches"
	}
	return "The system does not report changes of " +
		"journals: " + why + ".\nThey are polled four times a second instead. Nothing is lost."
}

// Remedy returns advice for an error of the operating system about the home, on a line of
// its own; "" if there is none.
func Remedy(err error) string { return remedy(err, ", or use another directory with --home DIR") }

// remedyAnywhere is Remedy for an error that may be about a file outside of the home,
// where another home does not help.
func remedyAnywhere(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) && !slices.Contains(strings.Split(filepath.ToSlash(file.Path), "/"), "sessions") {
		return remedy(err, "")
	}
	return Remedy(err)
}

func remedy(err error, elsewhere string) string {
	switch {
	case errors.Is(err, fs.ErrPermission),
		errors.Is(err, syscall.EROFS),
		errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.EISDIR):
		return "\nCheck the permissions there" + elsewhere + "."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "\nThe disk is full: free space" + elsewhere + "."
	case errors.Is(err, syscall.EFBIG):
		return "\nA file is as large as the file system or a limit of the process allows (ulimit -f): " +
			"raise the limit" + elsewhere + "."
	}
	return ""
}

// Sentence returns an error as text that is safe for a terminal. It starts with a
// capital, unless the first word is the name of a file.
func Sentence(err error) string {
	text := tty.Safe(err.Error())
	word := strings.TrimRight(strings.SplitN(text, " ", 2)[0], ":,")
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// NetworkText is for a directory that other machines may share.
func NetworkText(dir, kind string) Finding {
	return Note(
		fmt.Sprintf("%s may be on a network file system (%s): locks may not work across machines",
			tty.SafeLine(dir), tty.SafeLine(kind)),
		"Use a session on one machine at a time, or keep the sessions on a local disk with --home DIR.",
	)
}
