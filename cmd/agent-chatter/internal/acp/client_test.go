package acp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// testEditor is a client that keeps what it gets.
type testEditor struct {
	t *testing.T
	*sdk.ClientSideConnection
	home, cwd string
	input     io.Closer  // of the agent
	ended     chan error // gets what the agent returned
	stop      func()     // ends the agent, as a signal does
	answer    func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome
	withdrawn chan struct{} // closed when a request for permission is withdrawn; nil: answer answers it

	mu      sync.Mutex
	updates []sdk.SessionNotification
	changed chan struct{} // closed at the next update
}

func (e *testEditor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, n)
	close(e.changed)
	e.changed = make(chan struct{})
	return nil
}

func (e *testEditor) RequestPermission(
	ctx context.Context, r sdk.RequestPermissionRequest,
) (sdk.RequestPermissionResponse, error) {
	if e.withdrawn != nil {
		<-ctx.Done()
		close(e.withdrawn)
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: e.answer(r)}, nil
}

func (*testEditor) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (r sdk.ReadTextFileResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (r sdk.WriteTextFileResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (r sdk.CreateTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) KillTerminal(context.Context, sdk.KillTerminalRequest) (r sdk.KillTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (r sdk.TerminalOutputResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (r sdk.ReleaseTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

func (*testEditor) WaitForTerminalExit(
	context.Context, sdk.WaitForTerminalExitRequest,
) (r sdk.WaitForTerminalExitResponse, err error) {
	return r, sdk.NewMethodNotFound("")
}

// await waits until the updates satisfy a condition.
func (e *testEditor) await(satisfied func([]sdk.SessionNotification) bool) {
	e.t.Helper()
	for {
		e.mu.Lock()
		done, changed := satisfied(e.updates), e.changed
		e.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-e.t.Context().Done():
			e.t.Fatal(e.text())
		}
	}
}

// text is what the user sees of the members: the texts of the messages.
func (e *testEditor) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, n := range e.updates {
		if c := n.Update.AgentMessageChunk; c != nil && c.Content.Text != nil {
			b.WriteString(c.Content.Text.Text)
		}
	}
	return b.String()
}

// forget removes the updates.
func (e *testEditor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = nil
}

// newApp returns the App of a home, in a directory.
func newApp(t *testing.T, home string) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// start starts the agent of a home and its client. The team is that of --team.
func start(t *testing.T, home, team string) *testEditor {
	t.Helper()
	return startApp(t, newApp(t, home), team)
}

// startApp is start for an App.
func startApp(t *testing.T, a *app.App, team string) *testEditor {
	t.Helper()
	e := &testEditor{t: t, home: a.Home, cwd: t.TempDir(), ended: make(chan error, 1), changed: make(chan struct{})}
	config, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	in, toAgent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromAgent, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e.input, e.stop = toAgent, stop
	checkedIn, checkedOut := recorded(t, in, out)
	go func() {
		err := newServer(a, config, team).serve(ctx, checkedIn, checkedOut)
		out.Close()
		e.ended <- err
	}()
	e.ClientSideConnection = sdk.NewClientSideConnection(e, toAgent, fromAgent)
	t.Cleanup(func() {
		toAgent.Close()
		stop()
		<-e.Done()
		in.Close()
		fromAgent.Close()
	})
	initialized, err := e.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1})
	if err != nil || initialized.ProtocolVersion != 1 {
		t.Fatalf("initialized: %+v, %v", initialized, err)
	}
	return e
}

// end ends the input of the agent, and waits until it has ended.
func (e *testEditor) end() {
	e.t.Helper()
	e.input.Close()
	if err := <-e.ended; err != nil {
		e.t.Error(err)
	}
	e.ended <- nil
}

// begin opens a session.
func (e *testEditor) begin() sdk.SessionId {
	e.t.Helper()
	created, err := e.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: e.cwd, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return created.SessionId
}

func promptOf(id sdk.SessionId, text string) sdk.PromptRequest {
	return sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}}
}

// say sends a prompt that is to end with a reason.
func (e *testEditor) say(id sdk.SessionId, text string, want sdk.StopReason) {
	e.t.Helper()
	if got, err := e.Prompt(e.t.Context(), promptOf(id, text)); err != nil || got.StopReason != want {
		e.t.Fatalf("%q ended with %q, %v; want %q", text, got.StopReason, err, want)
	}
}

// fakeTeam writes a team of the test's agent to a home and returns its name.
func fakeTeam(t *testing.T, home string, names ...string) string {
	t.Helper()
	fake := agenttest.Member()
	writeTeam(t, home, fake.Command, fake.Env, names...)
	return "crew"
}

// writeTeam writes the team crew, whose members run a command, to a home.
func writeTeam(t *testing.T, home, command string, env map[string]string, names ...string) {
	t.Helper()
	members := []map[string]any{{
		"name": "you", "displayName": "You", "type": "human", "role": "human", "themeColor": "blue",
		"baseDir": home, "systemInstruction": "",
	}}
	for _, name := range names {
		members = append(members, map[string]any{
			"name": name, "displayName": strings.ToUpper(name[:1]) + name[1:], "type": "ai", "role": "agent",
			"engine": "acp", "agentType": "fake", "env": env, "themeColor": "green", "baseDir": home,
			"systemInstruction": "",
		})
	}
	agents := []map[string]any{{"name": "fake", "command": command, "args": []string{}}}
	file := map[string]any{"schemaVersion": "1.2", "agents": agents, "team": map[string]any{
		"name": "crew", "displayName": "Crew", "description": "Tests", "members": members,
	}}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "team-config", "crew.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
