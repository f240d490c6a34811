package view

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

func promptCutText(member string, messages int) string {
	return fmt.Sprintf("%s takes no longer prompt: the oldest %d messages of the conversation were left out of it.", tty.SafeLine(member), messages)
}

func messageCutText(member string, bytes int) string {
	return fmt.Sprintf("%s takes no longer prompt: %d bytes in the middle of the message were left out of it. In the session it is whole. To have all of it read, name a file instead of quoting it.", tty.SafeLine(member), bytes)
}

// textEscapeStops stands behind what an agent does.
const textEscapeStops = "  (Esc interrupts)"

// thinkingText says that nothing is heard of an agent yet.
func ThinkingText(member string) string { return tty.SafeLine(member) + " is thinking" }

// usingText says which tool an agent waits for.
func usingText(member, tool string) string {
	return fmt.Sprintf("%s uses %s", tty.SafeLine(member), tty.SafeLine(tool))
}

// turnErrorText returns why an agent did not reply and the commands that help; /retry only if the user
// can type it.
func turnErrorText(e *coordinator.TurnError, typing bool) string {
	if e.Reason == projection.Cancelled {
		return fmt.Sprintf("%s was interrupted. What was said so far is kept in the journal.", displayName(e.Member))
	}
	reason := strings.TrimPrefix(e.Message, e.Member.DisplayName+" failed: ")
	text := fmt.Sprintf("%s did not answer: %s", displayName(e.Member), tty.Safe(reason))
	if h, ok := hint.Of(e); ok && h.Kind == hint.Run {
		text += "; type: " + hint.Join(h.Argv)
	}
	if typing && !strings.Contains(reason, "/retry") {
		text += "\nTo ask again, type: /retry"
	}
	return text
}

// orphansEndedText says what became of processes that nobody looked after any more.
func orphansEndedText(n int) string {
	return fmt.Sprintf("Processes that an agent had left running when this conversation broke off were ended: %d.", n)
}

func notPermittedText(member, what string) string {
	return fmt.Sprintf("%s asked to do this, and its permissions do not allow it: %s", tty.SafeLine(member), tty.SafeLine(what))
}

func nobodyToAskText(member, what string) string {
	return fmt.Sprintf("%s asked to do this, and was refused, because nobody is there to be asked: %s\nTo allow all that it asks for, set its \"permissions\" to \"allow\".", tty.SafeLine(member), tty.SafeLine(what))
}

// changedText returns what of a member differs from the restored session.
func changedText(n coordinator.MemberChanged) string {
	var lines []string
	for _, of := range []struct {
		what   string
		change *projection.Change
	}{{"agent", n.Agent}, {"model", n.Model}} {
		if of.change != nil {
			from, to := cmp.Or(of.change.From, "not named"), cmp.Or(of.change.To, "not named")
			lines = append(lines, fmt.Sprintf("%s's %s was %s in this session, and is %s now.", displayName(n.Member), of.what, tty.SafeLine(from), tty.SafeLine(to)))
		}
	}
	return strings.Join(lines, "\n")
}

// promptText shows everything that an agent is told.
func promptText(member, prompt string) string {
	return fmt.Sprintf("──── %s is told (%s):\n%s\n──── That is all.\n", tty.SafeLine(member), app.Count(len(prompt), "byte"), strings.TrimSuffix(tty.Safe(prompt), "\n"))
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
	case coordinator.OrphansEnded:
		return orphansEndedText(n.Processes)
	case coordinator.SaveFailed:
		return app.SaveFailedText(n.Err)
	case coordinator.PromptTruncated:
		return promptCutText(n.Member.DisplayName, n.Messages)
	case coordinator.MessageTruncated:
		return messageCutText(n.Member.DisplayName, n.Bytes)
	case coordinator.SecretsRedacted:
		return app.SecretsReplacedText(n.Kinds, n.Count)
	case coordinator.PermissionDenied:
		return notPermittedText(n.Member.DisplayName, n.Action)
	case coordinator.PermissionUnanswered:
		return nobodyToAskText(n.Member.DisplayName, n.Action)
	case coordinator.FromIgnored:
		return fmt.Sprintf("%s wrote [FROM: …], which only people can. It means nothing.", displayName(n.Member))
	case coordinator.TaskIgnored:
		return fmt.Sprintf("%s wrote [TEAM_TASK: …] and may not set the task. It stays as it is.\nTo set it yourself, type /task TEXT; to allow it, set the member's \"allowTeamTask\" to true in the team file.", displayName(n.Member))
	case coordinator.TaskDone:
		return fmt.Sprintf("%s says that the task is done.", displayName(n.Member))
	case coordinator.TaskTruncated:
		return fmt.Sprintf("The task is longer than %d bytes: agents are told that much of it. To tell them more, put it into a file and name the file.", n.Limit)
	}
	return queueNoticeText(n, t)
}

// queueNoticeText is noticeText for the notices of the queue.
func queueNoticeText(n coordinator.Notice, t *team.Team) string {
	switch n := n.(type) {
	case coordinator.UnknownNames:
		return fmt.Sprintf("Nobody here is called %s. The members are: %s.", tty.SafeLine(strings.Join(n.Names, ", ")), MemberNames(t))
	case coordinator.Round:
		return fmt.Sprintf("%s has turn %d of %d until your next message: %d left.", displayName(n.Member), n.Round, n.Limit, n.Limit-n.Round)
	case coordinator.RunRound:
		return fmt.Sprintf("%s has turn %d of %d of this run: %d left.", displayName(n.Member), n.Round, n.Limit, n.Limit-n.Round)
	case coordinator.RoundLimit:
		return fmt.Sprintf("The agents have had the %s that the team allows them between two messages of yours. Next would have been: %s.\nTo let them go on, type a message, such as: go on [NEXT: %s]", app.Count(n.Limit, "turn"), displayNames(n.Next), displayName(n.Next[0]))
	case coordinator.RunLimit:
		return fmt.Sprintf("The agents have had their %s of this run. Next would have been: %s.", app.Count(n.Limit, "turn"), displayNames(n.Next))
	case coordinator.QueueFull:
		return fmt.Sprintf("%d are waiting already. Not asked: %s.\nTo see who waits, type /queue; to clear it, write [DROP: ALL].", n.Limit, displayNames(n.Members))
	case coordinator.QueueDemoted:
		return fmt.Sprintf("One message asks for more than %d answers. These come last: %s.", n.Limit, displayNames(n.Members))
	case coordinator.QueueCleared:
		return fmt.Sprintf("Not asked any more: %s. To ask, write [NEXT: name].", displayNames(n.Members))
	}
	return ""
}

func displayName(m team.Member) string { return tty.SafeLine(m.DisplayName) }

func displayNames(members []team.Member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = displayName(m)
	}
	return strings.Join(names, ", ")
}

// setAsideText says what became of bytes that a crash or a failed write had left.
func setAsideText(r journal.Recovered) string {
	switch {
	case r.Aside == "" && r.Bytes > 0:
		return fmt.Sprintf("A line of which only %d bytes had been written is whole now: %s", r.Bytes, tty.SafeLine(r.Reason))
	case r.Aside == "":
		return fmt.Sprintf("The journal was written anew: %s", tty.SafeLine(r.Reason))
	}
	return fmt.Sprintf("%d bytes of an unfinished write were set aside in %s: %s", r.Bytes, tty.SafeLine(r.Aside), tty.SafeLine(r.Reason))
}

// screen shows a conversation, as text or as JSON lines.
type Screen struct {
	App      *app.App
	Team     *team.Team
	JSON     bool
	Terminal bool // somebody watches: replies appear as they come
	Prompts  bool // what agents are told is shown, too

	// Asker asks the user for permission; nil if no user can be asked.
	Asker func(context.Context, coordinator.Question) coordinator.Answer

	asked     team.Member // whose turn it is
	wrote     bool        // events were appended
	working   bool        // a turn runs
	speaking  bool        // a part of a reply stands on the line
	reply     streamed
	Wrap      tty.Wrapper
	Spinner   *tty.Spinner
	Unsaved   bool
	SessionID string
	Saved     func() // is told when something was said and is on the disk
}

// begin forgets what belongs to another conversation.
func (s *Screen) Begin(team *team.Team) {
	s.Team, s.Unsaved, s.SessionID, s.wrote = team, false, "", false
}

// Event implements coordinator.Listener.
func (s *Screen) Event(e coordinator.Event) {
	s.wrote = true
	switch p := e.Payload.(type) {
	case projection.JournalRecovered:
		s.EndLine()
		s.App.Notice(setAsideText(p.Recovered))
	case projection.TurnStarted:
		s.reply = streamed{}
		s.asked, _ = s.Team.Member(p.MemberID)
		s.working = true
		s.GoOn(ThinkingText(s.asked.DisplayName))
	case projection.ToolStarted:
		s.tool(p)
	case projection.ToolCompleted:
		s.EndLine()
		s.GoOn(ThinkingText(s.asked.DisplayName))
	case projection.MessageAppended:
		s.message(p.Message)
	case projection.TurnEnded:
		s.working = false
		if p.FinishReason != projection.Done && s.watched() {
			s.show(s.asked.DisplayName, strings.TrimRight(s.reply.held.String(), blanks))
		}
		s.EndLine()
	}
	if s.JSON && !e.Unsaved {
		fmt.Fprintf(s.App.Stdout, "%s\n", e.Line())
	}
}

// Ask implements coordinator.Listener.
func (s *Screen) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if s.Asker == nil {
		return coordinator.Unanswered
	}
	s.EndLine()
	answer := s.Asker(ctx, q)
	if ctx.Err() == nil {
		s.GoOn(ThinkingText(q.Member.DisplayName))
	}
	return answer
}

// Status implements coordinator.Listener.
func (s *Screen) Status(status coordinator.Status) {
	if s.Unsaved && !status.Unsaved {
		s.EndLine()
		s.App.Notice("✓ Everything is saved again.")
		if s.working {
			s.GoOn(ThinkingText(s.asked.DisplayName))
		}
	}
	s.Unsaved = status.Unsaved
	if status.SessionID == "" {
		return
	}
	s.SessionID = status.SessionID
	if s.wrote && !status.Unsaved && status.Phase != coordinator.Active {
		s.App.Log.Debug("session saved", "session", s.SessionID)
		s.Saved()
	}
}

// Notice implements coordinator.Listener.
func (s *Screen) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.Prompt:
		s.prompt(n)
		return
	case coordinator.Written:
		for _, e := range n.Events {
			if s.JSON {
				fmt.Fprintf(s.App.Stdout, "%s\n", e.Line())
			}
		}
		return
	case coordinator.Restored:
		s.SessionID = n.SessionID
	}
	s.EndLine()
	if e, ok := n.(*coordinator.TurnError); ok {
		s.App.Notice(turnErrorText(e, s.Terminal))
	} else if text := noticeText(n, s.Team); text != "" {
		s.App.Notice(text)
	}
	if _, ok := n.(coordinator.SaveFailed); ok && s.working {
		s.GoOn(ThinkingText(s.asked.DisplayName))
	}
}

// tool shows what an agent does with a tool, and that it does it.
func (s *Screen) tool(t projection.ToolStarted) {
	s.EndLine()
	if s.watched() {
		fmt.Fprintln(s.App.Stdout, s.styled("\x1b[2m", s.Spinner.Fit("  "+ToolText(t))))
	}
	s.GoOn(usingText(s.asked.DisplayName, t.Name))
}

// goOn shows that an agent works, and at what.
func (s *Screen) GoOn(what string) {
	if !s.watched() || !s.Team.ShowThinkingTimer {
		return
	}
	hint := ""
	if s.Team.AllowEscCancel {
		hint = textEscapeStops
	}
	s.Spinner.Start(what, hint)
}

// prompt shows a prompt with --show-prompt.
func (s *Screen) prompt(n coordinator.Prompt) {
	switch {
	case !s.Prompts:
	case s.JSON:
		app.WriteJSON(s.App.Stdout, PromptJSON{"prompt.shown", n.Member.ID, n.Text})
	default:
		s.EndLine()
		fmt.Fprint(s.App.Stdout, promptText(n.Member.DisplayName, n.Text))
	}
}

// promptJSON is a prompt among the lines of a journal, which it is not one of: it has no seq.
type PromptJSON struct {
	Type     string `json:"type"`
	MemberID string `json:"memberId"`
	Prompt   string `json:"prompt"`
}

// watched reports whether somebody sees replies as they come.
func (s *Screen) watched() bool { return s.Terminal && !s.JSON }

// Text shows a reply as it comes, to somebody who watches: up to the first marker. What comes
// behind that is shown when the reply is whole, since only then it is known what is a marker and
// what is code.
func (s *Screen) Text(m team.Member, text string) {
	if !s.watched() {
		return
	}
	s.show(m.DisplayName, s.reply.pass(text))
}

// show shows a part of a reply.
func (s *Screen) show(name, text string) {
	if text == "" {
		return
	}
	s.Spinner.End()
	if !s.speaking {
		if text = strings.TrimLeft(text, "\r\n"); text == "" { // of what a tool interrupted
			return
		}
		s.name(tty.SafeLine(name))
		s.speaking = true
	}
	fmt.Fprint(s.App.Stdout, s.Wrap.Pass(tty.Safe(text)))
}

// message shows an agent's message except for the part that was streamed.
func (s *Screen) message(m projection.Message) {
	if s.JSON || m.Speaker.Type == projection.TypeHuman {
		return
	}
	rest, ok := strings.CutPrefix(m.Content, s.reply.shown.String())
	if ok && s.reply.shown.Len() > 0 {
		s.show(m.Speaker.DisplayName, rest)
		s.EndLine()
		return
	}
	s.EndLine()
	s.ShowEntry(projection.Entry{Message: m})
}

func (s *Screen) ShowEntry(e projection.Entry) {
	name, text, _ := strings.Cut(MessageText(e), ": ")
	s.name(name)
	fmt.Fprintln(s.App.Stdout, s.Wrap.Pass(text))
}

// name begins a message with who says it.
func (s *Screen) name(name string) {
	fmt.Fprintf(s.App.Stdout, "%s: ", s.bold(name))
	s.Wrap.Begin(name + ": ")
}

// bold makes a name stand out.
func (s *Screen) bold(name string) string { return s.styled("\x1b[1m", name) }

// styled is a text in a style, where somebody watches and likes it.
func (s *Screen) styled(style, text string) string {
	if !s.watched() || s.App.NoColor {
		return text
	}
	return style + text + "\x1b[0m"
}

// messageText is a message as text output has it.
func MessageText(e projection.Entry) string {
	return tty.SafeLine(e.Speaker.DisplayName) + app.UnfinishedText(e) + ": " + tty.Safe(e.Content)
}

// endLine makes room for a line of its own.
func (s *Screen) EndLine() {
	if s.watched() {
		s.Spinner.End()
	}
	if s.speaking {
		fmt.Fprintln(s.App.Stdout)
		s.speaking = false
	}
}

func MemberNames(t *team.Team) string {
	names := make([]string, len(t.Members))
	for i, m := range t.Members {
		names[i] = tty.SafeLine(m.Name)
	}
	return strings.Join(names, ", ")
}

// A streamed is a reply that is shown as it comes, up to the first marker.
type streamed struct {
	shown  strings.Builder
	held   strings.Builder // what came behind that: a marker and the rest, or what may become one
	marked bool
}

// blanks may be the end of a reply, which has none.
const blanks = " \t\r\n"

// pass takes in a piece of the reply and gives what can be shown now.
func (r *streamed) pass(piece string) string {
	r.held.WriteString(piece)
	if r.marked {
		return ""
	}
	text := r.held.String()
	at, marked := marker.Begin(text)
	r.marked = marked
	show := strings.TrimRight(text[:at], blanks)
	r.shown.WriteString(show)
	r.held.Reset()
	r.held.WriteString(text[len(show):])
	return show
}
