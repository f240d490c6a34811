package acp

import (
	"context"
	"errors"
	"io"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/eventlog"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat/hub"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// endOfInput is the reason that journals record when the client is gone.
const endOfInput = "end of input"

// A session is one conversation of the client.
type session struct {
	server *server
	id     string
	app    *app.App // of its working directory
	hub    *hub.Hub // nil: there is none

	turn     sync.Mutex // held while the following are used
	c        *coordinator.Coordinator
	listener *listener
	closed   bool
	saved    bool // there are events of it

	mu    sync.Mutex // of the following
	team  *team.Team
	begun bool // there was a prompt
}

// prepare returns a session without a team.
func (s *server) prepare(id, cwd string) *session {
	o := &session{server: s, id: id}
	o.listener = newListener(o)
	o.app = s.app.WithStderr(io.Discard) // what it prints goes to the client
	o.app.Cwd, o.app.Present, o.app.Stdin, o.app.Stdout = cwd, o.listener.present, nil, io.Discard
	o.app.Slash = func([]string) []string { return nil }
	o.listener.Reporter.App = o.app
	o.hub = hub.New(o.app, s.config.Hub, false)
	o.c = coordinator.New(coordinator.Options{
		Store: o.store(), Listener: &eventlog.Listener{Listener: o.listener, Log: s.app.Log}, App: s.app.Identity(),
		CWD: cwd, Window: coordinator.Window(s.config.Window), Engines: app.Engines(agent.Demo{}),
		KeepSecrets: s.config.KeepSecrets(), Guard: s.guard,
	})
	return o
}

// store returns where the session is kept, as in a chat.
func (o *session) store() store.Store {
	if o.hub == nil {
		return store.NewFiles(o.app.Catalog)
	}
	return o.hub.Store
}

// newSession opens a session that has no events.
func (s *server) newSession(cwd string) (*session, error) {
	cwd, err := directory(cwd)
	if err != nil {
		return nil, err
	}
	o := s.prepare(ulid.Make().String(), cwd)
	if o.team, err = o.load(s.team); err != nil {
		return nil, err
	}
	return o, s.add(o, true)
}

// load loads a team by its name or path; "" is the demo.
func (o *session) load(name string) (*team.Team, error) {
	if name == "" {
		return team.Demo(), nil
	}
	return o.teams().Load(context.Background(), name)
}

// teams returns the loader of teams. Nobody can be asked.
func (o *session) teams() teams.Loader { return teams.Loader{App: o.app} }

// announce sends what the client may know of the session from now on.
func (o *session) announce() {}

// errClosed is the error of a prompt in a session that is closed.
var errClosed = errors.New("the session is closed")

// Prompt implements sdk.Agent. It returns when a person is next.
func (s *server) Prompt(_ context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx := s.wire.Prompt(string(r.SessionId))
	o, err := s.session(r.SessionId)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	reason, err := o.prompt(ctx, textOf(r.Prompt))
	return sdk.PromptResponse{StopReason: reason}, s.failure(err)
}

// prompt sends a message to the team and returns why its turns stopped.
func (o *session) prompt(ctx context.Context, text string) (sdk.StopReason, error) {
	o.turn.Lock()
	defer o.turn.Unlock()
	if err := o.ready(ctx); err != nil {
		return "", err
	}
	o.listener.begin(ctx)
	err := o.c.Say(ctx, "", text)
	switch {
	case ctx.Err() != nil:
		return sdk.StopReasonCancelled, nil
	case err != nil:
		return "", o.listener.explained(err)
	case o.listener.limited:
		return sdk.StopReasonMaxTurnRequests, nil
	}
	return sdk.StopReasonEndTurn, nil
}

// ready gives the coordinator the team of the session. The caller holds the turn lock.
func (o *session) ready(ctx context.Context) error {
	if o.closed {
		return errClosed
	}
	o.mu.Lock()
	t := o.team
	o.begun = true
	o.mu.Unlock()
	if o.c.Team() == t {
		return nil
	}
	options := coordinator.SetTeamOptions{SessionID: o.id}
	if o.c.Session() != nil {
		options = coordinator.SetTeamOptions{ResumeSessionID: o.id}
	}
	o.listener.Begin(t)
	return o.c.SetTeam(ctx, t, options)
}

// close ends the session after the prompt that runs, which the caller has canceled.
func (o *session) close(reason string) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	return o.c.Stop(reason)
}

// textOf returns the text of a prompt.
func textOf(blocks []sdk.ContentBlock) (text string) {
	for _, b := range blocks {
		if b.Text != nil {
			text += b.Text.Text
		}
	}
	return text
}
