package agent

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// servicesOf returns what the client offers to an agent in a turn.
func servicesOf(turn Turn) acp.Services {
	if turn.Editor == nil {
		return acp.Services{}
	}
	return acp.Services(turn.Editor.Offers())
}

// An editorUse is what a turn's agent has done in the editor. The permissions of the member decide on it: a file that
// the agent writes, and a command that it runs there, needs Turn.Permit, unless the agent has just asked for that.
type editorUse struct {
	mu        sync.Mutex
	granted   []editorGrant // what the agent was allowed to do once
	terminals []string
	failed    map[string]string // why the use of a tool failed, by its id
	tools     []ToolStarted     // announced by needsPermission
}

const (
	toolWriteFile  = "write_text_file"
	toolTerminal   = "terminal"
	editorIDPrefix = "editor-" // of the ids of tools that the agent does not report
)

// An editorGrant is a use of the editor that is permitted.
type editorGrant struct {
	key string // of editKey or commandKey
	new string // what a written file has, wherever
}

func editKey(path string) string { return toolWriteFile + " " + filepath.Clean(path) }

func commandKey(line string) string { return toolTerminal + " " + line }

// grant notes what a permission allows to do in the editor once.
func (u *editorUse) grant(p Permission) {
	var granted []editorGrant
	for _, e := range p.Edits {
		granted = append(granted, editorGrant{editKey(e.Path), e.New})
	}
	var input struct{ Command string }
	_ = json.Unmarshal(p.Input, &input) // "" for other tools
	if input.Command != "" {
		granted = append(granted, editorGrant{key: commandKey(input.Command)})
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.granted = append(u.granted, granted...)
}

// take reports whether a use was granted, once. The content of a file has what the user has seen.
func (u *editorUse) take(key, content string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.IndexFunc(u.granted, func(g editorGrant) bool {
		return g.key == key && strings.Contains(content, g.new)
	})
	if i >= 0 {
		u.granted = slices.Delete(u.granted, i, i+1)
	}
	return i >= 0
}

// owns reports whether the turn has a terminal.
func (u *editorUse) owns(terminal string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Contains(u.terminals, terminal)
}

func (u *editorUse) add(terminal string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.terminals = append(u.terminals, terminal)
}

func (u *editorUse) remove(terminal string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.terminals = slices.DeleteFunc(u.terminals, func(id string) bool { return id == terminal })
}

// fail notes why the use of a tool failed.
func (u *editorUse) fail(id, reason string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.failed = map[string]string{}
	}
	u.failed[id] = reason
}

// takeServiceRequest serves a request in the background.
func (t *acpTurn) takeServiceRequest(r acp.ServiceRequest) {
	if t.over {
		t.Fail(r, "the turn is over")
		return
	}
	if !t.requests.takes(len(r.Content)) {
		t.Fail(r, "too many requests wait for an answer")
		return
	}
	ask := t.needsPermission(r)
	t.requests.serve("", len(r.Content), new(atomic.Int32), func(ctx context.Context, _ *openRequest) {
		reason := ""
		if ask != nil && t.turn.permit(ctx, *ask).Scope == Nothing {
			reason = "permission denied: the user, or the permissions of the member, do not allow it"
		}
		if reason == "" {
			result, err := t.serve(ctx, r)
			if err == nil {
				t.Respond(r, result)
				return
			}
			reason = err.Error()
		}
		if ask != nil {
			t.editor.fail(ask.ToolID, reason)
		}
		t.Fail(r, reason)
	})
}

// needsPermission returns what has to be permitted before a request is served; nil if nothing has to be. It announces
// the use as a tool: the agent has not asked for it.
func (t *acpTurn) needsPermission(r acp.ServiceRequest) *Permission {
	asked := Permission{ToolID: editorIDPrefix + strconv.Itoa(len(t.editor.tools)+1)}
	switch r.Method {
	case sdk.ClientMethodFsWriteTextFile:
		if t.editor.take(editKey(r.Path), r.Content) {
			return nil
		}
		asked.Tool, asked.Kind = toolWriteFile, KindEdit
		asked.Title, asked.Input = "write "+r.Path, object("path", r.Path)
		asked.Edits, asked.Omitted = edits([]acp.Edit{{Path: r.Path, New: r.Content}})
	case sdk.ClientMethodTerminalCreate:
		line := strings.Join(append([]string{r.Command}, r.Args...), " ")
		if t.editor.take(commandKey(line), "") {
			return nil
		}
		asked.Tool, asked.Kind = toolTerminal, KindExecute
		asked.Title, asked.Input = line, object("command", line)
	default:
		return nil
	}
	t.endMessage()
	tool := ToolStarted{ID: asked.ToolID, Name: asked.Tool, Input: asked.Input}
	t.editor.tools = append(t.editor.tools, tool)
	t.emit(tool)
	return &asked
}

// serve asks the editor for a service.
func (t *acpTurn) serve(ctx context.Context, r acp.ServiceRequest) (result any, err error) {
	editor := t.turn.Editor
	if r.Terminal != "" && !t.editor.owns(r.Terminal) {
		return nil, errors.New("there is no such terminal in this turn")
	}
	switch r.Method {
	case sdk.ClientMethodFsReadTextFile, sdk.ClientMethodFsWriteTextFile:
		if !filepath.IsAbs(r.Path) {
			return nil, errors.New("the path is not absolute")
		}
		if r.Method == sdk.ClientMethodFsWriteTextFile {
			return sdk.WriteTextFileResponse{}, editor.WriteTextFile(ctx, r.Path, r.Content)
		}
		text, err := editor.ReadTextFile(ctx, r.Path, r.Line, r.Limit)
		return sdk.ReadTextFileResponse{Content: text}, err
	case sdk.ClientMethodTerminalCreate:
		id, err := editor.CreateTerminal(ctx, TerminalCommand{r.Command, r.Args, r.Env, r.Dir, r.OutputLimit})
		if err == nil {
			t.editor.add(id)
		}
		return sdk.CreateTerminalResponse{TerminalId: id}, err
	case sdk.ClientMethodTerminalOutput:
		out, err := editor.TerminalOutput(ctx, r.Terminal)
		answer := sdk.TerminalOutputResponse{Output: out.Text, Truncated: out.Truncated}
		if out.Exit != nil {
			answer.ExitStatus = &sdk.TerminalExitStatus{ExitCode: out.Exit.Code, Signal: signalOf(*out.Exit)}
		}
		return answer, err
	case sdk.ClientMethodTerminalWaitForExit:
		exit, err := editor.WaitForTerminal(ctx, r.Terminal)
		return sdk.WaitForTerminalExitResponse{ExitCode: exit.Code, Signal: signalOf(exit)}, err
	case sdk.ClientMethodTerminalKill:
		return sdk.KillTerminalResponse{}, editor.KillTerminal(ctx, r.Terminal)
	}
	err = editor.ReleaseTerminal(ctx, r.Terminal)
	t.editor.remove(r.Terminal)
	return sdk.ReleaseTerminalResponse{}, err
}

func signalOf(exit TerminalExit) *string {
	if exit.Signal == "" {
		return nil
	}
	return &exit.Signal
}

// leaveEditor ends what the turn has left running in the editor.
func (t *acpTurn) leaveEditor(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	for _, id := range t.editor.terminals {
		_ = t.turn.Editor.ReleaseTerminal(ctx, id) // it may be gone with the editor
	}
}

// emitEditorUses emits the ends of the tools that needsPermission announced.
func (t *acpTurn) emitEditorUses() {
	t.editor.mu.Lock()
	defer t.editor.mu.Unlock()
	for _, tool := range t.editor.tools {
		t.emit(ToolCompleted{ID: tool.ID, Name: tool.Name, Error: t.editor.failed[tool.ID]})
	}
}

// edits returns the changes of a request that are short enough to be shown whole, and the size of the others in bytes.
func edits(all []acp.Edit) (shown []FileEdit, omitted int) {
	for _, e := range all {
		if size := len(e.Path) + len(e.Old) + len(e.New); size > maxOutput {
			omitted += size
			continue
		}
		shown = append(shown, FileEdit(e))
	}
	return shown, omitted
}
