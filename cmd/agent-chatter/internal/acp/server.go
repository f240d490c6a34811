package acp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// maxOpen is how many sessions may be open at a time.
const maxOpen = 256

// A server is the agent of one client.
type server struct {
	app       *app.App
	config    home.Config
	team      string // of new sessions: a name or an absolute path; "": the demo
	guard     *process.Guard
	residents *coordinator.Residents
	wire      *wire
	client    *sdk.AgentSideConnection
	others    *remote.Server // for other processes that take part in sessions
	warned    sync.Once      // about the home

	mu         sync.Mutex
	can        sdk.ClientCapabilities
	sessions   map[string]*session // that are open, by id
	unanswered []*session          // whose ids the client does not have yet

	saving    sync.Mutex
	retention *host.Retention // used under saving; nil: automatic retention is off
}

func newServer(a *app.App, c home.Config, team string) *server {
	s := &server{
		app: a, config: c, team: team, guard: new(process.Guard), residents: host.Residents(a, c.MaxResident, true),
		sessions: map[string]*session{},
	}
	s.others = remote.NewServer(a.Home, a.Log, s.conversation)
	if c.Auto() {
		s.retention = host.NewRetention(a, c.Policy())
	}
	return s
}

// serve answers a client until it ends its side, or ctx is done.
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	w := newWire(in, out, s.app.Log, s)
	s.wire, s.client = w, sdk.NewAgentSideConnection(s, w, w)
	s.client.SetLogger(slog.New(slog.DiscardHandler)) // it logs contents of messages
	defer s.others.Close()
	w.Run(ctx)
	return s.close()
}

// close ends the sessions. No method is called any more.
func (s *server) close() error {
	var ending sync.WaitGroup
	s.mu.Lock()
	failures := make([]error, len(s.sessions))
	i := 0
	for _, open := range s.sessions {
		failure := &failures[i]
		ending.Go(func() { *failure = open.close(endOfInput) })
		i++
	}
	s.mu.Unlock()
	ending.Wait()
	s.app.Remote.Close()
	s.saving.Lock()
	defer s.saving.Unlock()
	s.retention.Close()
	return errors.Join(failures...)
}

// saved applies the retention policy to a team to which a session was saved.
func (s *server) saved(teamID string) {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.retention.Saved(teamID)
}

// Initialize implements sdk.Agent.
func (s *server) Initialize(_ context.Context, r sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	s.mu.Lock()
	s.can = r.ClientCapabilities
	s.mu.Unlock()
	return sdk.InitializeResponse{
		ProtocolVersion:   sdk.ProtocolVersionNumber, // the only one
		AgentInfo:         &sdk.Implementation{Name: "agent-chatter", Version: app.ThisBuild().Version},
		AgentCapabilities: capabilities(),
		AuthMethods:       []sdk.AuthMethod{},
	}, nil
}

func capabilities() sdk.AgentCapabilities {
	return sdk.AgentCapabilities{
		LoadSession:        true,
		PromptCapabilities: sdk.PromptCapabilities{EmbeddedContext: true, Image: true},
		McpCapabilities:    sdk.McpCapabilities{Http: true, Sse: true},
		SessionCapabilities: sdk.SessionCapabilities{
			Close: &sdk.SessionCloseCapabilities{}, List: &sdk.SessionListCapabilities{},
			Resume: &sdk.SessionResumeCapabilities{}, Delete: &sdk.SessionDeleteCapabilities{},
			Fork: &sdk.SessionForkCapabilities{},
		},
	}
}

// Authenticate implements sdk.Agent. There are no methods: each agent has its own login.
func (*server) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodAuthenticate)
}

// Logout implements sdk.Agent.
func (*server) Logout(context.Context, sdk.LogoutRequest) (sdk.LogoutResponse, error) {
	return sdk.LogoutResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodLogout)
}

// SetSessionMode implements sdk.Agent. There are no modes.
func (*server) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetMode)
}

// NewSession implements sdk.Agent.
func (s *server) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	open, err := s.newSession(r.Cwd, r.McpServers)
	if err != nil {
		return sdk.NewSessionResponse{}, s.failure(err)
	}
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(open.id), ConfigOptions: open.options()}, nil
}

// Cancel implements sdk.Agent. The wire handles the notification; this is for a request.
func (s *server) Cancel(_ context.Context, r sdk.CancelNotification) error {
	s.wire.Cancel(string(r.SessionId))
	return nil
}

// CloseSession implements sdk.Agent.
func (s *server) CloseSession(_ context.Context, r sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	open, err := s.session(r.SessionId)
	if err == nil {
		err = s.closeSession(open, "closed")
	}
	return sdk.CloseSessionResponse{}, s.failure(err)
}

// closeSession ends a session, and the prompt that runs in it.
func (s *server) closeSession(open *session, reason string) error {
	s.wire.Cancel(open.id)
	err := open.close(reason)
	s.forget(open)
	return err
}

// forget removes a session that is closed.
func (s *server) forget(closed *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[closed.id] == closed {
		delete(s.sessions, closed.id)
	}
}

// session returns an open session.
func (s *server) session(id sdk.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.sessions[string(id)]; open != nil {
		return open, nil
	}
	return nil, notOpen(string(id))
}

// add adds a session, unless too many are open. The client does not have its id yet if it is new.
func (s *server) add(open *session, isNew bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxOpen {
		return app.Exit(app.ExitFailed, tooManyText())
	}
	s.sessions[open.id] = open
	if isNew {
		s.unanswered = append(s.unanswered, open)
	}
	return nil
}

// answered is called with each response after it was written.
func (s *server) answered(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = slices.DeleteFunc(s.unanswered, func(open *session) bool {
		answers := bytes.Contains(line, []byte(open.id))
		if answers {
			go open.announce() // the caller holds a lock of the SDK's connection
		}
		return answers
	})
}

// canceled is called when the client cancels what runs in a session.
func (s *server) canceled(id string) {
	if open, err := s.session(sdk.SessionId(id)); err == nil {
		open.cancel(errCanceled)
	}
}

// directory checks the working directory of a session.
func directory(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) {
		return "", app.Exit(app.ExitUsage, relativeText(cwd))
	}
	return filepath.Clean(cwd), nil
}

// notFoundCode is the code of errors about sessions that do not exist.
const notFoundCode = -32002

func notOpen(id string) error {
	return &sdk.RequestError{Code: notFoundCode, Message: notOpenText(id)}
}

// failure returns the error of a response.
func (s *server) failure(err error) error {
	if err == nil {
		return nil
	}
	var request *sdk.RequestError
	if errors.As(err, &request) {
		return request
	}
	code := map[int]int{app.ExitUsage: -32602, app.ExitNotFound: notFoundCode}[app.CodeOf(err)]
	text := s.app.Render(app.Explain(err))
	return &sdk.RequestError{Code: cmp.Or(code, -32603), Message: cmp.Or(text, err.Error())}
}

func notOpenText(id string) string {
	return fmt.Sprintf("Session %.40q is not open. Create it with session/new, or open it with session/load.", id)
}

func relativeText(cwd string) app.Message {
	return app.Text("The working directory of a session must be an absolute path: %.200q", cwd)
}

func noDirectoryText(path string) app.Message {
	return app.Text("The working directory of the session is not a directory: %.200q", path)
}

func tooManyText() app.Message {
	return app.Text("%d sessions are open, which is the limit. Close one with session/close.", maxOpen)
}
