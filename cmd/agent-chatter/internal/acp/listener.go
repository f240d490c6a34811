package acp

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A listener sends what happens in a session to the client. Its methods are called under the turn lock; present is not
// always.
type listener struct {
	*view.Reporter
	session *session

	prompt  context.Context // of the prompt that runs
	turnID  string          // of the turn that runs
	limited bool            // a limit of turns was reached since begin
	failed  app.Message     // why the last turn failed; empty: it did not
	failing bool            // present is called with failed

	mu    sync.Mutex
	early []app.Message // messages before the first prompt
	begun bool
}

func newListener(o *session) *listener {
	l := &listener{Reporter: &view.Reporter{}, session: o}
	l.Reporter.Saved = func() { o.server.saved(o.c.Team().ID) }
	return l
}

// begin prepares for a prompt.
func (l *listener) begin(prompt context.Context) {
	l.prompt = prompt
	l.limited, l.failed = false, app.Message{}
	l.mu.Lock()
	early := l.early
	l.early, l.begun = nil, true
	l.mu.Unlock()
	for _, m := range early {
		l.present(app.StateNote, m)
	}
}

// present shows a message to the user, or keeps it for the first prompt.
func (l *listener) present(_ app.State, m app.Message) {
	if l.failing {
		l.failed = m
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.early = append(l.early, m)
		return
	}
	l.send(sdk.UpdateAgentThoughtText(l.session.app.Render(m) + "\n"))
}

// send sends updates. A client that is gone gets none: the journal has what they say.
func (l *listener) send(updates ...sdk.SessionUpdate) {
	for _, u := range updates {
		_ = l.session.server.client.SessionUpdate(context.Background(), sdk.SessionNotification{
			SessionId: sdk.SessionId(l.session.id), Update: u,
		})
	}
}

// Event implements coordinator.Listener.
func (l *listener) Event(e coordinator.Event) {
	l.Reporter.Event(e)
	l.session.saved = true
	if started, ok := e.Payload.(projection.TurnStarted); ok {
		l.turnID = started.TurnID
	}
	if said, ok := e.Payload.(projection.MessageAppended); ok && said.Message.Speaker.Type == projection.TypeAI {
		l.replay(said)
	}
}

// replay sends a message.
func (l *listener) replay(p projection.Payload) {
	said, ok := p.(projection.MessageAppended)
	switch {
	case !ok:
	case said.Message.Speaker.Type == projection.TypeAI:
		l.send(sdk.UpdateAgentMessageText("**" + said.Message.Speaker.DisplayName + "**\n\n" + said.Message.Content))
	default:
		l.send(sdk.UpdateUserMessageText(said.Message.Content))
	}
}

// Text implements coordinator.Listener.
func (l *listener) Text(team.Member, string) {}

// Notice implements coordinator.Listener.
func (l *listener) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.RoundLimit, coordinator.RunLimit:
		l.limited = true
	case *coordinator.TurnError:
		l.failing = true
		defer func() { l.failing = false }()
	case coordinator.Restored:
		if n.Invalid == 0 {
			return
		}
	}
	l.Reporter.Notice(n)
}

// explained returns the error of a prompt as the user is to read it.
func (l *listener) explained(err error) error {
	if errors.As(err, new(*coordinator.TurnError)) && l.failed.Text != "" {
		return &sdk.RequestError{Code: -32603, Message: l.session.app.Render(l.failed)}
	}
	return err
}
