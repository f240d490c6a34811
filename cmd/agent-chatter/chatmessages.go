package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

func greetingText(t *team.Team) string {
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
	return fmt.Sprintf("%s is a transcript of %s. To make a session of it, type: agent-chatter sessions import %s --team ID", safeLine(path), format, hint.Quote(path))
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
	return fmt.Sprintf("… %s not shown here. To read all, type: agent-chatter replay %s", count(n, "older message"), hint.Quote(session))
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
func mergedText(a, b string, m sessioncopy.Merged) string {
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
func intentText(i marker.Intent) string {
	switch i {
	case marker.Interrupt:
		return "interrupt (P1) for"
	case marker.Extend:
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
