package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func noAgentText(err error) string {
	return Sentence(err) + "\nTo see which there are, type: agent-chatter agents list"
}

// whoSpeaksText says how to tell who types.
func whoSpeaksText(e *coordinator.WhoSpeaksError) string {
	return fmt.Sprintf("The team has several people, and nobody said who speaks: %s.\nNothing was sent. Begin the message with your name, as in: [FROM: %s] hello", tty.SafeLine(strings.Join(e.Humans, ", ")), tty.SafeLine(e.Humans[0]))
}

func SharedText(dir, kind string) Finding {
	return Note(fmt.Sprintf("%s may be shared over a network (%s): locks may not hold between machines", tty.SafeLine(dir), tty.SafeLine(kind)),
		"Talk in a session on one machine at a time, or keep the sessions on a disk of this machine with --home DIR.")
}

// explain says what happened, to what, and what to type next.
func Explain(err error) string {
	var ambiguous *catalog.AmbiguousError
	var notFound *catalog.NotFoundError
	var mismatch *store.TeamMismatchError
	var upgrade *store.UpgradeError
	var locked *journal.LockedError
	var corrupt *journal.CorruptError
	var headless *catalog.MissingHeaderError
	var tooLong *journal.TooLongError
	var noTeam *team.NotFoundError
	var whoSpeaks *coordinator.WhoSpeaksError
	var file *FileError
	errors.As(err, &file)
	var output *OutputError
	var config *configError
	switch {
	case errors.As(err, &output):
		return Sentence(output) + textNotPrinted
	case errors.As(err, &config):
		return Sentence(config) + "\n" + TextCorrectConfig
	case errors.As(err, &whoSpeaks):
		return whoSpeaksText(whoSpeaks)
	case errors.As(err, &ambiguous):
		return ambiguousText(ambiguous)
	case errors.As(err, &notFound) && notFound.Name == catalog.LatestName:
		return textNoLatest
	case errors.As(err, &notFound):
		return fmt.Sprintf("No session is named '%s'.\nTo see which there are, type: agent-chatter sessions", tty.SafeLine(notFound.Name))
	case errors.As(err, &mismatch):
		return mismatchText(mismatch)
	case errors.As(err, &upgrade):
		return fmt.Sprintf("⚠️  Session %s has incompatible schema version: %s\nA newer version of agent-chatter wrote it: please upgrade to go on with it.\nTo read it, type: agent-chatter replay %[1]s", upgrade.SessionID, tty.SafeLine(upgrade.Version))
	case errors.As(err, &locked):
		return lockedText(locked, file)
	case errors.As(err, &corrupt):
		return corruptText(corrupt, file)
	case errors.As(err, &headless):
		return headlessText(headless.ID, headless.Reason, file)
	case errors.As(err, &noTeam):
		return fmt.Sprintf("There is no team '%s'. Looked for:\n  %s\nTo see which teams there are, type: agent-chatter team list. The built-in one is called demo.", tty.SafeLine(noTeam.Name), strings.Join(noTeam.Looked, "\n  "))
	case errors.Is(err, coordinator.ErrNoTeam):
		return textNoTeam
	case errors.Is(err, team.ErrAgentNotFound):
		return noAgentText(err)
	case errors.As(err, &tooLong):
		return tooLongText(tooLong)
	}
	return Sentence(err) + Remedy(err)
}

// The texts of restoring and saving.
const (
	TextNotAllRead      = "Not everything could be read. To see what helps, type: agent-chatter doctor"
	textNoTeam          = "Team must be set before restoring session"
	textNoLatest        = "There is no session that can be read.\nTo start one, type: agent-chatter chat"
	textNothingToResume = "No session to resume\nTo start one, type: agent-chatter chat"
	TextNotSaved        = "This conversation is not being saved. The next message tries again."
	TextNoSaveNoResume  = "--no-save keeps nothing, so it does not go with --resume."
	TextForkWhat        = "--fork goes on with a copy of a session: name it with --resume ID."
	TextFollowOnly      = "--follow watches a session and says nothing in it: leave -m, --fork, --no-save, --max-rounds and --show-prompt out."
	TextFollowJournal   = "Only a journal can be watched: name a file that ends in .jsonl."
	TextBackwards       = "The end comes before the beginning: give --from a smaller number than --to."
	textNotPrinted      = "\nNot everything was printed. Make room where it goes, or send it elsewhere."
	TextCorrectConfig   = "No chat starts until it is corrected or moved away. " +
		"To see what it may contain, type: agent-chatter guide configuration"
	TextTwoSessions   = "Both names mean the same session: name two."
	TextAskAgainHow   = "What is asked again is printed as text or json, and not at a pace: leave --speed and other outputs out."
	TextNoSessionsYet = "There are no sessions yet. A conversation is kept from its first message on: agent-chatter chat"
	TextNoOthers      = "There are no other sessions."
	TextNothingToAsk  = "Nobody said anything there: there is nothing to ask again."
	TextNothingToFork = "Nothing is kept of this conversation: there is nothing to fork."
	TextRestoreAgain  = "Press R to resume, N to start new, or Escape to go back."
)

func notFoundForTeam(name, team string) string {
	return fmt.Sprintf("Session '%s' not found for team '%s'.\nUse --resume without ID to restore the latest session, or start a new session.", tty.SafeLine(name), tty.SafeLine(team))
}

func nothingForTeam(team string) string {
	return fmt.Sprintf("No previous sessions found for team '%s'", tty.SafeLine(team))
}

func mismatchText(e *store.TeamMismatchError) string {
	return fmt.Sprintf("Session teamId mismatch: snapshot is for team '%s', but current team is '%s'.\nPlease use the correct team configuration.", tty.SafeLine(e.Want), tty.SafeLine(e.Got))
}

func MissingText(missing []projection.MemberRef) string {
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = tty.SafeLine(m.Name)
	}
	return fmt.Sprintf("⚠️  Some speakers in history are not in current team: %s\n   Their messages will be displayed with original names.", strings.Join(names, ", "))
}

func SaveFailedText(err error) string {
	return fmt.Sprintf("❌  Failed to save session: %s", tty.SafeLine(err.Error())) + Remedy(err)
}

func ResumedText(id string, messages int) string {
	return fmt.Sprintf("✓ Resumed session: %s (%d messages loaded)", id, messages)
}

func damagedSkippedText(s catalog.Session) string {
	if s.ReadErr != nil {
		return fmt.Sprintf("⚠️  Failed to load session %s: %s\n   It is passed over. To see what helps, type: agent-chatter doctor", s.ID, tty.SafeLine(s.Damaged))
	}
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\n   It is passed over. To see what is wrong, type: agent-chatter verify %[1]s", s.ID, tty.SafeLine(s.Damaged))
}

// unreadText says that a directory of a team is passed over.
func unreadText(path string, err error) string {
	return fmt.Sprintf("⚠️  Nothing of %s is listed, because it cannot be read: %s", tty.SafeLine(path), tty.SafeLine(err.Error())) + Remedy(err)
}

func incompatibleText(s catalog.Session) string {
	return fmt.Sprintf("⚠️  Session %s has incompatible schema version: %s\n   It is passed over. To go on with it, upgrade agent-chatter.", s.ID, tty.SafeLine(s.Newer))
}

func ambiguousText(e *catalog.AmbiguousError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "'%s' names %d sessions:\n", tty.SafeLine(e.Name), len(e.Candidates))
	for i, s := range e.Candidates {
		if i == 10 {
			fmt.Fprintf(&b, "  … and %d more\n", len(e.Candidates)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  %s  %s\n", s.ID, tty.SafeLine(s.TeamID), tty.SafeLine(s.Title))
	}
	b.WriteString("Type more of the id.")
	return b.String()
}

func lockedText(e *journal.LockedError, file *FileError) string {
	id := strings.TrimSuffix(filepath.Base(e.Path), ".jsonl")
	if file != nil {
		return fmt.Sprintf("Session %s is in use by %s.\nTo watch it, type: agent-chatter tail -f %s", tty.SafeLine(id), tty.SafeLine(e.Holder.String()), file.Typed(id))
	}
	return fmt.Sprintf("Session %s is in use by %s.\nTo watch it, type: agent-chatter tail -f %[1]s\nTo go on with a copy of it, type: agent-chatter chat --resume %[1]s --fork", tty.SafeLine(id), tty.SafeLine(e.Holder.String()))
}

// unfinishedText says behind a name what there is of a reply that has no end.
func UnfinishedText(e projection.Entry) string {
	switch {
	case !e.Partial:
		return ""
	case e.ContentBytes > 0:
		return fmt.Sprintf(" (unfinished, the first %d of %d bytes)", len(e.Content), e.ContentBytes)
	}
	return " (unfinished)"
}

// tooLongText says what became of a message that no line can hold.
func tooLongText(e *journal.TooLongError) string {
	return fmt.Sprintf("The message is longer than a session can hold: it takes %d bytes, and the limit is %d.\nNothing was sent; put it into a file and name the file. %s", e.Bytes, e.Limit, AllowText(int64(e.Bytes)))
}

// allowText says how to allow lines of so many bytes.
func AllowText(bytes int64) string {
	const step = 1 << 20
	enough := (bytes + step - 1) / step * step
	if enough > mostMaxLine {
		return fmt.Sprintf("No configuration allows as much: the most is %d bytes.", mostMaxLine)
	}
	return fmt.Sprintf("To allow as much, write into config.json in the home (~/.agent-chatter, or --home DIR): {\"journal\": {\"maxLine\": %d}}", enough)
}

func corruptText(e *journal.CorruptError, file *FileError) string {
	name, archived := strings.CutSuffix(filepath.Base(e.Path), ".zst")
	id := tty.SafeLine(strings.TrimSuffix(name, ".jsonl"))
	if e.TooLong > 0 {
		return fmt.Sprintf("⚠️  Failed to load session %s: %s\nIts bytes are as they were written, and nothing was changed. %s", id, tty.Safe(e.Error()), AllowText(e.TooLong))
	}
	next := repairHelp(file.Typed(id))
	if archived {
		next = archiveHelp(file.Typed(id))
	}
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\nNothing behind it was read and nothing was changed. %s", id, tty.Safe(e.Error()), next)
}

// archiveHelp says what helps against damage in an archive.
func archiveHelp(id string) string {
	return "An archive cannot be repaired: bring its .zst back from a backup. To see what can be read of it, type: agent-chatter replay " + id
}

// archivedText says why an archive is not repaired.
func ArchivedText(id string) string {
	return fmt.Sprintf("Session %s is archived, and was left alone. To check it, type: agent-chatter verify %[1]s\n%s", id, archiveHelp(id))
}

// damagedCountText ends a check that found damage.
func DamagedCountText(helps []string, of int) string {
	help := "To see what helps each, type: agent-chatter doctor"
	if len(helps) == 1 {
		help = helps[0]
	}
	return fmt.Sprintf("%s damaged. Nothing was changed.\n%s", someAre(len(helps), of, "session"), help)
}

// damageHelp says what helps against the damage of a session.
func DamageHelp(s catalog.Session, file *FileError) string {
	switch {
	case s.MissingHeader:
		return headlessHelp(file.Typed(s.ID))
	case s.Archived:
		return archiveHelp(file.Typed(s.ID))
	}
	return repairHelp(file.Typed(s.ID))
}

func repairHelp(id string) string {
	return "To set aside what is damaged and keep the rest, type: agent-chatter repair " + id
}

// notInTrashText says what there is instead.
func notInTrashText(name string, ids []string) string {
	text := fmt.Sprintf("No session in the trash is named '%s'.", tty.SafeLine(name))
	if len(ids) == 0 {
		return text + " It is empty."
	}
	const most = 10
	for _, id := range ids[:min(most, len(ids))] {
		text += "\nTo take this one out, type: agent-chatter sessions restore " + id
	}
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf("\n… and %d more", more)
	}
	return text
}

// headlessText says that no repair makes a session of a journal again.
func headlessText(id, reason string, file *FileError) string {
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\n%s", tty.SafeLine(id), tty.Safe(reason), headlessHelp(file.Typed(id)))
}

func headlessHelp(id string) string {
	return "Its lines check, so that there is nothing to repair, but nobody can go on with it. Bring its file back from a backup. To see what is in it, type: agent-chatter replay " + id
}

// stillHeadlessText says what a repair could not bring back.
func StillHeadlessText(s catalog.Session) string {
	return fmt.Sprintf("What said whose session %s is cannot be brought back (%s): nobody can go on with it. To see what is left, type: agent-chatter replay %[1]s", s.ID, tty.SafeLine(s.Damaged))
}

// followEndedText says why a session is not followed any further.
func FollowEndedText(id string, err error) string {
	var file *FileError
	errors.As(err, &file)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return fmt.Sprintf("Session %s is gone. When it was deleted, this takes it out of the trash: agent-chatter sessions restore %[1]s", tty.SafeLine(id))
	case errors.Is(err, journal.ErrReplaced):
		return fmt.Sprintf("The journal of session %s is another one now: it was repaired, replaced or cut. To follow it as it is, type: agent-chatter tail -f %s", tty.SafeLine(id), file.Typed(id))
	}
	return Explain(err)
}

// notNotifiedText says that the system does not tell of changed files.
func notNotifiedText(reason error) string {
	why := tty.SafeLine(reason.Error())
	switch {
	case errors.Is(reason, syscall.EMFILE):
		why = "there are too many watchers already; on Linux, the limit is fs.inotify.max_user_instances"
	case errors.Is(reason, syscall.ENOSPC):
		why = "there are too many watches already; on Linux, the limit is fs.inotify.max_user_watches"
	}
	return "The system does not tell when journals change: " + why + ".\nThey are looked at four times a second instead. Nothing is lost."
}

// remedy is what helps against what the system said.
func Remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return "\nCheck who may read and write there, or name another place with --home DIR."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "\nThe disk is full: make room, or name another place with --home DIR."
	}
	return ""
}

// sentence is an error as people read it: one line of harmless characters, or
// several where it has them. It begins with a capital, unless it begins with
// the name of a file, which is kept as it is.
func Sentence(err error) string {
	text := tty.Safe(err.Error())
	word := strings.TrimRight(strings.SplitN(text, " ", 2)[0], ":,")
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// someAre is how many of all are, such as "1 of 3 sessions is".
func someAre(n, of int, noun string) string {
	are := "are"
	if n == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %s %s", n, Count(of, noun), are)
}

func ShrunkText(s catalog.Session) string {
	return fmt.Sprintf("⚠️  Session %s has fewer events than the index remembers: its end may be missing.", s.ID)
}
