package chat

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A display shows a conversation. It is a coordinator.Listener: what is said goes through the transcript, all else
// through the Reporter.
type display struct {
	*view.Reporter
	console.Surface                  // nil: not open yet
	console         *console.Console // the Surface, if a user types on it
	repl            *repl
	question        chan struct{} // has a value while the user is asked: one question at a time

	cuts      sync.Map          // coordinator.WindowCut, by the ID of the member
	last      string            // the member of the last turn
	models    map[string]string // what agents have reported, by member
	directory string            // of the status row
	capturing bool              // the status row has the progress of a capture
}

// begin resets the state for a conversation of a team.
func (d *display) begin(t *team.Team) {
	d.Reporter.Begin(t)
	d.last, d.models = "", map[string]string{}
	d.cuts.Clear()
	d.lookAtDirectory()
	d.Say(func(m *console.Model) []view.Block {
		if !d.JSON {
			m.Transcript = view.NewTranscript(t)
			m.Transcript.WholePanels()
		}
		m.Panel, m.Status = console.Panel{}, console.Status{Facts: d.facts(nil, team.Member{})}
		m.Sources.Members = live.Members(t)
		return nil
	})
}

// showFacts makes the status row show the session that is open.
func (d *display) showFacts() {
	d.lookAtDirectory()
	member, _ := d.Team.Member(d.last)
	facts := d.facts(d.repl.c.Session(), member)
	d.Say(func(m *console.Model) []view.Block {
		m.Status.Facts = facts
		return nil
	})
}

// completeArguments makes the input box complete what the conversation has now.
func (d *display) completeArguments() {
	if d.console == nil || d.repl.c == nil {
		return
	}
	of := d.repl.arguments()
	d.Say(func(m *console.Model) []view.Block {
		of.files = m.Sources.Files
		m.Sources.Members, m.Sources.Arguments = live.Members(d.Team), of.Of
		return nil
	})
}

// showItem prints a message or an unfinished reply of a resumed session.
func (d *display) showItem(i *conversation.Item) {
	d.Say(func(m *console.Model) []view.Block {
		if d.console != nil && i.Speaker.Type == projection.TypeHuman {
			m.Editor.Remember(i.Text)
		}
		return m.Transcript.Item(i)
	})
}

// Event implements coordinator.Listener.
func (d *display) Event(e coordinator.Event) {
	d.Reporter.Event(e)
	if p, ok := e.Payload.(projection.SessionCreated); ok && (d.console != nil || d.repl.live != nil) {
		d.repl.setOwn(p.SessionID)
	}
	if d.repl.live != nil {
		d.repl.live.Follow(d.repl.c, e)
	}
	if d.repl.created != nil {
		defer d.repl.created()
	}
	if text, ok := changeLine(e.Payload); ok && d.repl.scripted {
		d.App.Notice(text) // other conversations show it among what is said
	}
	next, facts := "", []string(nil)
	if d.console != nil {
		now := statusOf(d.repl.c)
		d.repl.statuses.Refresh(now)
		d.follow(e.Payload)
		member, _ := d.Team.Member(d.last)
		facts, next = d.facts(now.Session, member), nextNamesText(now.Queued)
	}
	d.Say(func(m *console.Model) []view.Block {
		blocks := d.blocks(m, e)
		if m.Transcript != nil && d.Team.ShowThinkingTimer {
			m.Status.Follow(m.Transcript.Open(), d.DisplayName, time.Now())
		}
		if m.Transcript != nil {
			m.Panel.Apply(e.Event, d.DisplayName)
		}
		m.Status.Next, m.Status.Facts, m.Status.Escape = next, facts, d.console != nil && d.Team.AllowEscCancel
		said, ok := e.Payload.(projection.MessageAppended)
		if ok && d.console != nil && said.Message.Speaker.Type == projection.TypeHuman {
			m.Editor.Remember(said.Message.Content)
		}
		return blocks
	})
	switch e.Payload.(type) {
	case projection.TurnEnded, projection.SessionRenamed:
		d.completeArguments()
	}
}

// changeLine describes a change of a member, a limit or files.
func changeLine(p projection.Payload) (text string, ok bool) {
	if p, ok := p.(projection.Described); ok {
		return tty.SafeLine(p.Text()), true
	}
	return "", false
}

// blocks returns the blocks of an event. Of a scripted conversation, plain lines have the complete messages of agents;
// of another one, they lack what the terminal itself has echoed.
func (d *display) blocks(m *console.Model, e coordinator.Event) []view.Block {
	said, ok := e.Payload.(projection.MessageAppended)
	ofHuman := ok && said.Message.Speaker.Type == projection.TypeHuman
	switch {
	case m.Transcript == nil:
		return nil
	case !m.Style.Plain:
		return m.Transcript.Apply(e.Event)
	case !d.repl.scripted:
		blocks := m.Transcript.Apply(e.Event)
		if ofHuman {
			return nil
		}
		return blocks
	case ok && !ofHuman:
		return m.Transcript.Message(said.Message)
	}
	return nil
}

// Text implements coordinator.Listener.
func (d *display) Text(turnID string, _ team.Member, text string) {
	d.Say(console.Stream(turnID, text))
	if d.repl.live != nil {
		d.repl.live.Text(turnID, text)
	}
}

// Status implements coordinator.Listener.
func (d *display) Status(s coordinator.Status) {
	d.Reporter.Status(s)
	if d.repl.live != nil {
		d.repl.live.Set(func(l *live.State) { l.Unsaved = s.Unsaved })
	}
	d.Say(func(m *console.Model) []view.Block {
		d.showCapture(m, s.Capturing)
		m.Status.Unsaved = ""
		if s.Unsaved {
			m.Status.Unsaved = textUnsaved
		}
		return nil
	})
}

// showCapture makes the status row show how many files were captured before the turn; 0: what the member does.
func (d *display) showCapture(m *console.Model, files int) {
	if m.Transcript == nil || files == 0 && !d.capturing {
		return
	}
	m.Status.Follow(m.Transcript.Open(), d.DisplayName, time.Now())
	switch d.capturing = files > 0; {
	case d.capturing:
		m.Status.Doing = capturingText(files)
	case !d.Team.ShowThinkingTimer:
		m.Status.Doing = ""
	}
}

// capturingText is what the status row shows while files are captured. files is a multiple of 1,000.
func capturingText(files int) string { return fmt.Sprintf("capturing files: %d,000", files/1000) }

// Ask implements coordinator.Listener.
func (d *display) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if d.repl.scripted {
		return d.Reporter.Ask(ctx, q)
	}
	return d.repl.askEverywhere(ctx, q, func(ctx context.Context) coordinator.Answer { return d.askHere(ctx, q) })
}

// askHere asks on the terminal, if there is one.
func (d *display) askHere(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if d.repl.hosted {
		<-ctx.Done()
		return coordinator.Answer{}
	}
	if c := d.console; c != nil {
		c.Change(func(m *console.Model) { m.Panel.Ask(q.TurnID, 1) })
		defer c.Change(func(m *console.Model) { m.Panel.Ask(q.TurnID, -1) })
	}
	select {
	case d.question <- struct{}{}:
		defer func() { <-d.question }()
	case <-ctx.Done():
		return coordinator.Answer{}
	}
	if p, ok := d.Surface.(*console.Printer); ok {
		defer p.Hold()()
	}
	if d.console == nil {
		return d.repl.askPlain(ctx, q)
	}
	print, end := d.console.Hold()
	defer end()
	if len(q.Permission.Questions) > 0 {
		answer := askQuestions(q.Permission, func(i int) ([]string, coordinator.Decision, string) {
			return d.askQuestion(ctx, q, i, print)
		})
		d.repl.noteRefusal(q, answer.Reason, "")
		return answer
	}
	lines := permissionLines(q.Member.DisplayName, q.Permission, view.OutputStyle(d.App))
	question := permissionQuestion(q.Permission, d.Team.AllowEscCancel)
	question.Member, question.Asks = q.Member.ID, asksText(q.Member.DisplayName)
	question.Lines = permissionRows(host.PermissionText(q.Member.DisplayName, q.Permission), d.console.Columns())
	print(lines...)
	answer := answerOf(d.console.Ask(question, ctx.Done()))
	if ctx.Err() == nil {
		print(answeredText(answer.Decision))
	}
	d.repl.noteRefusal(q, answer.Reason, "")
	return answer
}

// follow notes which session it is, whose turn it is, and the model that the agent reports.
func (d *display) follow(p projection.Payload) {
	switch p := p.(type) {
	case projection.TurnStarted:
		d.last = p.MemberID
		if p.Model != "" {
			d.models[p.MemberID] = p.Model
		}
	case projection.TurnEnded:
		d.lookAtDirectory()
	case projection.MemberChanged:
		if p.Model != nil {
			delete(d.models, p.MemberID)
		}
	}
}

// nextNamesText is who is next, and how many more are queued.
func nextNamesText(queued []coordinator.Queued) string {
	if len(queued) == 0 {
		return ""
	}
	name := tty.SafeLine(queued[0].Member.DisplayName)
	if more := len(queued) - 1; more > 0 {
		name += fmt.Sprintf(" +%d", more)
	}
	return name
}

// asksText is the title of the terminal while a member asks.
func asksText(member string) string { return tty.SafeLine(member) + " asks" }

// textUnsaved is what the status row says of a conversation that is only in memory.
const textUnsaved = "not saved"
