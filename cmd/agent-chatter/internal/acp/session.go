package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// endOfInput is the reason that journals record when the client is gone.
const endOfInput = "end of input"

// A session is one conversation of the client.
type session struct {
	server *server
	id     string
	app    *app.App  // of its working directory
	hub    *host.Hub // nil: there is none

	live   *live.Conversation
	queue  *live.Queue                 // what was entered in other front ends
	pasted attach.Pasted               // the pictures in it
	key    atomic.Pointer[catalog.Key] // nil: there are no events yet

	turn     sync.Mutex // held while the following are used
	c        *coordinator.Coordinator
	listener *listener
	closed   bool
	applied  *team.Team // the team that c has
	saved    bool       // there are events of it

	mu      sync.Mutex // of the following
	name    string     // of the team, as the client chooses it
	loaded  *team.Team // as its file has it
	choices optionChoices
	team    *team.Team // loaded with the choices
	begun   bool       // there was a prompt
	sending bool       // sendQueued runs
	ending  bool       // close was called: nothing more begins

	cancelTurns context.CancelCauseFunc // nil: none run
}

// prepare returns a session without a team.
func (s *server) prepare(id, cwd string, servers []sdk.McpServer) *session {
	o := &session{server: s, id: id}
	o.listener = newListener(o)
	o.app = s.app.WithStderr(io.Discard) // what it prints goes to the client
	o.app.Cwd, o.app.Present, o.app.Stdin, o.app.Stdout = cwd, o.listener.present, nil, io.Discard
	o.app.Slash = func([]string) []string { return nil }
	o.share()
	o.listener.Reporter.App = o.app
	o.hub = host.NewHub(o.app, s.config.Hub, false)
	s.mu.Lock()
	can := s.can
	s.mu.Unlock()
	o.c = coordinator.New(coordinator.Options{
		Store: o.store(), Listener: &host.EventLog{Listener: o.listener, Log: s.app.Log}, App: s.app.Identity(),
		CWD: cwd, Window: coordinator.Window(s.config.Window), Engines: agent.Engines(),
		Budget:      coordinator.Budget{Home: s.config.Budget, Day: spending.NewDay(s.app, true)},
		KeepSecrets: s.config.KeepSecrets(), Guard: s.guard, MCPServers: mcpServers(servers),
		Recall: host.RecallServer(s.app), HomeKey: host.HomeKey(s.app, true), Residents: s.residents, Asks: true,
		Workspace: host.Workspace(o.app, s.config, true),
		Home:      o.app.Home,
		NewMember: setup.MemberMaker(o.app), Editor: newEditor(s.client, sdk.SessionId(id), can),
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
func (s *server) newSession(cwd string, servers []sdk.McpServer) (*session, error) {
	cwd, err := directory(cwd)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return nil, app.Exit(app.ExitUsage, noDirectoryText(cwd))
	}
	o := s.prepare(ulid.Make().String(), cwd, servers)
	t, err := o.load(s.team)
	if err != nil {
		return nil, err
	}
	o.setTeam(cmp.Or(s.team, t.Name), t)
	o.warn()
	return o, s.add(o, true)
}

// load loads a team by its name or path; "" is the demo.
func (o *session) load(name string) (*team.Team, error) {
	if name == "" {
		return team.Demo(), nil
	}
	return o.teams().Load(context.Background(), name)
}

// warn presents what is doubtful about the home, once, and about the team.
func (o *session) warn() {
	o.server.warned.Do(func() { host.WarnUnsafePlace(o.app, nil) })
	for _, m := range o.loaded.Members {
		setup.WarnIneffective(o.app, m)
	}
}

// teams returns the loader of teams, which asks no user.
func (o *session) teams() teams.Loader { return teams.Loader{App: o.app} }

// announce sends what belongs to the session, once the client knows it.
func (o *session) announce() { o.listener.send(o.availableCommands()) }

// errClosed is the error of a prompt in a session that is closed.
var errClosed = errors.New("the session is closed")

// Prompt implements sdk.Agent. It returns when a person is next.
func (s *server) Prompt(_ context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx := s.wire.Prompt(string(r.SessionId))
	o, err := s.session(r.SessionId)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	message, err := readPrompt(r.Prompt)
	if err != nil {
		return sdk.PromptResponse{}, s.failure(app.Exit(app.ExitUsage, unreadText(err, message.Omitted)))
	}
	reason, err := o.prompt(ctx, message)
	return sdk.PromptResponse{StopReason: reason}, s.failure(err)
}

// prompt sends a message of the client to the team and returns why its turns stopped. While a message of another front
// end has turns, it waits; if the client cancels it then, those turns are cancelled, too.
func (o *session) prompt(ctx context.Context, message promptMessage) (sdk.StopReason, error) {
	if !o.turn.TryLock() {
		stop := context.AfterFunc(ctx, func() { o.cancel(context.Cause(ctx)) })
		o.turn.Lock()
		if !stop() {
			o.turn.Unlock()
			return sdk.StopReasonCancelled, nil
		}
	}
	defer o.turn.Unlock()
	return o.run(ctx, message, coordinator.Device{})
}

// run sends a message that was entered on a device, the client if it is the zero Device. The turn lock is held.
func (o *session) run(ctx context.Context, message promptMessage, device coordinator.Device) (sdk.StopReason, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o.setCancel(cancel)
	defer o.setCancel(nil)
	if err := o.ready(ctx); err != nil {
		return "", err
	}
	if err := o.checkClaim(ctx); err != nil {
		return "", err
	}
	o.listener.beginPrompt(ctx)
	if len(message.Omitted) > 0 {
		o.app.Notice(omittedText(message.Omitted))
	}
	o.live.ShowNext(o.c, false)
	stopSteering := o.queue.Watch(o.steer)
	err := o.runLine(ctx, message, device)
	stopSteering()
	o.live.ShowNext(o.c, true)
	o.hub.ShowState()
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

func (o *session) setCancel(cancel context.CancelCauseFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancelTurns = cancel
	if cancel != nil && o.ending {
		cancel(errEnded)
	}
}

func (o *session) isEnding() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ending
}

// ready gives the coordinator the team of the session. The caller holds the turn lock.
func (o *session) ready(ctx context.Context) error {
	if o.closed {
		return errClosed
	}
	o.mu.Lock()
	t, first := o.team, !o.begun
	o.begun = true
	o.mu.Unlock()
	if first {
		defer o.sendOptions() // the team is fixed now
	}
	if o.applied == t {
		return nil
	}
	if !o.saved {
		o.listener.begin(t, nil)
		return o.apply(ctx, t, coordinator.SetTeamOptions{SessionID: o.id})
	}
	if err := o.c.Save(); err != nil { // the journal is opened again
		return err
	}
	o.listener.Begin(t)
	return o.apply(ctx, t, coordinator.SetTeamOptions{ResumeSessionID: o.id})
}

// apply gives the coordinator a team.
func (o *session) apply(ctx context.Context, t *team.Team, options coordinator.SetTeamOptions) error {
	o.applied = nil // with an error there is no session, and the next prompt tries again
	o.mu.Lock()
	options.Chosen = o.choices.Chosen(t)
	o.mu.Unlock()
	err := o.c.SetTeam(ctx, t, options)
	if err == nil {
		o.applied = t
	}
	return err
}

// checkClaim closes a session that another machine continues, and returns the error that says so. What was written here
// since then becomes a fork.
func (o *session) checkClaim(ctx context.Context) error {
	status, final := o.hub.Final()
	if !final || !o.saved {
		return nil
	}
	m := app.Explain(status.Err)
	o.closed = true
	o.server.forget(o)
	o.live.End()
	if err := o.c.Stop("taken over"); err != nil {
		return err
	}
	fork, err := o.hub.Split(ctx, status)
	if err != nil {
		return err
	}
	if fork != "" {
		m = forkedText(m, fork)
	}
	return app.Exit(app.ExitLocked, m)
}

// forkedText is for a session that another machine continues, with what was written here.
func forkedText(m app.Message, fork string) app.Message {
	m.Text += fmt.Sprintf("\nWhat was written here since then is session %s.", fork)
	return m.With(app.To("resume it", "chat", "--resume", fork))
}

// sendOptions sends the options when the client has not asked for a change.
func (o *session) sendOptions() {
	o.listener.send(sdk.SessionUpdate{ConfigOptionUpdate: &sdk.SessionConfigOptionUpdate{ConfigOptions: o.options()}})
}

// close ends the session after the prompt that runs, which the caller has canceled.
func (o *session) close(reason string) error {
	o.mu.Lock()
	o.ending = true
	o.mu.Unlock()
	o.cancel(errEnded)
	o.turn.Lock()
	defer o.turn.Unlock()
	o.live.End()
	if o.closed {
		return nil
	}
	o.closed = true
	return o.c.Stop(reason)
}

// mcpServers returns the servers of the client's configuration.
func mcpServers(of []sdk.McpServer) (servers []agent.MCPServer) {
	for _, s := range of {
		switch {
		case s.Stdio != nil:
			env := map[string]string{}
			for _, v := range s.Stdio.Env {
				env[v.Name] = v.Value
			}
			servers = append(servers, agent.MCPServer{
				Name: s.Stdio.Name, Command: s.Stdio.Command, Args: s.Stdio.Args, Env: env,
			})
		case s.Http != nil:
			servers = append(servers, agent.MCPServer{
				Name: s.Http.Name, Type: "http", URL: s.Http.Url, Headers: headers(s.Http.Headers),
			})
		case s.Sse != nil:
			servers = append(servers, agent.MCPServer{
				Name: s.Sse.Name, Type: "sse", URL: s.Sse.Url, Headers: headers(s.Sse.Headers),
			})
		}
	}
	return servers
}

func headers(of []sdk.HttpHeader) map[string]string {
	all := map[string]string{}
	for _, h := range of {
		all[h.Name] = h.Value
	}
	return all
}

// unreadText is for a prompt that is no message.
func unreadText(err error, omitted []omitted) app.Message {
	m := app.Text("Nothing was sent: %s.", tty.SafeLine(err.Error()))
	if len(omitted) > 0 {
		m.Text += "\n" + omittedText(omitted)
	}
	return m
}

// omittedText lists what members do not get of a prompt.
func omittedText(all []omitted) string {
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = string(o.Kind)
		if what := tty.SafeLine(cmp.Or(o.Name, o.MIME)); what != "" {
			names[i] += " (" + what + ")"
		}
	}
	return "The members take only text. Left out: " + strings.Join(names, ", ") + "."
}
