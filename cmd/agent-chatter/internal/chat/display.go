package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
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
}

// begin resets the state for a conversation of a team.
func (d *display) begin(t *team.Team) {
	d.Reporter.Begin(t)
	d.Say(func(m *console.Model) []view.Block {
		if !d.JSON {
			m.Transcript = view.NewTranscript(t)
		}
		m.Status, m.Sources.Members = console.Status{Idle: tty.SafeLine(t.DisplayName)}, members(t)
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
	next, idle := "", ""
	if d.console != nil {
		now := statusOf(d.repl.c)
		d.repl.statuses.Refresh(now)
		idle = idleText(d.Team.DisplayName, now.Session)
		if len(now.Queued) > 0 {
			next = tty.SafeLine(now.Queued[0].Member.DisplayName)
		}
	}
	d.Say(func(m *console.Model) []view.Block {
		blocks := d.blocks(m, e)
		if m.Transcript != nil && d.Team.ShowThinkingTimer {
			m.Status.Follow(m.Transcript.Open(), d.DisplayName, time.Now())
		}
		m.Status.Next, m.Status.Idle, m.Status.Escape = next, idle, d.console != nil && d.Team.AllowEscCancel
		said, ok := e.Payload.(projection.MessageAppended)
		if ok && d.console != nil && said.Message.Speaker.Type == projection.TypeHuman {
			m.Editor.Remember(said.Message.Content)
		}
		return blocks
	})
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
}

// Status implements coordinator.Listener.
func (d *display) Status(s coordinator.Status) {
	d.Reporter.Status(s)
	d.Say(func(m *console.Model) []view.Block {
		m.Status.Unsaved = ""
		if s.Unsaved {
			m.Status.Unsaved = textUnsaved
		}
		return nil
	})
}

// Ask implements coordinator.Listener.
func (d *display) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	if d.repl.scripted {
		return d.Reporter.Ask(ctx, q)
	}
	select {
	case d.question <- struct{}{}:
		defer func() { <-d.question }()
	case <-ctx.Done():
		return coordinator.Answer{}
	}
	if d.console == nil {
		return d.repl.askPlain(ctx, q)
	}
	if len(q.Permission.Questions) > 0 {
		answer := askQuestions(q.Permission, func(i int) ([]string, coordinator.Decision, string) {
			return d.askQuestion(ctx, q, i)
		})
		d.repl.noteRefusal(q, answer.Reason)
		return answer
	}
	lines := permissionLines(q.Member.DisplayName, q.Permission, view.OutputStyle(d.App))
	question := permissionQuestion(q.Permission, d.Team.AllowEscCancel)
	question.Lines = permissionRows(host.PermissionText(q.Member.DisplayName, q.Permission), d.console.Columns())
	d.console.Print(lines...)
	answer := answerOf(d.console.Ask(question, ctx.Done()))
	if ctx.Err() == nil {
		fmt.Fprintln(d.App.Stdout, answeredText(answer.Decision))
	}
	d.repl.noteRefusal(q, answer.Reason)
	return answer
}

// idleText is shown while no agent speaks: the team, and how far the conversation is.
func idleText(team string, s *coordinator.Session) string {
	if s == nil || s.Stats.Messages == 0 {
		return tty.SafeLine(team)
	}
	return tty.SafeLine(team) + " · " + app.Count(s.Stats.Messages, "message")
}

// textUnsaved is what the status row says of a conversation that is only in memory.
const textUnsaved = "not saved"
