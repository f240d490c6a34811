package view

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/wrap"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/part"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// promptText is a prompt with --show-prompt.
func promptText(member, prompt string) string {
	return fmt.Sprintf("──── Prompt for %s (%s):\n%s\n──── End of prompt\n",
		tty.SafeLine(member), app.Count(len(prompt), "byte"), strings.TrimSuffix(tty.Safe(prompt), "\n"))
}

// A Screen prints a conversation as text or as JSON lines. It is a coordinator.Listener.
type Screen struct {
	App      *app.App
	Team     *team.Team
	JSON     bool
	Terminal bool // replies are streamed, on a terminal without cursor movement
	Prompts  bool // prompts are printed
	Brief    bool // the transcript shows why a turn failed: a notice of it has only the commands that help

	ManualSave bool // events are unsaved until the user saves them

	// Asker asks the user for permission; nil if no user can be asked.
	Asker func(context.Context, coordinator.Question) coordinator.Answer

	// Cancelled is closed when the running turns are cancelled; nil: they cannot be. The rest of a long piece of
	// a reply is not printed then.
	Cancelled <-chan struct{}

	asked     team.Member // whose turn it is
	wrote     bool        // events were appended
	speaking  bool        // a part of a reply stands on the line
	reply     streamed
	Wrap      wrap.Wrapper
	Unsaved   bool
	SessionID string
	Next      string // the name of the member that was next when the run reached its limit of turns; "": it did not
	Saved     func() // called when new events were saved
}

// Begin resets the state for another conversation.
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
	case projection.ToolStarted:
		s.EndLine()
		if s.watched() {
			fmt.Fprintln(s.App.Stdout, "  "+part.ToolText(p))
		}
	case projection.ToolCompleted:
		s.EndLine()
	case projection.PlanUpdated:
		s.plan(p)
	case projection.MessageAppended:
		s.message(p.Message)
	case projection.TurnEnded:
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
	return s.Asker(ctx, q)
}

// Status implements coordinator.Listener.
func (s *Screen) Status(status coordinator.Status) {
	if s.Unsaved && !status.Unsaved {
		s.EndLine()
		s.App.Notice(s.savedText())
	}
	s.Unsaved = status.Unsaved
	if status.SessionID == "" {
		return
	}
	s.SessionID = status.SessionID
	if s.wrote && !status.Unsaved && status.Phase != coordinator.Active {
		s.Saved()
	}
}

// savedText is for a conversation that was only in memory.
func (s *Screen) savedText() string {
	if s.ManualSave {
		return "✓ Everything is saved."
	}
	return "✓ Everything is saved again."
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
	case coordinator.RunLimit:
		s.Next = n.Next[0].Name
	}
	s.EndLine()
	if e, ok := n.(*coordinator.TurnError); ok {
		m := turnErrorText(e)
		if s.Brief && e.Reason != projection.Cancelled {
			m.Text = ""
		}
		s.App.Show(m)
	} else if text := noticeText(n, s.Team); text != "" {
		s.App.Notice(text)
	}
	if restored, ok := n.(coordinator.Restored); ok && restored.Invalid > 0 {
		s.App.Show(app.InvalidEventsText(restored.SessionID, restored.Invalid, restored.FirstInvalid))
	}
}

// prompt shows a prompt with --show-prompt, without the secrets in the configuration of the team.
func (s *Screen) prompt(n coordinator.Prompt) {
	n.Text = s.App.Redactor(s.Team.Secrets()).Text(n.Text)
	switch {
	case !s.Prompts:
	case s.JSON:
		app.WriteJSON(s.App.Stdout, PromptJSON{"prompt.shown", n.Member.ID, n.Text})
	default:
		s.EndLine()
		fmt.Fprint(s.App.Stdout, promptText(n.Member.DisplayName, n.Text))
	}
}

// PromptJSON is a prompt in JSON output. It is not a line of the journal and has no seq.
type PromptJSON struct {
	Type     string `json:"type"`
	MemberID string `json:"memberId"`
	Prompt   string `json:"prompt"`
}

// watched reports whether replies are streamed as text.
func (s *Screen) watched() bool { return s.Terminal && !s.JSON }

// Text implements coordinator.Listener. It prints a streamed reply up to the first marker. The rest
// is printed when the reply is complete, since a marker may turn out to be in a code block.
func (s *Screen) Text(m team.Member, text string) {
	if !s.watched() {
		return
	}
	s.show(m.DisplayName, s.reply.pass(text))
}

// show prints a part of a reply.
func (s *Screen) show(name, text string) {
	if text == "" {
		return
	}
	if !s.speaking {
		if text = strings.TrimLeft(text, "\r\n"); text == "" { // of what a tool interrupted
			return
		}
		s.name(tty.SafeLine(name))
		s.speaking = true
	}
	for len(text) > printedAtOnce {
		first := runecut.Prefix(text, printedAtOnce)
		fmt.Fprint(s.App.Stdout, s.Wrap.Pass(tty.Safe(first)))
		text = text[len(first):]
		select {
		case <-s.Cancelled:
			return
		default:
		}
	}
	fmt.Fprint(s.App.Stdout, s.Wrap.Pass(tty.Safe(text)))
}

// printedAtOnce is how many bytes of a reply are printed before the next look at Cancelled.
const printedAtOnce = 64 << 10

// message prints an agent's message except for the part that was streamed.
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

// name starts a message with its speaker.
func (s *Screen) name(name string) {
	fmt.Fprintf(s.App.Stdout, "%s: ", s.styled("\x1b[1m", name))
	s.Wrap.Begin(name + ": ")
}

// styled returns text in a style of the terminal, unless colors are off.
func (s *Screen) styled(style, text string) string {
	if !s.watched() || s.App.NoColor {
		return text
	}
	return style + text + "\x1b[0m"
}

// MessageText returns a message as text output prints it.
func MessageText(e projection.Entry) string { return speakerName(e) + ": " + tty.Safe(e.Content) }

func speakerName(e projection.Entry) string {
	return tty.SafeLine(e.Speaker.DisplayName) + app.UnfinishedText(e)
}

// EndLine ends an unfinished line.
func (s *Screen) EndLine() {
	if s.speaking {
		fmt.Fprintln(s.App.Stdout)
		s.speaking = false
	}
}

// A streamed is a reply that is printed while it arrives, up to the first marker.
type streamed struct {
	shown  strings.Builder
	held   strings.Builder // the text after shown: a marker or its possible beginning, and the rest
	marked bool
}

// blanks are trimmed from the end of a reply.
const blanks = " \t\r\n"

// pass appends a chunk of the reply and returns what can be printed.
func (r *streamed) pass(piece string) string {
	scanned := max(0, r.held.Len()-len("[NEXT")) // no marker begins before
	r.held.WriteString(piece)
	if r.marked || strings.Trim(piece, blanks) == "" {
		return ""
	}
	text := r.held.String()
	at, marked := marker.Begin(text[scanned:])
	r.marked = marked
	show := strings.TrimRight(text[:scanned+at], blanks)
	r.shown.WriteString(show)
	r.held.Reset()
	r.held.WriteString(text[len(show):])
	return show
}
