package view

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func promptCutText(member string, messages int) string {
	return fmt.Sprintf("%s's context window is full; dropped the oldest %d messages.", tty.SafeLine(member), messages)
}

// windowCutText is for a prompt that has only the newest messages, or a new session of an agent that had one. A reason
// is that of projection.AgentAttached.
func windowCutText(member, reason string, shown, all int) string {
	why := map[string]string{
		projection.ReasonGone:         "its program no longer has its session",
		projection.ReasonBusy:         "another process uses its session",
		projection.ReasonCopied:       "its session belongs to the conversation that this one was copied from",
		projection.ReasonHost:         "its session is on another machine or in another home",
		projection.ReasonHistory:      "the messages that it has seen are not those of this conversation",
		projection.ReasonInstructions: "its instructions changed",
		projection.ReasonSecrets:      "its session has what is a secret now",
		projection.ReasonSettings:     "its program, directory or environment changed",
		projection.ReasonFull:         "its session is too long",
		projection.ReasonUnsupported:  "its program cannot continue a session",
	}[reason]
	messages := fmt.Sprintf("the newest %d of %d messages", shown, all)
	if shown == all {
		messages = fmt.Sprintf("all %d messages", all)
	}
	if why == "" {
		return fmt.Sprintf("%s gets %s.", tty.SafeLine(member), messages)
	}
	return fmt.Sprintf("%s starts a new session with %s (%s).", tty.SafeLine(member), messages, why)
}

// summarizingText is shown while an agent summarizes what is no longer in the prompts of a member.
func summarizingText(member string, messages int) string {
	return fmt.Sprintf("Summarizing %s for %s.", app.Count(messages, "older message"), tty.SafeLine(member))
}

func messageCutText(member string, bytes int) string {
	return fmt.Sprintf("%s's context window is full; dropped %d bytes from the middle of the message.\n"+
		"The session has the complete message. For long texts, name a file instead of quoting it.",
		tty.SafeLine(member), bytes)
}

// Retry is the slash command that repeats a turn.
var Retry = app.Help{Purpose: "retry", Command: hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}}

// turnErrorText returns why an agent did not reply and the commands that help. shown is the reason that the transcript
// has shown; "" if it shows none.
func turnErrorText(e *coordinator.TurnError, shown string) app.Message {
	if e.Reason == projection.Cancelled {
		text := displayName(e.Member) + " was interrupted."
		if e.Partial {
			text += " The partial reply is kept in the session."
		}
		return app.Text("%s", text)
	}
	m := app.Text("%s did not answer: %s", displayName(e.Member), tty.SafeLines(e.Detail))
	shown, _, _ = strings.Cut(shown, "\n") // as a transcript does
	if first, rest, _ := strings.Cut(e.Detail, "\n"); shown != "" && strings.HasSuffix(shown, first) {
		if m.Text = ""; rest != "" {
			m.Text = "  | " + tty.SafeLines(rest)
		}
	}
	if h, ok := hint.Of(e); ok && !slices.Equal(h.Argv, Retry.Command.Argv) {
		m = m.With(app.Help{Purpose: app.Purpose(h), Command: h})
	}
	return m.With(Retry)
}

func orphansEndedText(n int) string {
	return fmt.Sprintf("Ended orphaned processes of agents: %d.", n)
}

func notPermittedText(member, what string) string {
	return fmt.Sprintf("%s requested permission, which its configuration denies: %s",
		tty.SafeLine(member), tty.SafeLine(what))
}

func unansweredText(member, what string) string {
	return fmt.Sprintf("%s requested permission, which was denied, since no user can be asked: %s\n"+
		"To allow every request, set the member's \"permissions\" to \"allow\".",
		tty.SafeLine(member), tty.SafeLine(what))
}

func unansweredQuestionText(member, what string) string {
	return fmt.Sprintf("%s asked something, which was refused, since no user can answer it here: %s",
		tty.SafeLine(member), tty.SafeLine(what))
}

func unsupportedText(member, setting string) string {
	if setting == agent.SettingMCPServers {
		return fmt.Sprintf("%s does not get all MCP servers of the editor: its agent does not take them.",
			tty.SafeLine(member))
	}
	return fmt.Sprintf("The setting %q of %s has no effect: its agent does not support it.", setting,
		tty.SafeLine(member))
}

// notSentText reports a file that a member gets only by name.
func notSentText(member, name string, reason coordinator.NotSent) string {
	why := map[coordinator.NotSent]string{
		coordinator.NotTaken:    "its agent takes no pictures",
		coordinator.NotFitting:  "it is too large for its agent, or there are too many",
		coordinator.NotReadable: "the content is missing or damaged; agent-chatter verify says more",
	}[reason]
	return fmt.Sprintf("%s does not get the content of %s: %s.", tty.SafeLine(member), tty.SafeLine(name), why)
}

// retryingText reports a failed request that the agent repeats.
func retryingText(member string, r agent.Retry) string {
	when := ""
	if r.Wait > 0 {
		when = " in " + max(r.Wait.Round(time.Second), time.Second).String()
	}
	if r.Try > 0 && r.Max > 0 {
		when += fmt.Sprintf(", try %d of %d failed", r.Try, r.Max)
	}
	return fmt.Sprintf("%s is retrying%s: %s", tty.SafeLine(member), when, tty.SafeLine(r.Reason))
}

// agentNoticeText shows what the program of a member's agent has to say.
func agentNoticeText(member, text string) string {
	return fmt.Sprintf("Notice of %s's agent: %s", tty.SafeLine(member), tty.SafeLine(text))
}

// changedText lists the settings of a member that differ from the restored session.
func changedText(n coordinator.MemberChanged) string {
	var lines []string
	for _, of := range []struct {
		what   string
		change *projection.Change
	}{{"agent", n.Agent}, {"model", n.Model}} {
		if of.change != nil {
			from, to := cmp.Or(of.change.From, "unset"), cmp.Or(of.change.To, "unset")
			lines = append(lines, fmt.Sprintf("%s's %s has changed since this session: %s, now %s.",
				displayName(n.Member), of.what, tty.SafeLine(from), tty.SafeLine(to)))
		}
	}
	return strings.Join(lines, "\n")
}

// changeIgnoredText is for a change of a member that the session has recorded and that does not count.
func changeIgnoredText(n coordinator.ChangeIgnored) string {
	return fmt.Sprintf("Not in force here: %s (%s).", tty.SafeLine(n.Change.Text()), tty.SafeLine(n.Reason))
}

// LimitsText lists the limits that a session has recorded.
func LimitsText(n coordinator.LimitsChanged) string {
	var lines []string
	if len(n.InForce) > 0 {
		lines = append(lines, "Limits of this session:")
	}
	for _, p := range n.InForce {
		lines = append(lines, "  "+tty.SafeLine(p.Text()))
	}
	for _, p := range n.Ignored {
		lines = append(lines, fmt.Sprintf("Not in force here: %s (it was set in another home or on another machine).",
			tty.SafeLine(p.Text())))
	}
	return strings.Join(lines, "\n")
}

// ChangesText lists how the members of a session differ from the configuration of the team.
func ChangesText(changes []projection.ChangedMember) string {
	lines := []string{"Changed for this session:"}
	for _, of := range changes {
		lines = append(lines, "  "+tty.SafeLine(of.Whole().Text()))
	}
	return strings.Join(lines, "\n")
}

// noticeText returns the text of a notice; "" if it is not shown.
func noticeText(n coordinator.Notice, t *team.Team) string {
	switch n := n.(type) {
	case coordinator.Restored:
		return app.ResumedText(n.SessionID, n.Messages)
	case coordinator.MembersMissing:
		return app.MissingText(n.Members)
	case coordinator.MemberChanged:
		return changedText(n)
	case coordinator.ChangeIgnored:
		return changeIgnoredText(n)
	case coordinator.ChangesInForce:
		return ChangesText(n.Changes)
	case coordinator.OrphansEnded:
		return orphansEndedText(n.Processes)
	case coordinator.SaveFailed:
		return app.SaveFailedText(n.Err)
	case coordinator.PromptTruncated:
		return promptCutText(n.Member.DisplayName, n.Messages)
	case coordinator.WindowCut:
		return windowCutText(n.Member.DisplayName, n.Reason, n.Shown, n.All)
	case coordinator.Summarizing:
		return summarizingText(n.Member.DisplayName, n.Messages)
	case coordinator.MessageTruncated:
		return messageCutText(n.Member.DisplayName, n.Bytes)
	case coordinator.SecretsRedacted:
		return app.SecretsReplacedText(n.Kinds, n.Count)
	case coordinator.SettingUnsupported:
		member, _ := t.Member(n.MemberID)
		return unsupportedText(member.DisplayName, n.Setting)
	case coordinator.FileNotSent:
		member, _ := t.Member(n.MemberID)
		return notSentText(member.DisplayName, n.Name, n.Reason)
	case coordinator.Retrying:
		return retryingText(n.Member.DisplayName, n.Retry)
	case coordinator.AgentNotice:
		return agentNoticeText(n.Member.DisplayName, n.Text)
	case coordinator.PermissionDenied:
		return notPermittedText(n.Member.DisplayName, n.Action)
	case coordinator.PermissionUnanswered:
		if n.Asked {
			return unansweredQuestionText(n.Member.DisplayName, n.Action)
		}
		return unansweredText(n.Member.DisplayName, n.Action)
	case coordinator.InstructionsChanged:
		return fmt.Sprintf("%s's instructions have changed since its last turn.", displayName(n.Member))
	case coordinator.FromIgnored:
		return fmt.Sprintf("%s wrote [FROM: …]; ignored, since only people may use it.", displayName(n.Member))
	case coordinator.TaskIgnored:
		return fmt.Sprintf("%s wrote [TEAM_TASK: …]; ignored, since it may not set the task.\n"+
			"To allow this, set the member's \"allowTeamTask\" to true in the team file, or use /task TEXT.",
			displayName(n.Member))
	case coordinator.TaskDone:
		return fmt.Sprintf("%s reports the task as done.", displayName(n.Member))
	case coordinator.TaskTruncated:
		return fmt.Sprintf("The task is longer than %d bytes; prompts have only its beginning. "+
			"Write a long task to a file and name the file.", n.Limit)
	}
	return queueNoticeText(n, t)
}

// queueNoticeText is noticeText for the notices of the queue and of limits.
func queueNoticeText(n coordinator.Notice, t *team.Team) string {
	switch n := n.(type) {
	case coordinator.UnknownNames:
		return fmt.Sprintf("Unknown members: %s. The members are: %s.",
			tty.SafeLine(strings.Join(n.Names, ", ")), MemberNames(t))
	case coordinator.Round:
		return fmt.Sprintf("%s: agent turn %d/%d", displayName(n.Member), n.Round, n.Limit)
	case coordinator.RunRound:
		return fmt.Sprintf("%s: agent turn %d/%d of this run", displayName(n.Member), n.Round, n.Limit)
	case coordinator.RoundLimit:
		return fmt.Sprintf("The team's limit of %s is reached. Removed from the queue: %s.\n"+
			"To continue, send a message, such as: continue [NEXT: %s]",
			app.Count(n.Limit, "agent turn"), displayNames(n.Next), displayName(n.Next[0]))
	case coordinator.RunLimit:
		return fmt.Sprintf("The limit of this run, %s, is reached. Removed from the queue: %s.",
			app.Count(n.Limit, "agent turn"), displayNames(n.Next))
	case coordinator.PanelSplit:
		return panelSplitText(n)
	case coordinator.SettingUp:
		return settingUpText(n)
	case coordinator.LimitsChanged:
		return LimitsText(n)
	case coordinator.FilesOff:
		return filesOffText(n)
	case coordinator.FilesLimited:
		return filesLimitedText(n)
	case coordinator.BudgetNear:
		return budgetNearText(n)
	case coordinator.BudgetUnknown:
		return budgetUnknownText(n)
	case coordinator.QueueFull:
		return fmt.Sprintf("The queue is full (%d). Not queued: %s.\n/queue lists the queue; [DROP: ALL] in a "+
			"message clears it.",
			n.Limit, displayNames(n.Members))
	case coordinator.QueueDemoted:
		return fmt.Sprintf("One message adds more than %d entries to the queue. Queued with P3: %s.", n.Limit,
			displayNames(n.Members))
	case coordinator.QueueCleared:
		return fmt.Sprintf("Removed from the queue: %s. To ask for a reply, write [NEXT: name].",
			displayNames(n.Members))
	}
	return ""
}

// filesOffText is for a directory whose files are not captured any more.
func filesOffText(n coordinator.FilesOff) string {
	return fmt.Sprintf("What agents do to files in %s is not recorded now, and cannot be set back: %s.\n"+
		"For the limits, see: agent-chatter guide file-changes", tty.SafeLine(n.Dir), fileLimitText(n.Err))
}

// filesLimitedText is for a work tree that is too large.
func filesLimitedText(n coordinator.FilesLimited) string {
	if n.Changed {
		return fmt.Sprintf("What agents do in %s is recorded only of files that Git reports as changed or untracked: "+
			"%s.\nFor the limits, see: agent-chatter guide file-changes", tty.SafeLine(n.Dir), fileLimitText(n.Err))
	}
	return fmt.Sprintf("What agents do to files is recorded in %s only: %s.\n"+
		"For the limits, see: agent-chatter guide file-changes", tty.SafeLine(n.Dir), fileLimitText(n.Err))
}

// fileLimitText is for why a directory cannot be captured.
func fileLimitText(err error) string {
	var limit *workspace.LimitError
	if !errors.As(err, &limit) {
		return tty.SafeLine(err.Error())
	}
	root := tty.SafeLine(limit.Root)
	switch limit.Limit {
	case "Files":
		return fmt.Sprintf("%s has more than %d files (files.maxFiles)", root, limit.Value)
	case "Bytes":
		return fmt.Sprintf("%s has more than %d new bytes (files.maxBytes)", root, limit.Value)
	case "Stores":
		return fmt.Sprintf("all captured files take more than %d bytes (files.maxStored); agent-chatter compact "+
			"removes those of the oldest sessions", limit.Value)
	case "Free":
		return fmt.Sprintf("fewer than %d bytes are free on the disk of the home", limit.Value)
	}
	return fmt.Sprintf("to read %s takes more than %s", root, time.Duration(limit.Value))
}

func budgetNearText(n coordinator.BudgetNear) string {
	return tty.SafeLine(n.Amounts()) + "."
}

// budgetUnknownText is for a limit that is less than it seems.
func budgetUnknownText(n coordinator.BudgetUnknown) string {
	return fmt.Sprintf("The agents did not report the %s of %s, which the limit budget.%s does not count. "+
		"A limit of turns counts all.", n.Bound.Of, app.Count(n.Turns, "turn"), n.Bound.Name())
}

func displayName(m team.Member) string { return tty.SafeLine(m.DisplayName) }

func displayNames(members []team.Member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = displayName(m)
	}
	return strings.Join(names, ", ")
}

// setAsideText reports the recovery from a crash or a failed write.
func setAsideText(r journal.Recovered) string {
	switch {
	case r.Aside == "" && r.Bytes > 0:
		return fmt.Sprintf("Completed a line of which only %s had been written: %s", app.Count(int(r.Bytes), "byte"),
			tty.SafeLine(r.Reason))
	case r.Aside == "":
		return fmt.Sprintf("The journal was rewritten: %s", tty.SafeLine(r.Reason))
	}
	return fmt.Sprintf("Set %s of an unfinished write aside in %s: %s", app.Count(int(r.Bytes), "byte"),
		tty.SafeLine(r.Aside), tty.SafeLine(r.Reason))
}

// notSavedText is for a session that ended before it could be saved.
func notSavedText(n coordinator.NotSaved) app.Message {
	if n.Err != nil {
		return app.Text("❌  What is not saved is lost, since it could not be written to another file either: %s",
			tty.SafeLine(n.Err.Error()))
	}
	text := fmt.Sprintf("⚠️  What is not saved, %s, is in %s", app.Count(n.Events, "event"), tty.SafeLine(n.File))
	if n.Whole {
		text += ", after all earlier events of the session"
	}
	return app.Text("%s.", text).With(app.To("look at it", "tail", n.File))
}

// MemberNames returns the names of the members, safe for a terminal.
func MemberNames(t *team.Team) string {
	names := make([]string, len(t.Members))
	for i, m := range t.Members {
		names[i] = tty.SafeLine(m.Name)
	}
	return strings.Join(names, ", ")
}

// panelSplitText says why members have their turns one after another.
func panelSplitText(n coordinator.PanelSplit) string {
	const after = ", so the turns are one after another"
	switch n.Why {
	case coordinator.PanelTooLarge:
		return fmt.Sprintf("At most %d members can have their turns at the same time%s.", coordinator.MaxPanel, after)
	case coordinator.PanelOfPeople:
		return "Only agents can have their turns at the same time" + after + "."
	case coordinator.PanelRepeats:
		return "A member can have one turn at a time" + after + "."
	}
	return fmt.Sprintf("%s may change the same files%s. For turns at the same time, give each a worktree, or the "+
		"permissions deny or read: agent-chatter guide worktrees", displayNames(n.Members), after)
}

// settingUpText is for a member that gets a worktree.
func settingUpText(n coordinator.SettingUp) string {
	text := fmt.Sprintf("%s gets a copy of the files: %s", displayName(n.Member), tty.SafeLine(n.Dir))
	if len(n.Argv) > 0 {
		text += "\nIt is set up first: " + tty.SafeLine(hint.Join(n.Argv))
	}
	return text
}
