package acp

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/updates"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A listener sends what happens in a session to the client. Its methods are called under the turn lock; present is not
// always.
type listener struct {
	*view.Reporter
	session *session

	prompt  context.Context // of the prompt that runs
	limited bool            // a limit of turns was reached in the prompt
	failed  app.Message     // why the last turn failed; empty: it did not

	mu         sync.Mutex          // of the following; updates are sent under it
	failing    bool                // present is called with failed
	prompted   bool                // there was a prompt: notices need not wait
	translator *updates.Translator // nil before the first event
	early      []app.Message       // that wait for the first prompt
}

func newListener(o *session) *listener {
	l := &listener{Reporter: &view.Reporter{}, session: o}
	l.Reporter.Saved = func() { o.server.saved(o.c.Team().ID) }
	return l
}

// begin begins with a team: at the first event or, if state is not nil, after the events that state is the fold of.
func (l *listener) begin(t *team.Team, state *projection.State) {
	l.Begin(t)
	o := updates.Options{Team: t, Command: l.session.app.CommandLine}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.translator = updates.New(o)
	if state != nil {
		l.translator = updates.Resume(o, state)
	}
}

// beginPrompt prepares for a prompt, whose context is given.
func (l *listener) beginPrompt(prompt context.Context) {
	l.prompt, l.limited, l.failed = prompt, false, app.Message{}
	l.mu.Lock()
	early := l.early
	l.early, l.prompted = nil, true
	l.mu.Unlock()
	for _, m := range early {
		l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Notice(m) })
	}
}

// update sends the updates that f returns.
func (l *listener) update(f func(*updates.Translator) []sdk.SessionUpdate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(f(l.translator)...)
}

// answer shows the answer to a command.
func (l *listener) answer(text string) {
	l.session.live.Notice(text)
	l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Answer(text) })
}

// send sends updates. A client that is gone gets none: the journal has what they say.
func (l *listener) send(updates ...sdk.SessionUpdate) {
	for _, u := range updates {
		_ = l.session.server.client.SessionUpdate(context.Background(), sdk.SessionNotification{
			SessionId: sdk.SessionId(l.session.id), Update: u,
		})
	}
}

// present shows a message to the user, at the next prompt if none runs.
func (l *listener) present(_ app.State, m app.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failing:
		l.failed = m
	case !l.prompted:
		l.early = append(l.early, m)
	default:
		l.send(l.translator.Notice(m)...)
	}
}

// replay sends the updates for an event of the journal.
func (l *listener) replay(e journal.Event) {
	l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Replay(e) })
}

func (l *listener) endReplay() { l.update((*updates.Translator).EndReplay) }

// Event implements coordinator.Listener.
func (l *listener) Event(e coordinator.Event) {
	l.Reporter.Event(e)
	l.session.saved = true
	if _, ok := e.Payload.(projection.SessionCreated); ok {
		l.session.setKey()
	}
	l.session.live.Follow(l.session.c, e)
	l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Event(e) })
	if p, ok := e.Payload.(projection.MemberChanged); ok {
		l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Answer(tty.SafeLine(p.Text())) })
	}
}

// Text implements coordinator.Listener.
func (l *listener) Text(turnID string, _ team.Member, text string) {
	l.update(func(t *updates.Translator) []sdk.SessionUpdate { return t.Text(turnID, text) })
	l.session.live.Text(turnID, text)
}

// Status implements coordinator.Listener.
func (l *listener) Status(s coordinator.Status) {
	l.Reporter.Status(s)
	l.session.live.Set(func(state *live.State) { state.Unsaved = s.Unsaved })
}

// Notice implements coordinator.Listener.
func (l *listener) Notice(n coordinator.Notice) {
	switch n := n.(type) {
	case coordinator.Round, coordinator.RunRound:
		return // an editor shows the turns themselves
	case coordinator.RoundLimit, coordinator.RunLimit:
		l.limited = true
	case *coordinator.TurnError:
		l.setFailing(true)
		defer l.setFailing(false)
	case coordinator.Restored:
		if n.Invalid == 0 {
			return
		}
	}
	l.Reporter.Notice(n)
}

func (l *listener) setFailing(failing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failing = failing
}

// explained returns the error of a prompt as the user is to read it.
func (l *listener) explained(err error) error {
	if errors.As(err, new(*coordinator.TurnError)) && l.failed.Text != "" {
		return &sdk.RequestError{Code: -32603, Message: l.session.app.Render(l.failed)}
	}
	return err
}
