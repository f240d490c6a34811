package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// fakeEditor is an editor that keeps what it is asked for.
type fakeEditor struct {
	offers agent.EditorServices
	mu     sync.Mutex
	asked  []string
}

func (e *fakeEditor) note(format string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, fmt.Sprintf(format, args...))
	return nil
}

func (e *fakeEditor) Offers() agent.EditorServices { return e.offers }

func (e *fakeEditor) ReadTextFile(_ context.Context, path string, line, limit int) (string, error) {
	return "unsaved", e.note("read %s %d %d", filepath.Base(path), line, limit)
}

func (e *fakeEditor) WriteTextFile(_ context.Context, path, content string) error {
	return e.note("write %s %s", filepath.Base(path), content)
}

func (e *fakeEditor) CreateTerminal(_ context.Context, c agent.TerminalCommand) (string, error) {
	return "term", e.note("create %s %q %v %d", c.Command, c.Args, c.Env, c.OutputLimit)
}

func (e *fakeEditor) TerminalOutput(context.Context, string) (agent.TerminalOutput, error) {
	code := 3
	return agent.TerminalOutput{Text: "out", Truncated: true, Exit: &agent.TerminalExit{Code: &code}}, nil
}

func (e *fakeEditor) WaitForTerminal(context.Context, string) (agent.TerminalExit, error) {
	return agent.TerminalExit{Signal: "SIGKILL"}, nil
}

func (e *fakeEditor) KillTerminal(_ context.Context, id string) error {
	return errors.New("it is gone")
}

func (e *fakeEditor) ReleaseTerminal(_ context.Context, id string) error {
	return e.note("release %s", id)
}

// useEditor runs a turn whose agent makes requests of the editor. It returns what the agent got, and the tools of the
// turn.
func useEditor(
	t *testing.T, editor agent.Editor, permit func(agent.Permission) agent.Grant, requests ...[2]any,
) (got, tools []string) {
	t.Helper()
	encoded, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	turn := agent.Turn{ID: t.Name(), Dir: t.TempDir(), Member: agenttest.Member(), Prompt: "use " + string(encoded)}
	turn.Editor = editor
	turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant { return permit(p) }
	var text strings.Builder
	for event, err := range newACP(t).Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case agent.Text:
			text.WriteString(e.Text)
		case agent.ToolStarted:
			tools = append(tools, "start "+e.ID+" "+e.Name)
		case agent.ToolCompleted:
			tools = append(tools, "end "+e.ID+" "+e.Error)
		}
	}
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			got = append(got, line)
		}
	}
	return got, tools
}

func allow(agent.Permission) agent.Grant  { return agent.AllowedOnce }
func refuse(agent.Permission) agent.Grant { return agent.Refused }

const permissionRefused = `{"code":-32603,"message":"permission denied: the user, or the permissions of the member, do not allow it"}`

// absolute returns an absolute path on any system.
func absolute(t *testing.T, name string) string {
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACPServesFilesAndTerminals(t *testing.T) {
	editor := &fakeEditor{offers: agent.EditorServices{ReadTextFile: true, WriteTextFile: true, Terminals: true}}
	terminal := map[string]any{"terminalId": "term"}
	got, tools := useEditor(t, editor, allow,
		[2]any{"fs/read_text_file", map[string]any{"path": absolute(t, "a"), "line": 2, "limit": 3}},
		[2]any{"fs/read_text_file", map[string]any{"path": "a"}},
		[2]any{"fs/write_text_file", map[string]any{"path": absolute(t, "b"), "content": "new"}},
		[2]any{"terminal/output", terminal},
		[2]any{"terminal/create", map[string]any{
			"command": "go", "args": []string{"test"}, "env": []any{map[string]string{"name": "A", "value": "b"}},
			"outputByteLimit": 9,
		}},
		[2]any{"terminal/output", terminal},
		[2]any{"terminal/wait_for_exit", terminal},
		[2]any{"terminal/kill", terminal},
	)
	const noTerminal = `{"code":-32603,"message":"there is no such terminal in this turn"}`
	want := []string{
		`{"content":"unsaved"}`, `{"code":-32603,"message":"the path is not absolute"}`, `{}`, noTerminal,
		`{"terminalId":"term"}`, `{"exitStatus":{"exitCode":3},"output":"out","truncated":true}`,
		`{"signal":"SIGKILL"}`, `{"code":-32603,"message":"it is gone"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the agent got\n%q\nwant\n%q", got, want)
	}
	asked := []string{"read a 2 3", "write b new", `create go ["test"] map[A:b] 9`, "release term"}
	if !slices.Equal(editor.asked, asked) {
		t.Errorf("the editor was asked %q, want %q", editor.asked, asked)
	}
	wantTools := []string{"start editor-1 write_text_file", "start editor-2 terminal", "end editor-1 ", "end editor-2 "}
	if !slices.Equal(tools, wantTools) {
		t.Errorf("the tools are %q, want %q", tools, wantTools)
	}
}

func TestACPRefusesWhatIsNotPermitted(t *testing.T) {
	editor := &fakeEditor{offers: agent.EditorServices{ReadTextFile: true, WriteTextFile: true, Terminals: true}}
	got, tools := useEditor(t, editor, refuse,
		[2]any{"edit", absolute(t, "b")},
		[2]any{"fs/write_text_file", map[string]any{"path": absolute(t, "b"), "content": "new"}},
		[2]any{"terminal/create", map[string]any{"command": "ls"}},
		[2]any{"fs/read_text_file", map[string]any{"path": absolute(t, "a")}},
	)
	if len(got) != 4 || got[1] != permissionRefused || got[2] != permissionRefused || got[3] != `{"content":"unsaved"}` ||
		!slices.Equal(editor.asked, []string{"read a 0 0"}) {
		t.Errorf("the agent got %q; the editor was asked %q", got, editor.asked)
	}
	if n := len(tools); n < 4 || !strings.HasPrefix(tools[n-1], "end ") || !strings.Contains(strings.Join(tools, "\n"), "end editor-1 permission denied") {
		t.Errorf("the tools are %q", tools)
	}
}

func TestACPAsksOncePerPermittedEdit(t *testing.T) {
	editor := &fakeEditor{offers: agent.EditorServices{WriteTextFile: true}}
	var asked []string
	permit := func(p agent.Permission) agent.Grant {
		asked = append(asked, p.Tool+" "+filepath.Base(p.Title))
		if p.Tool == "write_text_file" {
			return agent.Refused
		}
		return agent.AllowedOnce
	}
	write := func(name, content string) [2]any {
		return [2]any{"fs/write_text_file", map[string]any{"path": absolute(t, name), "content": content}}
	}
	edited := "one\n2\nthree\n" // as the request has it
	got, _ := useEditor(t, editor, permit, [2]any{"edit", absolute(t, "b")}, write("b", "0\n"+edited), write("b", edited),
		[2]any{"edit", absolute(t, "b")}, write("c", edited), write("b", "other"))
	want := []string{"{}", permissionRefused, permissionRefused, permissionRefused}
	if len(got) != 6 || !slices.Equal(slices.Delete(slices.Clone(got[1:]), 2, 3), want) ||
		!slices.Equal(editor.asked, []string{"write b 0\n" + edited}) {
		t.Errorf("the agent got %q; the editor was asked %q", got, editor.asked)
	}
	asked = slices.DeleteFunc(asked, func(a string) bool { return !strings.HasPrefix(a, "write") })
	if !slices.Equal(asked, []string{"write_text_file b", "write_text_file c", "write_text_file b"}) {
		t.Errorf("asked %q", asked)
	}
}

func TestACPRefusesServicesThatAreNotOffered(t *testing.T) {
	requests := [][2]any{
		{"fs/read_text_file", map[string]any{"path": absolute(t, "a")}},
		{"fs/write_text_file", map[string]any{"path": absolute(t, "b"), "content": "new"}},
		{"terminal/create", map[string]any{"command": "ls"}},
	}
	reads := &fakeEditor{offers: agent.EditorServices{ReadTextFile: true}}
	for name, editor := range map[string]agent.Editor{"no editor": nil, "an editor without services": &fakeEditor{}, "reads": reads} {
		got, tools := useEditor(t, editor, allow, requests...)
		for i, answer := range got {
			if refused := strings.Contains(answer, `"code":-32601`); refused == (name == "reads" && i == 0) {
				t.Errorf("%s: request %d got %s", name, i, answer)
			}
		}
		if len(got) != len(requests) || tools != nil {
			t.Errorf("%s: got %q, tools %q", name, got, tools)
		}
	}
	if !slices.Equal(reads.asked, []string{"read a 0 0"}) {
		t.Errorf("the editor was asked %q", reads.asked)
	}
}
