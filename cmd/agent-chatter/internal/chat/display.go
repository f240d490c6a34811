package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/permission"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A display shows a conversation on a terminal. It is a coordinator.Listener: what is said goes through the
// transcript, all else through the Screen.
type display struct {
	*view.Screen
	console *console.Console
	repl    *repl
	profile ansi.Profile
	speaker string // whose turn it is

	transcript *view.Transcript // guarded by the lock of Console.Say
}

// begin resets the state for a conversation of a team.
func (d *display) begin(t *team.Team) {
	d.Screen.Begin(t)
	d.console.Say(func(m *console.Model, _ int) []string {
		d.transcript = view.NewTranscript(t)
		m.Status, m.Sources.Members = console.Status{Idle: tty.SafeLine(t.DisplayName)}, nil
		for _, member := range t.Members {
			m.Sources.Members = append(m.Sources.Members, editor.Choice{
				Text: "@" + tty.SafeLine(member.Name), Help: tty.SafeLine(member.DisplayName),
			})
		}
		return nil
	})
}

// showEntry prints a message of a resumed session.
func (d *display) showEntry(e projection.Entry) {
	d.console.Say(func(m *console.Model, columns int) []string {
		if e.Speaker.Type == projection.TypeHuman {
			m.Editor.Remember(e.Content)
		}
		return d.lines(d.transcript.Entry(e), columns)
	})
}

// Event implements coordinator.Listener.
func (d *display) Event(e coordinator.Event) {
	if _, said := e.Payload.(projection.MessageAppended); !said || d.JSON {
		d.Screen.Event(e)
	}
	now := take(d.repl.c)
	d.repl.looks.refresh(now)
	d.console.Say(func(m *console.Model, columns int) []string {
		d.follow(m, e)
		m.Status.Next, m.Status.Idle = "", idleText(d.Team.DisplayName, now.session)
		if len(now.queued) > 0 {
			m.Status.Next = tty.SafeLine(now.queued[0].Member.DisplayName)
		}
		if p, ok := e.Payload.(projection.MessageAppended); ok && p.Message.Speaker.Type == projection.TypeHuman {
			m.Editor.Remember(p.Message.Content)
		}
		if d.JSON {
			return nil
		}
		return d.lines(d.transcript.Apply(e.Event), columns)
	})
}

// follow shows in the status row what the member does whose turn it is.
func (d *display) follow(m *console.Model, e coordinator.Event) {
	s := &m.Status
	switch p := e.Payload.(type) {
	case projection.TurnStarted:
		member, _ := d.Team.Member(p.MemberID)
		d.speaker = member.DisplayName
		s.Since, s.Escape, s.Doing = time.Now(), d.Team.AllowEscCancel, thinkingText(d.speaker)
	case projection.ToolStarted:
		s.Doing = usingText(d.speaker, p.Name)
	case projection.ToolCompleted:
		s.Doing = thinkingText(d.speaker)
	case projection.TurnEnded:
		s.Doing = ""
	}
	if !d.Team.ShowThinkingTimer {
		s.Doing = ""
	}
}

// Text implements coordinator.Listener.
func (d *display) Text(_ team.Member, text string) {
	if d.JSON {
		return
	}
	d.console.Say(func(m *console.Model, columns int) []string {
		return d.lines(d.transcript.Stream(text), columns)
	})
}

// Status implements coordinator.Listener.
func (d *display) Status(s coordinator.Status) {
	d.Screen.Status(s)
	d.console.Change(func(m *console.Model) {
		m.Status.Unsaved = ""
		if s.Unsaved {
			m.Status.Unsaved = textUnsaved
		}
	})
}

// lines renders blocks for a screen of so many columns.
func (d *display) lines(blocks []view.Block, columns int) (lines []string) {
	for _, b := range blocks {
		lines = append(lines, view.Render(b, d.style(columns))...)
	}
	return lines
}

func (d *display) style(columns int) view.Style {
	return view.Style{Width: columns, Profile: d.profile}
}

// held returns the lines of what is being said. At most half of the screen is held back.
func (d *display) held(columns, rows int) (early, held []string) {
	if d.JSON || d.transcript == nil {
		return nil, nil
	}
	early = d.lines(d.transcript.Release(d.style(columns), rows/2), columns)
	return early, d.lines(d.transcript.Held(), columns)
}

// last returns the lines of the last tool call, whole.
func (d *display) last(columns int) []string {
	if d.transcript == nil {
		return nil
	}
	call, ok := d.transcript.LastCall()
	if !ok {
		return nil
	}
	return view.Render(call, view.Style{Width: columns, Profile: d.profile, Whole: true})
}

// Ask implements coordinator.Listener.
func (d *display) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	lines := permission.Lines(q.Member.DisplayName, q.Permission, d.style(d.console.Columns()))
	question := permission.Question(q.Permission, d.Team.AllowEscCancel)
	question.Lines = permission.Rows(permission.Text(q.Member.DisplayName, q.Permission), d.console.Columns())
	d.console.Print(lines...)
	answer, reason := permission.AnswerOf(d.console.Ask(question, ctx.Done()))
	if ctx.Err() == nil {
		fmt.Fprintln(d.App.Stdout, permission.AnsweredText(answer))
	}
	if reason != "" {
		d.repl.refusals = append(d.repl.refusals, permission.RefusalText(q.Member.Name, reason))
	}
	return answer
}

// idleText is shown while nobody speaks: the team, and how far the conversation is.
func idleText(team string, s *coordinator.Session) string {
	if s == nil || s.Stats.Messages == 0 {
		return tty.SafeLine(team)
	}
	return tty.SafeLine(team) + " · " + app.Count(s.Stats.Messages, "message")
}

// thinkingText is shown before the first output of an agent.
func thinkingText(member string) string { return tty.SafeLine(member) + " thinks" }

// usingText is shown while a tool of an agent runs.
func usingText(member, tool string) string {
	return fmt.Sprintf("%s uses %s", tty.SafeLine(member), tty.SafeLine(tool))
}

// textUnsaved is what the status row says of a conversation that is only in memory.
const textUnsaved = "not saved"
