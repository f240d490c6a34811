package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// program is the name under which this test is the program itself.
const program = "agent-chatter"

func TestMain(m *testing.M) {
	acp.PlayCommand()
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == program {
		cli.Main()
	}
	os.Exit(m.Run())
}

// place is a directory with the program, and homes and teams for it.
type place struct {
	t            *testing.T
	dir, program string
}

func newPlace(t *testing.T) place {
	t.Helper()
	self, err := os.ReadFile(executable(t))
	if err != nil {
		t.Fatal(err)
	}
	p := place{t, t.TempDir(), ""}
	p.program = filepath.Join(p.dir, program+filepath.Ext(executable(t)))
	if p.program = strings.TrimSuffix(p.program, ".test"); os.WriteFile(p.program, self, 0o700) != nil {
		t.Fatal("the program cannot be copied")
	}
	return p
}

func executable(t *testing.T) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// team writes a team with one agent of the engine acp, and returns the path of its file.
func (p place) team(name, command string, args []string, env map[string]string) string {
	p.t.Helper()
	content, err := json.Marshal(map[string]any{
		"schemaVersion": "1.2", "agents": []any{map[string]any{"name": "own", "command": command, "args": args}},
		"team": map[string]any{"name": name, "description": name, "members": []any{
			map[string]any{
				"name": name + "-agent", "displayName": name, "type": "ai", "role": "r", "agentType": "own", "engine": "acp",
				"baseDir": ".", "systemInstruction": "", "env": env,
			},
			map[string]any{
				"name": "you", "displayName": "You", "type": "human", "role": "r", "baseDir": ".", "systemInstruction": "",
			},
		}},
	})
	path := filepath.Join(p.dir, name+".json")
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p place) home(name string) string { return filepath.Join(p.dir, "home-"+name) }

// run runs the program in a home, and returns what it printed.
func (p place) run(home string, args ...string) string {
	p.t.Helper()
	printed, err := exec.CommandContext(p.t.Context(), p.program, append([]string{"--home", p.home(home)}, args...)...).
		CombinedOutput()
	if err != nil {
		p.t.Fatalf("%q: %v: %s", args, err, printed)
	}
	return string(printed)
}

// person is an editor whose user allows everything.
type person struct {
	sdk.Client
	mu    sync.Mutex
	asked []string // permissions and services
	text  strings.Builder
}

func (c *person) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
}

func (c *person) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := n.Update.AgentMessageChunk; u != nil && u.Content.Text != nil {
		c.text.WriteString(u.Content.Text.Text)
	}
	return nil
}

func (c *person) RequestPermission(
	_ context.Context, r sdk.RequestPermissionRequest,
) (response sdk.RequestPermissionResponse, err error) {
	c.note("permission")
	for _, o := range r.Options {
		if o.Kind == sdk.PermissionOptionKindAllowOnce {
			response.Outcome = sdk.NewRequestPermissionOutcomeSelected(o.OptionId)
		}
	}
	return response, nil
}

func (c *person) ReadTextFile(_ context.Context, r sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	c.note("read %s", filepath.Base(r.Path))
	return sdk.ReadTextFileResponse{Content: "not saved yet"}, nil
}

func (c *person) WriteTextFile(_ context.Context, r sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	c.note("write %s %s", filepath.Base(r.Path), r.Content)
	return sdk.WriteTextFileResponse{}, nil
}

// A team is a member of a team, in an editor: what the innermost agent reads and writes is the editor's, and its user
// is asked once for what it writes.
func TestTeamInsideATeamUsesTheEditor(t *testing.T) {
	p := newPlace(t)
	fake := agenttest.Member()
	inner := p.team("inner", fake.Command, []string{}, fake.Env)
	outer := p.team("outer", p.program, []string{"--home", p.home("inner"), "acp", "--team", inner}, map[string]string{})

	cmd := exec.CommandContext(t.Context(), p.program, "--home", p.home("outer"), "acp", "--team", outer)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("the program cannot be started")
	}
	user := &person{}
	conn := sdk.NewClientSideConnection(user, in, out)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	_, err := conn.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientCapabilities: sdk.ClientCapabilities{
			Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: p.dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(p.dir, "a"), filepath.Join(p.dir, "b")
	requests, err := json.Marshal([][2]any{
		{"fs/read_text_file", map[string]any{"path": a}},
		{"fs/write_text_file", map[string]any{"path": b, "content": "new"}},
		{"terminal/create", map[string]any{"command": "ls"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := conn.Prompt(t.Context(), sdk.PromptRequest{
		SessionId: session.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("Please:\nuse " + string(requests))},
	})
	if err != nil || answer.StopReason != sdk.StopReasonEndTurn {
		t.Errorf("the prompt ended with %q, %v", answer.StopReason, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error("the program failed:", err)
	}
	user.mu.Lock()
	defer user.mu.Unlock()
	if want := []string{"read a", "permission", "write b new"}; !slices.Equal(user.asked, want) {
		t.Errorf("the editor was asked %q, want %q", user.asked, want)
	}
	if text := user.text.String(); !strings.Contains(text, "not saved yet") || !strings.Contains(text, "-32601") {
		t.Errorf("the user got %q", text)
	}
	for _, home := range []string{"outer", "inner"} {
		if verified := p.run(home, "verify"); !strings.Contains(verified, "  ok  ") {
			t.Errorf("verify of %s printed %s", home, verified)
		}
		if shown := p.run(home, "replay", "latest", "--output", "json"); !strings.Contains(shown, "not saved yet") {
			t.Errorf("the session of %s is %s", home, shown)
		}
	}
}
