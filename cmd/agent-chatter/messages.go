package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
	"github.com/alecthomas/kong"
	"github.com/mattn/go-runewidth"
)

// explain says what happened, to what, and what to type next.
func explain(err error) string {
	var ambiguous *catalog.AmbiguousError
	var notFound *catalog.NotFoundError
	var mismatch *coordinator.TeamMismatchError
	var upgrade *coordinator.UpgradeError
	var locked *journal.LockedError
	var corrupt *journal.CorruptError
	var headless *catalog.HeadlessError
	var tooLong *journal.TooLongError
	var noTeam *coordinator.TeamNotFoundError
	var whoSpeaks *coordinator.WhoSpeaksError
	var file *fileError
	errors.As(err, &file)
	var output *outputError
	var config *configError
	switch {
	case errors.As(err, &output):
		return sentence(output) + textNotPrinted
	case errors.As(err, &config):
		return sentence(config) + "\n" + textCorrectConfig
	case errors.As(err, &whoSpeaks):
		return whoSpeaksText(whoSpeaks)
	case errors.As(err, &ambiguous):
		return ambiguousText(ambiguous)
	case errors.As(err, &notFound) && notFound.Name == catalog.LatestName:
		return textNoLatest
	case errors.As(err, &notFound):
		return fmt.Sprintf("No session is named '%s'.\nTo see which there are, type: agent-chatter sessions", safeLine(notFound.Name))
	case errors.As(err, &mismatch):
		return mismatchText(mismatch)
	case errors.As(err, &upgrade):
		return fmt.Sprintf("⚠️  Session %s has incompatible schema version: %s\nA newer version of agent-chatter wrote it: please upgrade to go on with it.\nTo read it, type: agent-chatter replay %[1]s", upgrade.SessionID, safeLine(upgrade.Version))
	case errors.As(err, &locked):
		return lockedText(locked, file)
	case errors.As(err, &corrupt):
		return corruptText(corrupt, file)
	case errors.As(err, &headless):
		return headlessText(headless.ID, headless.Reason, file)
	case errors.As(err, &noTeam):
		return fmt.Sprintf("There is no team '%s'. Looked for:\n  %s\nTo see which teams there are, type: agent-chatter team list. The built-in one is called demo.", safeLine(noTeam.Name), strings.Join(noTeam.Looked, "\n  "))
	case errors.Is(err, coordinator.ErrNoTeam):
		return textNoTeam
	case errors.Is(err, coordinator.ErrAgentNotFound):
		return noAgentText(err)
	case errors.As(err, &tooLong):
		return tooLongText(tooLong)
	}
	return sentence(err) + remedy(err)
}

// The texts of restoring and saving.
const (
	textNotAllRead      = "Not everything could be read. To see what helps, type: agent-chatter doctor"
	textNoTeam          = "Team must be set before restoring session"
	textNoLatest        = "There is no session that can be read.\nTo start one, type: agent-chatter chat"
	textNothingToResume = "No session to resume\nTo start one, type: agent-chatter chat"
	textNotSaved        = "This conversation is not being saved. The next message tries again."
	textNoSaveNoResume  = "--no-save keeps nothing, so it does not go with --resume."
	textForkWhat        = "--fork goes on with a copy of a session: name it with --resume ID."
	textFollowOnly      = "--follow watches a session and says nothing in it: leave -m, --fork, --no-save, --max-rounds and --show-prompt out."
	textFollowJournal   = "Only a journal can be watched: name a file that ends in .jsonl."
	textBackwards       = "The end comes before the beginning: give --from a smaller number than --to."
	textNotPrinted      = "\nNot everything was printed. Make room where it goes, or send it elsewhere."
	textCorrectConfig   = "No chat starts until it is corrected, or moved away. The README shows what it may say."
	textTwoSessions     = "Both names mean the same session: name two."
	textAskAgainHow     = "What is asked again is printed as text or json, and not at a pace: leave --speed and other outputs out."
	textNoSessionsYet   = "There are no sessions yet. A conversation is kept from its first message on: agent-chatter chat"
	textNoOthers        = "There are no other sessions."
	textNothingToAsk    = "Nobody said anything there: there is nothing to ask again."
	textNothingToFork   = "Nothing is kept of this conversation: there is nothing to fork."
	textRestoreAgain    = "Press R to resume, N to start new, or Escape to go back."
)

func notFoundForTeam(name, team string) string {
	return fmt.Sprintf("Session '%s' not found for team '%s'.\nUse --resume without ID to restore the latest session, or start a new session.", safeLine(name), safeLine(team))
}

func nothingForTeam(team string) string {
	return fmt.Sprintf("No previous sessions found for team '%s'", safeLine(team))
}

func mismatchText(e *coordinator.TeamMismatchError) string {
	return fmt.Sprintf("Session teamId mismatch: snapshot is for team '%s', but current team is '%s'.\nPlease use the correct team configuration.", safeLine(e.Want), safeLine(e.Got))
}

func missingText(missing []projection.MemberRef) string {
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = safeLine(m.Name)
	}
	return fmt.Sprintf("⚠️  Some speakers in history are not in current team: %s\n   Their messages will be displayed with original names.", strings.Join(names, ", "))
}

func saveFailedText(err error) string {
	return fmt.Sprintf("❌  Failed to save session: %s", safeLine(err.Error())) + remedy(err)
}

func resumedText(id string, messages int) string {
	return fmt.Sprintf("✓ Resumed session: %s (%d messages loaded)", id, messages)
}

func damagedSkippedText(s catalog.Session) string {
	if s.Unread != nil {
		return fmt.Sprintf("⚠️  Failed to load session %s: %s\n   It is passed over. To see what helps, type: agent-chatter doctor", s.ID, safeLine(s.Damaged))
	}
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\n   It is passed over. To see what is wrong, type: agent-chatter verify %[1]s", s.ID, safeLine(s.Damaged))
}

// unreadText says that a directory of a team is passed over.
func unreadText(path string, err error) string {
	return fmt.Sprintf("⚠️  Nothing of %s is listed, because it cannot be read: %s", safeLine(path), safeLine(err.Error())) + remedy(err)
}

func incompatibleText(s catalog.Session) string {
	return fmt.Sprintf("⚠️  Session %s has incompatible schema version: %s\n   It is passed over. To go on with it, upgrade agent-chatter.", s.ID, safeLine(s.Newer))
}

func ambiguousText(e *catalog.AmbiguousError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "'%s' names %d sessions:\n", safeLine(e.Name), len(e.Candidates))
	for i, s := range e.Candidates {
		if i == 10 {
			fmt.Fprintf(&b, "  … and %d more\n", len(e.Candidates)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  %s  %s\n", s.ID, safeLine(s.TeamID), safeLine(s.Title))
	}
	b.WriteString("Type more of the id.")
	return b.String()
}

func lockedText(e *journal.LockedError, file *fileError) string {
	id := strings.TrimSuffix(filepath.Base(e.Path), ".jsonl")
	if file != nil {
		return fmt.Sprintf("Session %s is in use by %s.\nTo watch it, type: agent-chatter tail -f %s", safeLine(id), safeLine(e.Holder.String()), file.typed(id))
	}
	return fmt.Sprintf("Session %s is in use by %s.\nTo watch it, type: agent-chatter tail -f %[1]s\nTo go on with a copy of it, type: agent-chatter chat --resume %[1]s --fork", safeLine(id), safeLine(e.Holder.String()))
}

// unfinishedText says behind a name what there is of a reply that has no end.
func unfinishedText(e projection.Entry) string {
	switch {
	case !e.Partial:
		return ""
	case e.Said > 0:
		return fmt.Sprintf(" (unfinished, the first %d of %d bytes)", len(e.Content), e.Said)
	}
	return " (unfinished)"
}

// tooLongText says what became of a message that no line can hold.
func tooLongText(e *journal.TooLongError) string {
	return fmt.Sprintf("The message is longer than a session can hold: it takes %d bytes, and the limit is %d.\nNothing was sent; put it into a file and name the file. %s", e.Bytes, e.Limit, allowText(int64(e.Bytes)))
}

// allowText says how to allow lines of so many bytes.
func allowText(bytes int64) string {
	const step = 1 << 20
	enough := (bytes + step - 1) / step * step
	if enough > mostMaxLine {
		return fmt.Sprintf("No configuration allows as much: the most is %d bytes.", mostMaxLine)
	}
	return fmt.Sprintf("To allow as much, write into config.json in the home (~/.agent-chatter, or --home DIR): {\"journal\": {\"maxLine\": %d}}", enough)
}

func corruptText(e *journal.CorruptError, file *fileError) string {
	name, archived := strings.CutSuffix(filepath.Base(e.Path), ".zst")
	id := safeLine(strings.TrimSuffix(name, ".jsonl"))
	if e.TooLong > 0 {
		return fmt.Sprintf("⚠️  Failed to load session %s: %s\nIts bytes are as they were written, and nothing was changed. %s", id, safe(e.Error()), allowText(e.TooLong))
	}
	next := repairHelp(file.typed(id))
	if archived {
		next = archiveHelp(id)
	}
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\nNothing behind it was read and nothing was changed. %s", id, safe(e.Error()), next)
}

// archiveHelp says what helps against damage in an archive.
func archiveHelp(id string) string {
	return "An archive cannot be repaired: bring its .zst back from a backup. To see what can be read of it, type: agent-chatter replay " + id
}

// archivedText says why an archive is not repaired.
func archivedText(id string) string {
	return fmt.Sprintf("Session %s is archived, and was left alone. To check it, type: agent-chatter verify %[1]s\n%s", id, archiveHelp(id))
}

// damagedCountText ends a check that found damage.
func damagedCountText(helps []string, of int) string {
	help := "To see what helps each, type: agent-chatter doctor"
	if len(helps) == 1 {
		help = helps[0]
	}
	return fmt.Sprintf("%s damaged. Nothing was changed.\n%s", someAre(len(helps), of, "session"), help)
}

// damageHelp says what helps against the damage of a session.
func damageHelp(s catalog.Session, file *fileError) string {
	switch {
	case s.Headless:
		return headlessHelp(file.typed(s.ID))
	case s.Archived:
		return archiveHelp(s.ID)
	}
	return repairHelp(file.typed(s.ID))
}

func repairHelp(id string) string {
	return "To set aside what is damaged and keep the rest, type: agent-chatter repair " + id
}

// notInTrashText says what there is instead.
func notInTrashText(name string, ids []string) string {
	text := fmt.Sprintf("No session in the trash is named '%s'.", safeLine(name))
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
func headlessText(id, reason string, file *fileError) string {
	return fmt.Sprintf("⚠️  Failed to load session %s: %s\n%s", safeLine(id), safe(reason), headlessHelp(file.typed(id)))
}

func headlessHelp(id string) string {
	return "Its lines check, so that there is nothing to repair, but nobody can go on with it. Bring its file back from a backup. To see what is in it, type: agent-chatter replay " + id
}

// stillHeadlessText says what a repair could not bring back.
func stillHeadlessText(s catalog.Session) string {
	return fmt.Sprintf("What said whose session %s is cannot be brought back (%s): nobody can go on with it. To see what is left, type: agent-chatter replay %[1]s", s.ID, safeLine(s.Damaged))
}

// followEndedText says why a session is not followed any further.
func followEndedText(id string, err error) string {
	var file *fileError
	errors.As(err, &file)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return fmt.Sprintf("Session %s is gone. When it was deleted, this takes it out of the trash: agent-chatter sessions restore %[1]s", safeLine(id))
	case errors.Is(err, journal.ErrReplaced):
		return fmt.Sprintf("The journal of session %s is another one now: it was repaired, replaced or cut. To follow it as it is, type: agent-chatter tail -f %s", safeLine(id), file.typed(id))
	}
	return explain(err)
}

// notNotifiedText says that the system does not tell of changed files.
func notNotifiedText(reason error) string {
	why := safeLine(reason.Error())
	switch {
	case errors.Is(reason, syscall.EMFILE):
		why = "there are too many watchers already; on Linux, the limit is fs.inotify.max_user_instances"
	case errors.Is(reason, syscall.ENOSPC):
		why = "there are too many watches already; on Linux, the limit is fs.inotify.max_user_watches"
	}
	return "The system does not tell when journals change: " + why + ".\nThey are looked at four times a second instead. Nothing is lost."
}

// remedy is what helps against what the system said.
func remedy(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return "\nCheck who may read and write there, or name another place with --home DIR."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "\nThe disk is full: make room, or name another place with --home DIR."
	}
	return ""
}

// usageHint is where to find help on the command that was meant, as far as one
// was.
func usageHint(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		return fmt.Sprintf("For help, type: %s --help", parse.Context.Selected().FullPath())
	}
	return "For help, type: agent-chatter --help"
}

// sentence is an error as people read it: one line of harmless characters, or
// several where it has them. It begins with a capital, unless it begins with
// the name of a file, which is kept as it is.
func sentence(err error) string {
	text := safe(err.Error())
	word := strings.TrimRight(strings.SplitN(text, " ", 2)[0], ":,")
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func greetingText(t *coordinator.Team) string {
	return fmt.Sprintf("You talk to the team %s: %s. /help shows what you can type.", safeLine(t.DisplayName), memberNames(t))
}

func interruptedTurnText(member string) string {
	return fmt.Sprintf("%s was interrupted in the last turn. To ask again, type: /retry", safeLine(member))
}

func promptCutText(member string, messages int) string {
	return fmt.Sprintf("%s takes no longer prompt: the oldest %d messages of the conversation were left out of it.", safeLine(member), messages)
}

func messageCutText(member string, bytes int) string {
	return fmt.Sprintf("%s takes no longer prompt: %d bytes in the middle of the message were left out of it. In the session it is whole. To have all of it read, name a file instead of quoting it.", safeLine(member), bytes)
}

// secretsReplacedText says that what was said is kept without its secrets.
func secretsReplacedText(kinds []string, n int) string {
	it := "was"
	if n > 1 {
		it = "were"
	}
	return fmt.Sprintf("%s %s replaced before anything was kept or passed on: %s. To keep secrets, write \"redaction\": \"off\" into config.json.", count(n, "secret"), it, safeLine(strings.Join(kinds, ", ")))
}

// exportedWithoutText says which secrets did not leave.
func exportedWithoutText(kinds []string) string {
	return fmt.Sprintf("Secrets were replaced in what was written: %s. The sessions themselves stay as they are.", safeLine(strings.Join(kinds, ", ")))
}

// importedText says what became of a file that is gone on with.
func importedText(done imported) string {
	return fmt.Sprintf("Session %s: %s, %d of %s from %s", done.ID, done.Action, done.Taken, count(done.Total, "message"), safeLine(done.Path))
}

// importFirstText says how to go on with what another program wrote.
func importFirstText(path, format string) string {
	return fmt.Sprintf("%s is a transcript of %s. To make a session of it, type: agent-chatter sessions import %s --team ID", safeLine(path), format, shellWord(path))
}

// severalInBundleText says that there is more than one session to go on with.
func severalInBundleText(path string, n int) string {
	return fmt.Sprintf("%s has %s, which are imported now. To go on with one, name it: agent-chatter chat --resume ID", safeLine(path), count(n, "session"))
}

// permissionText is what became of something that an agent asked leave for.
func permissionText(p projection.PermissionAnswered) string {
	answer := "refused"
	if p.Allowed {
		answer = "allowed"
	}
	return fmt.Sprintf("%s by %s: %s", answer, p.By, safeLine(cmp.Or(p.Title, p.Name)))
}

// textEscapeStops stands behind what an agent does.
const textEscapeStops = "  (Esc interrupts)"

// missingFileText says that there is no session in the file that was named.
func missingFileText(what, path string) string {
	return fmt.Sprintf("There is no %s %s.\nTo see which sessions there are, type: agent-chatter sessions", what, safeLine(path))
}

// parseText is what is wrong with a command line.
func parseText(err error) string {
	return noValue.ReplaceAllString(sentence(err), "a value is missing")
}

// noValue is how the parser calls the end of the line.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)$`)

// noDirectoryHereText says that the working directory is gone.
func noDirectoryHereText(err error) string {
	return "The directory that you are in cannot be found any more: " + safeLine(err.Error()) + "\nTo go to another, type: cd"
}

// trashedText says where a deleted session is, and how it comes back.
func trashedText(id, trash string) string {
	return fmt.Sprintf("Session %s is in the trash: %s\nTo take it out again, type: agent-chatter sessions restore %[1]s", id, safeLine(trash))
}

// typedInChat is what helps, as it is typed in a conversation.
func typedInChat(help string) string {
	if before, ok := strings.CutSuffix(help, "type: agent-chatter sessions"); ok {
		return before + "type: /sessions"
	}
	return strings.Replace(help, "type: agent-chatter team list", "type: /team list", 1)
}

// thinkingText says that nothing is heard of an agent yet.
func thinkingText(member string) string { return safeLine(member) + " is thinking" }

// usingText says which tool an agent waits for.
func usingText(member, tool string) string {
	return fmt.Sprintf("%s uses %s", safeLine(member), safeLine(tool))
}

// noAnswerFromText says why an agent did not answer, and to somebody who can type, what to.
func noAnswerFromText(member, reason string, typing bool) string {
	reason = strings.TrimPrefix(reason, member+" failed: ")
	text := fmt.Sprintf("%s did not answer: %s", safeLine(member), safe(reason))
	if typing && !strings.Contains(reason, "/retry") {
		text += "\nTo ask again, type: /retry"
	}
	return text
}

const textAnswerAgain = "Press Y to allow it, N to refuse it, or Escape to cancel the turn."

// shownInput is how many bytes of what a tool would be given a question shows.
const shownInput = 1000

// askLeaveText asks whether an agent may do something.
func askLeaveText(member string, asked agent.Permission) string {
	input := ""
	if asked.Input != nil {
		input = string(asked.Input)
		if len(input) > shownInput {
			input = fmt.Sprintf("%s… (%d bytes)", input[:shownInput], len(input))
		}
		input = "\n  " + safeLine(input)
	}
	return fmt.Sprintf("%s asks whether it may do this: %s%s\n[Y] Allow  [N] Refuse  [Esc] Cancel the turn",
		safeLine(member), safeLine(cmp.Or(asked.Title, asked.Tool)), input)
}

// orphansEndedText says what became of processes that nobody looked after any more.
func orphansEndedText(n int) string {
	return fmt.Sprintf("Processes that an agent had left running when this conversation broke off were ended: %d.", n)
}

func notPermittedText(member, what string) string {
	return fmt.Sprintf("%s asked to do this, and its permissions do not allow it: %s", safeLine(member), safeLine(what))
}

func nobodyToAskText(member, what string) string {
	return fmt.Sprintf("%s asked to do this, and was refused, because nobody is there to be asked: %s\nTo allow all that it asks for, set its \"permissions\" to \"allow\".", safeLine(member), safeLine(what))
}

// followingText says that a session is watched.
func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s). Nothing is written to it; Ctrl+C ends this.", safeLine(id), safeLine(title))
}

// unsaidText says that messages came behind the end of a run.
func unsaidText(n int) string {
	return fmt.Sprintf("Not said, because the agents have had their turns of this run: %s.", count(n, "message"))
}

// pinnedText says what to do first with a session that is to be deleted.
func pinnedText(id string) string {
	return fmt.Sprintf("Session %s is pinned, and was not deleted.\nTo delete it all the same, type: agent-chatter sessions unpin %[1]s; agent-chatter sessions delete %[1]s", id)
}

// changedText says what of a member is not as it was in the session.
func changedText(member, what, from, to string) string {
	return fmt.Sprintf("%s's %s was %s in this session, and is %s now.", safeLine(member), what, safeLine(cmp.Or(from, "not named")), safeLine(cmp.Or(to, "not named")))
}

// olderText says how many messages are not shown again, and where they are.
func olderText(n int, session string) string {
	return fmt.Sprintf("… %s not shown here. To read all, type: agent-chatter replay %s", count(n, "older message"), shellWord(session))
}

// taskSetText says which task the agents are told from now on.
func taskSetText(task string) string { return "The team's task is now: " + safe(task) }

// renamedText says how the running session is called.
func renamedText(title string) string { return "This session is now called " + safeLine(title) + "." }

// forkedText says which session is the copy.
func forkedText(id, fork string) string {
	return fmt.Sprintf("Session %s is a copy of %s, which stays as it is.", fork, id)
}

// partingText says where two sessions part.
func partingText(a, b string, p projection.Parting) string {
	if p.A == 0 {
		return fmt.Sprintf("%s and %s have nothing in common.", a, b)
	}
	return fmt.Sprintf("%s and %s have %s in common, up to event %d of the one and %d of the other.", a, b, count(p.Messages, "message"), p.A, p.B)
}

// aloneText says how much a session has alone.
func aloneText(mark, id string, messages int) string {
	if messages == 0 {
		return fmt.Sprintf("Only %s (%s): nothing.", mark, id)
	}
	return fmt.Sprintf("Only %s (%s): %s.", mark, id, count(messages, "message"))
}

// mergedText says what a session was made of.
func mergedText(a, b string, m catalog.Merged) string {
	return fmt.Sprintf("Session %s has %s that both had, %d of %s and %d of %s, which stay as they are.", m.ID, count(m.Common, "message"), m.A, a, m.B, b)
}

func mergeTeamsText(a, b catalog.Session) string {
	return fmt.Sprintf("Session %s is of the team '%s' and %s of '%s': only sessions of one team can be merged.", a.ID, safeLine(a.TeamID), b.ID, safeLine(b.TeamID))
}

// askedAgainText says where the new answers are.
func askedAgainText(id, again string) string {
	return fmt.Sprintf("The new answers (>) are in session %s. Session %s (<) stays as it is.", again, id)
}

// notReachedText says that a session has no such place.
func notReachedText(id, place string) string {
	return fmt.Sprintf("Session %s has nothing at %s. To see what it has, type: agent-chatter tail %[1]s", id, safeLine(place))
}

// promptText shows everything that an agent is told.
func promptText(member, prompt string) string {
	return fmt.Sprintf("──── %s is told (%s):\n%s\n──── That is all.\n", safeLine(member), count(len(prompt), "byte"), strings.TrimSuffix(safe(prompt), "\n"))
}

// noticeText says what was decided about who speaks.
func noticeText(n coordinator.Notice) string {
	names := safeLine(strings.Join(n.Names, ", "))
	switch n.Kind {
	case coordinator.RoundLimit:
		return fmt.Sprintf("The agents have had the %s that the team allows them between two messages of yours. Next would have been: %s.\nTo let them go on, type a message, such as: go on [NEXT: %s]", count(n.Limit, "turn"), names, safeLine(n.Names[0]))
	case coordinator.RunLimit:
		return fmt.Sprintf("The agents have had their %s of this run. Next would have been: %s.", count(n.Limit, "turn"), names)
	case coordinator.Round:
		return fmt.Sprintf("%s has turn %d of %d until your next message: %d left.", names, n.Count, n.Limit, n.Limit-n.Count)
	case coordinator.RunRound:
		return fmt.Sprintf("%s has turn %d of %d of this run: %d left.", names, n.Count, n.Limit, n.Limit-n.Count)
	case coordinator.QueueFull:
		return fmt.Sprintf("%d are waiting already. Not asked: %s.\nTo see who waits, type /queue; to clear it, write [DROP: ALL].", n.Limit, names)
	case coordinator.QueueDemoted:
		return fmt.Sprintf("One message asks for more than %d answers. These come last: %s.", n.Limit, names)
	case coordinator.QueueEmptied:
		return fmt.Sprintf("Not asked any more: %s. To ask, write [NEXT: name].", names)
	case coordinator.NotHuman:
		return fmt.Sprintf("%s wrote [FROM: …], which only people can. It means nothing.", names)
	case coordinator.TaskRefused:
		return fmt.Sprintf("%s wrote [TEAM_TASK: …] and may not set the task. It stays as it is.\nTo set it yourself, type /task TEXT; to allow it, set the member's \"allowTeamTask\" to true in the team file.", names)
	case coordinator.TaskDone:
		return fmt.Sprintf("%s says that the task is done.", names)
	case coordinator.TaskCut:
		return fmt.Sprintf("The task is longer than %d bytes: agents are told that much of it. To tell them more, put it into a file and name the file.", n.Limit)
	}
	return names
}

// whoSpeaksText says how to tell who types.
func whoSpeaksText(e *coordinator.WhoSpeaksError) string {
	return fmt.Sprintf("The team has several people, and nobody said who speaks: %s.\nNothing was sent. Begin the message with your name, as in: [FROM: %s] hello", safeLine(strings.Join(e.Humans, ", ")), safeLine(e.Humans[0]))
}

// roundsText says where the turns of agents stand; "" when they have no limit.
func roundsText(had, allowed int) string {
	if allowed == 0 {
		return ""
	}
	return fmt.Sprintf("Since your last message agents have had %s of %d: %d left.", count(had, "turn"), allowed, max(0, allowed-had))
}

// resumingText says from where a session goes on.
func resumingText(updated time.Time, turns, had, allowed int) string {
	text := fmt.Sprintf("Resuming session from %s, after %s of agents.", updated.Local().Format("2006-01-02 15:04"), count(turns, "turn"))
	return strings.TrimSpace(text + " " + roundsText(had, allowed))
}

// queueText says who speaks next and why, and what was decided last.
func queueText(waiting []coordinator.Queued, decided []projection.QueueChange) string {
	var b strings.Builder
	if len(waiting) == 0 {
		b.WriteString("Nobody waits; you are next.\n")
	} else {
		b.WriteString("After you:\n")
	}
	for i, w := range waiting {
		fmt.Fprintf(&b, "  %d. %s, to %s %s", i+1, safeLine(w.Member.Name), intentText(w.Intent), safeLine(w.AskedBy))
		if words := safeLine(firstWords(w.Text)); words != "" {
			b.WriteString(": " + words)
		}
		b.WriteString("\n")
	}
	if len(decided) > 0 {
		b.WriteString("Decided since your last message:\n")
	}
	for _, d := range decided {
		fmt.Fprintf(&b, "  %s was %s: %s\n", safeLine(d.MemberID), safeLine(string(d.Action)), safeLine(d.Reason))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// intentText is what somebody waits for.
func intentText(i coordinator.Intent) string {
	switch i {
	case coordinator.IntentInterrupt:
		return "interrupt (P1) for"
	case coordinator.IntentExtend:
		return "add to (P3)"
	}
	return "answer"
}

// firstWords is the beginning of a message, to know it by.
func firstWords(text string) string {
	const most = 50
	if r := []rune(text[:min(len(text), 4*most+4)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func resumeCommandText(how string) string {
	return "To go on: agent-chatter chat " + how
}

// setAsideText says what became of bytes that a crash or a failed write had left.
func setAsideText(r journal.Recovered) string {
	switch {
	case r.Aside == "" && r.Bytes > 0:
		return fmt.Sprintf("A line of which only %d bytes had been written is whole now: %s", r.Bytes, safeLine(r.Reason))
	case r.Aside == "":
		return fmt.Sprintf("The journal was written anew: %s", safeLine(r.Reason))
	}
	return fmt.Sprintf("%d bytes of an unfinished write were set aside in %s: %s", r.Bytes, safeLine(r.Aside), safeLine(r.Reason))
}

// restoreQuestion is asked when a team with an earlier session is deployed.
func restoreQuestion(r projection.Row, now time.Time) string {
	return fmt.Sprintf("Found previous session (%s, %s)\n  %s\n[R] Resume  [N] Start New",
		longAge(r.UpdatedAt, now), count(r.MessageCount, "message"), safeLine(r.Summary()))
}

// recentText offers sessions to be resumed.
// On a terminal of so many columns each takes one line; 0: it may take more.
func recentText(sessions []catalog.Session, now time.Time, columns int) string {
	short := catalog.ShortIDs(sessions)
	var b strings.Builder
	b.WriteString("Recent Sessions:\n")
	for i, s := range sessions {
		before, behind := fmt.Sprintf("  %d. [%s] ", i+1, short[s.ID]), fmt.Sprintf(" (%s)", age(s.UpdatedAt, now))
		title := safeLine(s.Title)
		if columns > 0 {
			title = runewidth.Truncate(title, max(columns-1-runewidth.StringWidth(before+behind), leastShown), "…")
		}
		b.WriteString(before + title + behind + "\n")
	}
	b.WriteString("Enter number or session ID to resume (or press Enter to cancel):")
	return b.String()
}

// notRecordedText says that retention did something and could not write it down.
func notRecordedText(err error) string {
	return fmt.Sprintf("⚠️  %s\n   What is listed above is done all the same.", sentence(err)) + remedy(err)
}

// listingText says how much of a list was read.
func listingText(done, of int) string { return fmt.Sprintf("Reading sessions: %d of %d", done, of) }

func undatedText(id string) string {
	return fmt.Sprintf("Since when session %s is in the trash is not known: it counts from now on.", id)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// reindexedDamagedText says how to find out more of the damaged ones.
func reindexedDamagedText(n int) string {
	return fmt.Sprintf("%d damaged: agent-chatter verify shows where", n)
}

// notExportedText says how many sessions an export of all has left out.
func notExportedText(left, of int) string {
	return fmt.Sprintf("Not exported, because it cannot be read: %d of %s. All others are.", left, count(of, "session"))
}

// someAre is how many of all are, such as "1 of 3 sessions is".
func someAre(n, of int, noun string) string {
	are := "are"
	if n == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %s %s", n, count(of, noun), are)
}

// progressText is how far a journal has come to the archive or back. What matters comes
// first: a narrow terminal shows no more.
func progressText(p journal.Progress) string {
	what := "Archiving"
	if p.Back {
		what = "Bringing back"
	}
	const width = 20
	done := int(width * p.Done / max(1, p.Total))
	return fmt.Sprintf("%s %s%s %d%%  session %s", what, strings.Repeat("━", done), strings.Repeat("─", width-done), 100*p.Done/max(1, p.Total), safeLine(p.ID))
}

// longAge is how long ago something was, in words.
func longAge(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return count(int(d/time.Hour), "hour") + " ago"
	}
	return count(int(d/(24*time.Hour)), "day") + " ago"
}

// tornText says what a crash left behind.
func tornText(id string, t journal.Torn) string {
	readable := ""
	if t.FirstSeq > 0 {
		readable = fmt.Sprintf(", in which events up to %d can be read and do not check", t.LastSeq)
	}
	return fmt.Sprintf("Session %s has %d bytes of an unfinished write at its end (byte %d)%s, as a crash leaves them: they are set aside by the next message.", id, t.Bytes, t.Offset, readable)
}

// unsearchedText says that a session was not searched, or not to its end.
func unsearchedText(err error) string {
	var of *search.Error
	if !errors.As(err, &of) {
		return safeLine(err.Error())
	}
	return fmt.Sprintf("⚠️  Session %s was not searched to its end: %s\n   To see what is wrong, type: agent-chatter verify %[1]s", of.Session.ID, safeLine(of.Err.Error()))
}

// keepsTeamText says that a file tells itself whose session it has.
func keepsTeamText(path string) string {
	return fmt.Sprintf("%s says itself which team its sessions are of: --team is for transcripts of other programs.", safeLine(path))
}

// pipeText says that what is to be imported cannot be read twice.
func pipeText(path string) string {
	return fmt.Sprintf("%s is no file, but a pipe or a device, which cannot be read twice. Write what comes out of it to a file, and import that.", safeLine(path))
}

func directoryText(path string) string {
	return fmt.Sprintf("There is a directory %s: name a journal in it, whose name ends in .jsonl, or a snapshot.", safeLine(path))
}

// aTeamText is said of a file that holds no session.
func aTeamText(path string) string {
	return fmt.Sprintf("%s is the configuration of a team, not a session. To talk to the team, type: agent-chatter chat -t %s", safeLine(path), shellWord(path))
}

func noFileText(path string) string {
	return fmt.Sprintf("There is no file or directory %s. Name sessions that agent-chatter or another program has written, or directories of them.", safeLine(path))
}

func noFileToWriteText(path string) string {
	return fmt.Sprintf("%s is no file. A chat writes to files alone; to write elsewhere, type in a shell: agent-chatter sessions export latest -o %s", safeLine(path), shellWord(path))
}

// nothingInText says what is looked for in a directory.
func nothingInText(dir string) string {
	return fmt.Sprintf("There is no session in %s, or in the directories below it: none of their files ends in .json, .jsonl or .bundle. To bring archived ones along, type there: agent-chatter sessions export --all --format bundle -o all.bundle", safeLine(dir))
}

func noDirectoryText(dir string) string {
	return fmt.Sprintf("There is no directory %s, and nothing was written. To have it made, write a / behind it: the file gets a name of its own in it.", safeLine(dir))
}

// notSearchedText ends a search that met damage.
func notSearchedText(damaged, of int) string {
	return fmt.Sprintf("%d of %s: not searched to the end, because of damage.", damaged, count(of, "session"))
}

// mendedText says that a cache was wrong, and what became of it.
func mendedText(id, what string, err error) string {
	if err != nil {
		return fmt.Sprintf("Session %s: %s, and could not be removed: %s. It is only a cache: remove it, and it is made anew.", id, what, safeLine(err.Error()))
	}
	return fmt.Sprintf("Session %s: %s. It was removed; it is only a cache, and made anew when it is needed.", id, what)
}

// emptyText says that a file has a journal's name and nothing that could be read.
func emptyText(info journal.Info) string {
	return fmt.Sprintf("%s is no session: none of its %d bytes can be read. A power cut leaves this of a session that was just begun, or it is somebody else's file. It was left alone.", info.Path(), info.Size)
}

// strangerText says that a file is none of ours.
func strangerText(path string) string {
	return fmt.Sprintf("%s is none of our files, and was left alone.", safeLine(path))
}

// age is how long ago something was, as lists show it.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/(24*time.Hour))
}

// networkText is said where a lock may not be all that it seems.
func networkText(dir, kind string) string {
	f := sharedText(dir, kind)
	return "⚠️  " + f.What + ".\n" + f.Help
}

// What doctor finds.
const (
	textNotShared   = "no other machine shares the files, as far as this one knows"
	textLocksHold   = "they hold; one that a crashed program has left holds nobody up"
	textNoConfig    = "there is none, and none is needed"
	textConfig      = "it is valid"
	textNoSessions  = "there are none yet"
	textNoLeftovers = "there are no unfinished files"
	textNoTrash     = "it is empty"
	textMakeRoom    = "To archive what is old, type: agent-chatter compact\nTo see what could be deleted, type: agent-chatter sessions clean --dry-run"
)

func wrongText(n int) string {
	if n == 1 {
		return "1 thing is wrong."
	}
	return fmt.Sprintf("%d things are wrong.", n)
}

func homeText(home string) finding { return fine(safeLine(home)) }

func homeToComeText(home string) finding {
	return note(safeLine(home)+" does not exist yet; nothing was written to try it out", "The first message of a chat makes it.")
}

func homeWrongText(err error) finding {
	return wrong(sentence(err), "Check who may read and write there, or name another place with --home DIR.")
}

func sharedText(dir, kind string) finding {
	return note(fmt.Sprintf("%s may be shared over a network (%s): locks may not hold between machines", safeLine(dir), safeLine(kind)),
		"Talk in a session on one machine at a time, or keep the sessions on a disk of this machine with --home DIR.")
}

func privateText() finding { return fine("what is there is yours, and only you can read it") }

// openText says who else gets at so many files, one of which is named.
func openText(home string, n int, who, path string, mode fs.FileMode) finding {
	return wrong(fmt.Sprintf("%s open to %s, such as %s (%04o)", areFiles(n), who, safeLine(path), mode.Perm()),
		"To close them, type: chmod -R go= "+quoted(home))
}

// hiddenText is openText where nobody gets to the files.
func hiddenText(home string, n int, path string, mode fs.FileMode) finding {
	return note(fmt.Sprintf("nobody else gets in, but %s would be open if the home were, such as %s (%04o)", files(n), safeLine(path), mode.Perm()),
		"To close them, type: chmod -R go= "+quoted(home))
}

func foreignText(home string, n, owner int, path string) finding {
	return wrong(fmt.Sprintf("%s not yours, such as %s, of user %d", areFiles(n), safeLine(path), owner),
		"To make them yours, type: sudo chown -R $(id -u) "+quoted(home))
}

func closedText(home string, n int, path string, mode fs.FileMode) finding {
	return wrong(fmt.Sprintf("%s closed to yourself, such as %s (%04o)", areFiles(n), safeLine(path), mode.Perm()),
		"To open them, type: chmod -R u+rwX "+quoted(home))
}

func files(n int) string {
	if n == 1 {
		return "1 file or directory"
	}
	return fmt.Sprintf("%d files and directories", n)
}

func areFiles(n int) string {
	if n == 1 {
		return files(n) + " is"
	}
	return files(n) + " are"
}

// quoted is a path as it is typed in a shell.
func quoted(path string) string {
	return "'" + strings.ReplaceAll(safeLine(path), "'", `'\''`) + "'"
}

// shellWord is quoted where it has to be.
func shellWord(path string) string {
	if plainWord.MatchString(path) {
		return path
	}
	return quoted(path)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

func unreadableText(err error) finding {
	return wrong(sentence(err), "Check who may read it, and whether the disk is sound.")
}

func noLockText(err error) finding {
	return wrong("no lock can be taken, so that nothing can be saved: "+safeLine(err.Error()),
		"Keep the sessions on a disk that can lock, with --home DIR.")
}

func lockTwiceText(home string) finding {
	return wrong("a lock can be taken twice, so that two programs may write to one session",
		fmt.Sprintf("Talk in a session of %s in one program at a time, or keep the sessions elsewhere with --home DIR.", safeLine(home)))
}

func diskWrongText(err error) finding {
	help := strings.TrimPrefix(remedy(err), "\n")
	if help == "" {
		help = "Nothing can be saved there. Check the disk, or name another place with --home DIR."
	}
	return wrong("a file cannot be written, synced, renamed and removed: "+safeLine(err.Error()), help)
}

func diskText(caseMatters bool) finding {
	if caseMatters {
		return fine("files are written, synced and renamed; case matters in their names")
	}
	return fine("files are written, synced and renamed; case does not matter in their names, and no two teams share a directory all the same")
}

// spaceText says how much is left.
func spaceText(bytes, inodes uint64) string {
	left := bytesText(bytes) + " are free"
	if inodes != math.MaxUint64 {
		left += fmt.Sprintf(", and %d inodes", inodes)
	}
	return left
}

func noSpaceText(err error) finding {
	return note("how much is free is not known: "+safeLine(err.Error()), "")
}

// bytesText is a number of bytes as people read it.
func bytesText(n uint64) string {
	if n < 1<<10 {
		return count(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if size /= 1 << 10; size < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

func watchesText(instances, watches usage) finding {
	return fine(fmt.Sprintf("%d of %d inotify instances and %d of %d watches are used", instances.used, instances.limit, watches.used, watches.limit))
}

func fewWatchesText(instances, watches usage) finding {
	return note(watchesText(instances, watches).What+"; without them tail -f looks four times a second instead of being woken",
		fmt.Sprintf("To have more, type: sudo sysctl fs.inotify.max_user_instances=%d fs.inotify.max_user_watches=%d", 2*instances.limit, 2*watches.limit))
}

func configWrongText(err error) finding {
	return wrong(sentence(err), textCorrectConfig)
}

func registryWrongText(err error) finding {
	return wrong(sentence(err), "Correct it, or move it away: then no agent is registered.")
}

func sessionsText(dir string, n int) finding {
	return finding{State: stateOK, What: fmt.Sprintf("%s in %s", count(n, "session"), safeLine(dir)), Help: "To check every line, type: agent-chatter verify"}
}

func damagedText(s catalog.Session) finding {
	return wrong(fmt.Sprintf("session %s is damaged: %s", s.ID, safeLine(s.Damaged)), damageHelp(s, nil))
}

func leftoversText(home string, n int, bytes int64) finding {
	return note(fmt.Sprintf("%s that a crash has left (%s); nobody reads them", count(n, "unfinished file"), bytesText(uint64(bytes))),
		fmt.Sprintf("To remove them, when no agent-chatter is running, type: find %s -name '*.tmp' -type f -delete", quoted(home)))
}

func trashText(n int, bytes int64) finding {
	return finding{State: stateOK, What: fmt.Sprintf("%s (%s)", count(n, "session"), bytesText(uint64(bytes))), Help: "To see what would be removed from it, and what would come into it, type: agent-chatter sessions clean --dry-run"}
}

func agentsText(n int) finding {
	return fine(fmt.Sprintf("%s for all teams; the demo team needs no program", count(n, "registered agent")))
}

func noProgramText(home string, missing coordinator.Agent, err error) finding {
	return wrong(fmt.Sprintf("the agent %s cannot be run: %s", safeLine(missing.Name), safeLine(err.Error())),
		fmt.Sprintf("Install %s, or correct its command in %s", safeLine(missing.Command), safeLine(filepath.Join(home, "agents", "config.json"))))
}

// The texts of agents.
const (
	textNoAgents        = "No agent is registered. To find those that are installed, type: agent-chatter agents scan"
	textScanRegister    = "To make them known to all teams, type: agent-chatter agents scan --register"
	textAskingVersions  = "Asking the programs for their versions"
	textNoProgramNeeded = "it needs no program"
	textLoggedIn        = "it is logged in"
	textNothingMissing  = "it answers, so that no login is missing"
	textLoginUnknown    = "only an answer shows whether it is logged in"
)

func noAgentText(err error) string {
	return sentence(err) + "\nTo see which there are, type: agent-chatter agents list"
}

func registeredText(r coordinator.Agent) string {
	return fmt.Sprintf("%s is registered. To try it out, type: agent-chatter agents verify %s", safeLine(r.Name), shellWord(r.Name))
}

func alreadyRegisteredText(r coordinator.Agent) string {
	return fmt.Sprintf("The agent %s is registered already: %s\nTo replace it, add --replace before the name.", safeLine(r.Name), commandLine(r))
}

func unregisteredText(r coordinator.Agent) string {
	return fmt.Sprintf("%s is not registered any more; nothing was uninstalled. It was: %s", safeLine(r.Name), commandLine(r))
}

func noCommandText(name string) string {
	var names []string
	for _, k := range knownAgents() {
		names = append(names, k.Name)
	}
	return fmt.Sprintf("Name the program of %s behind its name. Without one, these are known: %s.", safeLine(name), strings.Join(names, ", "))
}

// scannedText is a row of a scan.
func scannedText(s scanned) string {
	if !s.Found {
		return fmt.Sprintf("%s\t%s\tnot found\tto install it, type: %s", s.Name, s.DisplayName, s.Install)
	}
	state := "not registered"
	if s.Registered {
		state = "registered"
	}
	if s.Broken != "" {
		state += ", cannot be started: " + safeLine(s.Broken)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s, %s", s.Name, s.DisplayName, safeLine(orUnknown(s.Version)), safeLine(s.Path), state)
}

func tryingOutText(name string) string { return "Trying out " + safeLine(name) }

func executableText(path, version string) finding {
	if version != "" {
		version = ", version " + version
	}
	return fine(safeLine(path + version))
}

func noExecutableText(err *agent.StartError) finding {
	if err.Command == "" {
		return wrong(sentence(err), "")
	}
	return wrong(safeLine(fmt.Sprintf("%q cannot be started: %v", err.Command, err.Err)), sentence(errors.New(err.Help())))
}

func noEngineText(name string) finding {
	return wrong(fmt.Sprintf("there is no engine %q", safeLine(name)), "Correct the member's engine; a newer agent-chatter may know it.")
}

func unsetText(names []string) finding {
	return wrong("not set in your environment: "+safeLine(strings.Join(names, ", ")), "Set it before you start the chat, such as: export "+safeLine(names[0])+"=…")
}

func notLoggedInText(login string) finding {
	return wrong("it says that it is not logged in", "To "+strings.TrimPrefix(login, "to "))
}

// noWordOnLoginText says why a program has not said whether it is logged in.
func noWordOnLoginText(err error) string {
	return "it has not said whether it is logged in: " + safeLine(err.Error())
}

// anyhowText is said of an agent that answers though it does not look like it could.
func anyhowText(what string) finding {
	return note(what+"; it answers all the same", "")
}

// noAnswerText says why an agent did not answer.
func noAnswerText(err error) finding {
	var failure *agent.FailureError
	var start *agent.StartError
	switch {
	case errors.As(err, &failure):
		help := strings.ReplaceAll(failure.Help, "type /retry", "type: agent-chatter agents verify")
		return wrong(safeLine(failure.Says), sentence(errors.New(help)))
	case errors.As(err, &start):
		return noExecutableText(start)
	}
	return wrong(safeLine(err.Error()), "Run it by hand to see more; --timeout gives it more time.")
}

func answerText(answer string, took time.Duration) finding {
	return fine(fmt.Sprintf("it answered “%s” in %.1f s", safeLine(answer), took.Seconds()))
}

func notWorkingText(bad, of int) string {
	return fmt.Sprintf("%d of %s did not work.", bad, count(of, "agent"))
}

// The texts of teams.
const (
	textNothingWritten = "Nothing was written."
	textPlainName      = "A name has letters, digits, '-' and '_' only."
	textRounds         = "That is a number, 0 or more."
)

func unsetNoticeText(m coordinator.Member, names []string) string {
	return fmt.Sprintf("%s goes without what is not set in your environment: %s", safeLine(m.Name), safeLine(strings.Join(names, ", ")))
}

func noPermissionsText(m coordinator.Member) string {
	return fmt.Sprintf("%s may do whatever its program does: the engine command knows no permissions.", safeLine(m.Name))
}

func inPlainText(m coordinator.Member, names []string) string {
	return fmt.Sprintf("%s has secrets that everybody can read who can read the file: %s\nTo take them from your environment, write \"$NAME\" in their place.", safeLine(m.Name), safeLine(strings.Join(names, ", ")))
}

func noBaseDirText(m coordinator.Member) string {
	return fmt.Sprintf("%s works in a directory that is not there: %s", safeLine(m.Name), safeLine(m.BaseDir))
}

// listedText is a row of the list of teams.
func listedText(row listedTeam) string {
	where := safeLine(row.Path)
	if row.Path == "" {
		where = "built in"
	}
	members := safeLine(strings.Join(row.Members, ", "))
	if !row.Valid {
		members = "not valid: agent-chatter team validate " + quoted(row.Path)
	}
	if row.Hidden {
		where += ", hidden by one of the same name"
	}
	return fmt.Sprintf("%s\t%s\t%s", safeLine(row.Name), members, where)
}

// shownTeamText is a team as it is understood.
func shownTeamText(t shownTeam) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, safeLine(value))
		}
	}
	line("team", t.Name)
	line("description", t.Description)
	line("file", t.Path)
	line("instructions", t.InstructionFile)
	line("turns of agents before you are asked again", allowedRoundsText(t.MaxRounds))
	line("time for one turn", (time.Duration(t.MaxAgentResponseTime) * time.Millisecond).String())
	for _, m := range t.Members {
		fmt.Fprintf(&b, "\n%s (%s), %s\n", safeLine(m.Name), safeLine(m.DisplayName), m.Type)
		line("  role", m.Role)
		line("  engine", m.Engine)
		line("  command", strings.Join(append([]string{m.Command}, m.Args...), " "))
		line("  model", m.Model)
		line("  permissions", m.Permissions)
		line("  endpoint", m.Endpoint)
		line("  key in", m.APIKeyEnv)
		line("  works in", m.BaseDir)
		line("  instructions", m.InstructionFile)
		line("  environment", strings.Join(m.Env, ", "))
		line("  not set", strings.Join(m.Unset, ", "))
	}
	return b.String()
}

func allowedRoundsText(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprint(n)
}

func writtenTeamText(name string) string {
	return fmt.Sprintf("To talk to the team, type: agent-chatter chat -t %s\nTo try its agents out, type: agent-chatter agents verify -t %[1]s", shellWord(name))
}

func fileThereText(path string) string {
	return fmt.Sprintf("There is a file already: %s\nName another: agent-chatter team init NAME", safeLine(path))
}

func agentChoiceText(c choices) string {
	text := "Agents that are there: " + safeLine(strings.Join(c.found, ", "))
	if len(c.more) > 0 {
		text += "; others: " + safeLine(strings.Join(c.more, ", "))
	}
	return text
}

func unknownAgentsText(unknown, known []string) string {
	return fmt.Sprintf("There is no agent %s. Those that there are: %s. To add another, type: agent-chatter agents register NAME PROGRAM", safeLine(strings.Join(unknown, ", ")), safeLine(strings.Join(known, ", ")))
}

func twiceText(name string) string {
	return fmt.Sprintf("Two members would be called %s: name each agent once", safeLine(name))
}
