package main

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// screen shows a conversation, as text or as JSON lines.
type screen struct {
	app      *app
	team     *team.Team
	json     bool
	terminal bool // somebody watches: replies appear as they come
	prompts  bool // what agents are told is shown, too

	asked     team.Member // whose turn it is
	speaking  bool        // a part of a reply stands on the line
	reply     streamed
	wrap      wrapped
	spinner   *spinner
	unsaved   bool
	sessionID string
	saved     func() // is told when something was said and is on the disk
}

// begin forgets what belongs to another conversation.
func (s *screen) begin(team *team.Team) {
	s.team, s.unsaved, s.sessionID = team, false, ""
}

func (s *screen) TeamReady(*team.Team, bool) {}

func (s *screen) SessionRestored(id string, messages int) {
	s.sessionID = id
	s.app.notice(resumedText(id, messages))
}

func (s *screen) SessionSaved(id string) {
	s.sessionID = id
	s.app.log.Debug("session saved", "session", id)
	s.saved()
	if s.unsaved {
		s.app.notice("✓ Everything is saved again.")
	}
	s.unsaved = false
}

func (s *screen) SaveFailed(err error) {
	s.unsaved = true
	s.endLine()
	s.app.notice(saveFailedText(err))
}

func (s *screen) StatusChanged(coordinator.Status) {}

func (s *screen) MembersMissing(missing []projection.MemberRef) { s.app.notice(missingText(missing)) }

func (s *screen) Appended(e journal.Event) {
	p, _ := projection.Decode(e)
	switch p := p.(type) {
	case projection.JournalRecovered:
		s.endLine()
		s.app.notice(setAsideText(p.Recovered))
	case projection.ToolStarted:
		s.tool(p)
	case projection.ToolCompleted:
		s.endLine()
		s.goOn(thinkingText(s.asked.DisplayName))
	}
	if s.json {
		fmt.Fprintf(s.app.stdout, "%s\n", e.Line())
	}
}

func (s *screen) TurnStarted(m team.Member) {
	s.reply, s.asked = streamed{}, m
	s.goOn(thinkingText(m.DisplayName))
}

// tool shows what an agent does with a tool, and that it does it.
func (s *screen) tool(t projection.ToolStarted) {
	s.endLine()
	if s.watched() {
		fmt.Fprintln(s.app.stdout, s.styled("\x1b[2m", s.spinner.fit("  "+toolText(t))))
	}
	s.goOn(usingText(s.asked.DisplayName, t.Name))
}

// goOn shows that an agent works, and at what.
func (s *screen) goOn(what string) {
	if !s.watched() || !s.team.ShowThinkingTimer {
		return
	}
	hint := ""
	if s.team.AllowEscCancel {
		hint = textEscapeStops
	}
	s.spinner.start(what, hint)
}

// Prompted shows what an agent is told, to somebody who wants to know.
func (s *screen) Prompted(m team.Member, prompt string) {
	switch {
	case !s.prompts:
	case s.json:
		writeJSON(s.app.stdout, promptJSON{"prompt.shown", m.ID, prompt})
	default:
		s.endLine()
		fmt.Fprint(s.app.stdout, promptText(m.DisplayName, prompt))
	}
}

// promptJSON is a prompt among the lines of a journal, which it is not one of: it has no seq.
type promptJSON struct {
	Type     string `json:"type"`
	MemberID string `json:"memberId"`
	Prompt   string `json:"prompt"`
}

// watched reports whether somebody sees replies as they come.
func (s *screen) watched() bool { return s.terminal && !s.json }

// Text shows a reply as it comes, to somebody who watches: up to the first marker. What comes
// behind that is shown when the reply is whole, since only then it is known what is a marker and
// what is code.
func (s *screen) Text(m team.Member, text string) {
	if !s.watched() {
		return
	}
	s.show(m.DisplayName, s.reply.pass(text))
}

// show shows a part of a reply.
func (s *screen) show(name, text string) {
	if text == "" {
		return
	}
	s.spinner.end()
	if !s.speaking {
		if text = strings.TrimLeft(text, "\r\n"); text == "" { // of what a tool interrupted
			return
		}
		s.name(safeLine(name))
		s.speaking = true
	}
	fmt.Fprint(s.app.stdout, s.wrap.pass(safe(text)))
}

// Said shows a whole message, less what was shown as it came. People know what they typed.
func (s *screen) Said(m projection.Message) {
	if s.json || m.Speaker.Type == projection.TypeHuman {
		return
	}
	rest, ok := strings.CutPrefix(m.Content, s.reply.shown.String())
	if ok && s.reply.shown.Len() > 0 {
		s.show(m.Speaker.DisplayName, rest)
		s.endLine()
		return
	}
	s.endLine()
	s.showEntry(projection.Entry{Message: m})
}

func (s *screen) showEntry(e projection.Entry) {
	name, text, _ := strings.Cut(messageText(e), ": ")
	s.name(name)
	fmt.Fprintln(s.app.stdout, s.wrap.pass(text))
}

// name begins a message with who says it.
func (s *screen) name(name string) {
	fmt.Fprintf(s.app.stdout, "%s: ", s.bold(name))
	s.wrap.begin(name + ": ")
}

// bold makes a name stand out.
func (s *screen) bold(name string) string { return s.styled("\x1b[1m", name) }

// styled is a text in a style, where somebody watches and likes it.
func (s *screen) styled(style, text string) string {
	if !s.watched() || s.app.noColor {
		return text
	}
	return style + text + "\x1b[0m"
}

// messageText is a message as text output has it.
func messageText(e projection.Entry) string {
	return safeLine(e.Speaker.DisplayName) + unfinishedText(e) + ": " + safe(e.Content)
}

// endLine makes room for a line of its own.
func (s *screen) endLine() {
	if s.watched() {
		s.spinner.end()
	}
	if s.speaking {
		fmt.Fprintln(s.app.stdout)
		s.speaking = false
	}
}

func (s *screen) TurnEnded(m team.Member, end projection.TurnEnded) {
	if end.FinishReason != projection.Done && s.watched() {
		s.show(m.DisplayName, strings.TrimRight(s.reply.held.String(), blanks))
	}
	s.endLine()
	name := safeLine(m.DisplayName)
	switch end.FinishReason {
	case projection.Failed, projection.TimedOut:
		s.app.notice(noAnswerFromText(m.DisplayName, end.Error, s.terminal))
	case projection.Cancelled:
		s.app.notice(fmt.Sprintf("%s was interrupted. What was said so far is kept in the journal.", name))
	}
}

func (s *screen) Notice(n coordinator.Notice) {
	s.endLine()
	switch n.Kind {
	case coordinator.UnknownNames:
		s.app.notice(fmt.Sprintf("Nobody here is called %s. The members are: %s.", safeLine(strings.Join(n.Names, ", ")), memberNames(s.team)))
	case coordinator.NotPermitted:
		s.app.notice(notPermittedText(n.Names[0], n.Names[1]))
	case coordinator.OrphansEnded:
		s.app.notice(orphansEndedText(n.Limit))
	case coordinator.AgentChanged:
		s.app.notice(changedText(n.Names[0], "agent", n.Names[1], n.Names[2]))
	case coordinator.ModelChanged:
		s.app.notice(changedText(n.Names[0], "model", n.Names[1], n.Names[2]))
	case coordinator.NobodyToAsk:
		s.app.notice(nobodyToAskText(n.Names[0], n.Names[1]))
	case coordinator.PromptCut:
		s.app.notice(promptCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.MessageCut:
		s.app.notice(messageCutText(strings.Join(n.Names, ", "), n.Limit))
	case coordinator.SecretsReplaced:
		s.app.notice(secretsReplacedText(n.Names, n.Limit))
	default:
		s.app.notice(noticeText(n))
	}
}

func memberNames(t *team.Team) string {
	names := make([]string, len(t.Members))
	for i, m := range t.Members {
		names[i] = safeLine(m.Name)
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
