package acp

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// client is an editor that keeps the requests.
type client struct {
	sdk.Client
	asked []string
}

func note[R any](c *client, request any, response R) (R, error) {
	encoded, _ := json.Marshal(request)
	c.asked = append(c.asked, string(encoded))
	return response, nil
}

func (c *client) ReadTextFile(_ context.Context, r sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return note(c, r, sdk.ReadTextFileResponse{Content: "text"})
}

func (c *client) WriteTextFile(_ context.Context, r sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return note(c, r, sdk.WriteTextFileResponse{})
}

func (c *client) CreateTerminal(_ context.Context, r sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return note(c, r, sdk.CreateTerminalResponse{TerminalId: "term"})
}

func (c *client) TerminalOutput(_ context.Context, r sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	response := sdk.TerminalOutputResponse{Output: "out", Truncated: true}
	if len(c.asked) > 0 {
		code := 3
		response.ExitStatus = &sdk.TerminalExitStatus{ExitCode: &code}
	}
	return note(c, r, response)
}

func (c *client) WaitForTerminalExit(
	_ context.Context, r sdk.WaitForTerminalExitRequest,
) (sdk.WaitForTerminalExitResponse, error) {
	signal := "SIGTERM"
	return note(c, r, sdk.WaitForTerminalExitResponse{Signal: &signal})
}

func (c *client) KillTerminal(_ context.Context, r sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return note(c, r, sdk.KillTerminalResponse{})
}

func (c *client) ReleaseTerminal(_ context.Context, r sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return note(c, r, sdk.ReleaseTerminalResponse{})
}

// connect returns an editorServices that reaches c over a connection, as in the program.
func connect(c *client, can sdk.ClientCapabilities) agent.Editor {
	toClient, fromAgent := io.Pipe()
	toAgent, fromClient := io.Pipe()
	sdk.NewClientSideConnection(c, fromClient, toClient)
	return newEditor(sdk.NewAgentSideConnection(nil, fromAgent, toAgent), "s1", can)
}

func TestCapabilitiesDecideWhatIsOffered(t *testing.T) {
	files := func(read, write, terminal bool) sdk.ClientCapabilities {
		return sdk.ClientCapabilities{
			Fs: sdk.FileSystemCapabilities{ReadTextFile: read, WriteTextFile: write}, Terminal: terminal,
		}
	}
	if e := newEditor(&client{}, "s1", files(false, false, false)); e != nil {
		t.Errorf("without capabilities there is %v", e)
	}
	for _, want := range []agent.EditorServices{{ReadTextFile: true}, {WriteTextFile: true}, {Terminals: true}} {
		e := newEditor(&client{}, "s1", files(want.ReadTextFile, want.WriteTextFile, want.Terminals))
		if e == nil || e.Offers() != want {
			t.Errorf("got %+v, want %+v", e, want)
		}
	}
}

func TestRequestsReachTheEditor(t *testing.T) {
	c, ctx := &client{}, t.Context()
	e := connect(c, sdk.ClientCapabilities{Terminal: true})
	check := func(name string, got, want any, err error) {
		t.Helper()
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	running, err := e.TerminalOutput(ctx, "t1")
	check("output of a running command", running, agent.TerminalOutput{Text: "out", Truncated: true}, err)
	text, err := e.ReadTextFile(ctx, "/a", 2, 3)
	check("read", text, "text", err)
	text, err = e.ReadTextFile(ctx, "/a", 0, 0)
	check("read all", text, "text", err)
	check("write", nil, nil, e.WriteTextFile(ctx, "/b", "new"))
	id, err := e.CreateTerminal(ctx, agent.TerminalCommand{
		Command: "go", Args: []string{"test"}, Env: map[string]string{"B": "2", "A": "1"}, Dir: "/w", OutputLimit: 9,
	})
	check("create", id, "term", err)
	code := 3
	ended, err := e.TerminalOutput(ctx, "t1")
	want := agent.TerminalOutput{Text: "out", Truncated: true, Exit: &agent.TerminalExit{Code: &code}}
	check("output", ended, want, err)
	exit, err := e.WaitForTerminal(ctx, "t1")
	check("wait", exit, agent.TerminalExit{Signal: "SIGTERM"}, err)
	check("kill", nil, nil, e.KillTerminal(ctx, "t1"))
	check("release", nil, nil, e.ReleaseTerminal(ctx, "t1"))
	const terminal = `{"sessionId":"s1","terminalId":"t1"}`
	if want := []string{
		terminal, `{"limit":3,"line":2,"path":"/a","sessionId":"s1"}`, `{"path":"/a","sessionId":"s1"}`,
		`{"content":"new","path":"/b","sessionId":"s1"}`,
		`{"args":["test"],"command":"go","cwd":"/w","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],` +
			`"outputByteLimit":9,"sessionId":"s1"}`,
		terminal, terminal, terminal, terminal,
	}; !slices.Equal(c.asked, want) {
		t.Errorf("the editor was asked\n%q\nwant\n%q", c.asked, want)
	}
}
