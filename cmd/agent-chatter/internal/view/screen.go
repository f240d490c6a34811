package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
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

// noAnswerFromText says why an agent did not answer, and to somebody who can type, what to.
func noAnswerFromText(member, reason string, typing bool) string {
	reason = strings.TrimPrefix(reason, member+" failed: ")
	text := fmt.Sprintf("%s did not answer: %s", tty.SafeLine(member), tty.Safe(reason))
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

// changedText says what of a member is not as it was in the session.
func changedText(member, what, from, to string) string {
	return fmt.Sprintf("%s's %s was %s in this session, and is %s now.", tty.SafeLine(member), what, tty.SafeLine(cmp.Or(from, "not named")), tty.SafeLine(cmp.Or(to, "not named")))
}

// promptText shows everything that an agent is told.
func promptText(member, prompt string) string {
	return fmt.Sprintf("──── %s is told (%s):\n%s\n──── That is all.\n", tty.SafeLine(member), app.Count(len(prompt), "byte"), strings.TrimSuffix(tty.Safe(prompt), "\n"))
}

// noticeText says what was decided about who speaks.
func noticeText(n coordinator.Notice) string {
	names := tty.SafeLine(strings.Join(n.Names, ", "))
	switch n.Kind {
	case coordinator.RoundLimit:
		return fmt.Sprintf("The agents have had the %s that the team allows them between two messages of yours. Next would have been: %s.\nTo let them go on, type a message, such as: go on [NEXT: %s]", app.Count(n.Limit, "turn"), names, tty.SafeLine(n.Names[0]))
	case coordinator.RunLimit:
		return fmt.Sprintf("The agents have had their %s of this run. Next would have been: %s.", app.Count(n.Limit, "turn"), names)
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

	asked     team.Member // whose turn it is
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
	s.Team, s.Unsaved, s.SessionID = team, false, ""
}

func (s *Screen) TeamReady(*team.Team, bool) {}

func (s *Screen) SessionRestored(id string, messages int) {
	s.SessionID = id
	s.App.Notice(app.ResumedText(id, messages))
}

func (s *Screen) SessionSaved(id string) {
	s.SessionID = id
	s.App.Log.Debug("session saved", "session", id)
	s.Saved()
	if s.Unsaved {
		s.App.Notice("✓ Everything is saved again.")
	}
	s.Unsaved = false
}

func (s *Screen) SaveFailed(err error) {
	s.Unsaved = true
	s.EndLine()
	s.App.Notice(app.SaveFailedText(err))
}

func (s *Screen) StatusChanged(coordinator.Status) {}

func (s *Screen) MembersMissing(missing []projection.MemberRef) {
	s.App.Notice(app.MissingText(missing))
}

func (s *Screen) Appended(e journal.Event) {
	p, _ := projection.Decode(e)
	switch p := p.(type) {
	case projection.JournalRecovered:
		s.EndLine()
		s.App.Notice(setAsideText(p.Recovered))
	case projection.ToolStarted:
		s.tool(p)
	case projection.ToolCompleted:
		s.EndLine()
		s.GoOn(ThinkingText(s.asked.DisplayName))
	}
	if s.JSON {
		fmt.Fprintf(s.App.Stdout, "%s\n", e.Line())
	}
}

func (s *Screen) TurnStarted(m team.Member) {
	s.reply, s.asked = streamed{}, m
	s.GoOn(ThinkingText(m.DisplayName))
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

// Prompted shows what an agent is told, to somebody who wants to know.
func (s *Screen) Prompted(m team.Member, prompt string) {
	switch {
	case !s.Prompts:
	case s.JSON:
		app.WriteJSON(s.App.Stdout, PromptJSON{"prompt.shown", m.ID, prompt})
	default:
		s.EndLine()
		fmt.Fprint(s.App.Stdout, promptText(m.DisplayName, prompt))
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

// Said shows a whole message, less what was shown as it came. People know what they typed.
func (s *Screen) Said(m projection.Message) {
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

func (s *Screen) TurnEnded(m team.Member, end projection.TurnEnded) {
	if end.FinishReason != projection.Done && s.watched() {
		s.show(m.DisplayName, strings.TrimRight(s.reply.held.String(), blanks))
	}
	s.EndLine()
	name := tty.SafeLine(m.DisplayName)
	switch end.FinishReason {
	case projection.Failed, projection.TimedOut:
		s.App.Notice(noAnswerFromText(m.DisplayName, end.Error, s.Terminal))
	case projection.Cancelled:
		s.App.Notice(fmt.Sprintf("%s was interrupted. What was said so far is kept in the journal.", name))
	}
}

func (s *Screen) Notice(n coordinator.Notice) {
	s.EndLine()
	switch n.Kind {
	case coordinator.UnknownNames:
		s.App.Notice(fmt.Sprintf("Nobody here is called %s. The members are: %s.", tty.SafeLine(strings.Join(n.Names, ", ")), MemberNames(s.Team)))
	case coordinator.NotPermitted:
		s.App.Notice(notPermittedText(n.Names[0], n.Names[1]))
	case coordinator.OrphansEnded:
		s.App.Notice(orphansEndedText(n.Limit))
	case coordinator.AgentChanged:
		s.App.Notice(changedText(n.Names[0], "agent", n.Names[1], n.Names[2]))
	case coordinator.ModelChanged:
		s.App.Notice(changedText(n.Names[0], "model", n.Names[1], n.Names[2]))
	case coordinator.NobodyToAsk:
		s.App.Notice(nobodyToAskText(n.Names[0], n.Names[1]))
	case coordinator.PromptCut:
		s.App.Notice(promptCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.MessageCut:
		s.App.Notice(messageCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.SecretsReplaced:
		s.App.Notice(app.SecretsReplacedText(n.Names, n.Limit))
	default:
		s.App.Notice(noticeText(n))
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
