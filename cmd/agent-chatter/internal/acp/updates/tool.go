package updates

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The bounds of a tool call in an update.
const (
	maxRaw       = 64 << 10 // bytes of the input, and of the output
	maxShown     = 16 << 10 // bytes of the output that are shown
	maxLocations = 100
)

// ToolCallID returns the ID of a tool call in updates and in requests for permission.
func ToolCallID(turnID, toolID string) sdk.ToolCallId {
	return sdk.ToolCallId(tty.SafeLine(turnID + "/" + toolID))
}

// startTool adds a tool call. What changes a todo list is shown as a plan.
func (t *Translator) startTool(m meta, c conversation.Call) {
	if !todo(c) {
		t.out = append(t.out, sdk.SessionUpdate{ToolCall: t.toolCall(m, c.Started)})
	}
}

// todo reports whether a call changes a todo list, which a plan shows.
func todo(c conversation.Call) bool {
	return view.Call{Call: conversation.Call{Started: c.Started}}.Todo()
}

// toolCall returns the update for a tool call that starts.
func (t *Translator) toolCall(m meta, p projection.ToolStarted) *sdk.SessionUpdateToolCall {
	call := &sdk.SessionUpdateToolCall{
		ToolCallId: ToolCallID(p.TurnID, p.ToolID), Title: m.Name + ": " + view.ToolText(p), Kind: kindOf(p.Name),
		Status: sdk.ToolCallStatusInProgress, RawInput: rawInput(p.Input), Meta: m.values(),
	}
	size := 0
	for _, file := range view.FilesIn(p.Input) {
		path, ok := t.absolute(file.Path)
		if !ok || len(call.Locations) == maxLocations {
			continue
		}
		call.Locations = append(call.Locations, sdk.ToolCallLocation{Path: path})
		for _, e := range file.Edits {
			diff := sdk.ToolDiffContent(path, tty.Safe(e.New))
			size += len(e.New)
			if e.Old != nil {
				old := tty.Safe(*e.Old)
				diff.Diff.OldText = &old
				size += len(old)
			}
			call.Content = append(call.Content, diff)
		}
	}
	if size > maxRaw {
		call.Content = nil
	}
	if call.Content != nil && call.Kind == sdk.ToolKindOther {
		call.Kind = sdk.ToolKindEdit
	}
	return call
}

// absolute returns the absolute path of a file that an agent named; false if the working directory is unknown.
func (t *Translator) absolute(path string) (string, bool) {
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "/") { // a journal may come from another system
		if t.cwd == "" {
			return "", false
		}
		path = filepath.Join(t.cwd, path)
	}
	return tty.SafeLine(path), true
}

// completeTool adds the result of a tool call.
func (t *Translator) completeTool(m meta, c conversation.Call) {
	started, failed := c.Seq > 0, c.State() != conversation.OK
	if started && todo(c) {
		if !failed {
			return
		}
		started = false
	}
	if !started {
		call := projection.ToolStarted{TurnID: c.Started.TurnID, ToolID: c.Started.ToolID, Name: c.Started.Name}
		t.out = append(t.out, sdk.SessionUpdate{ToolCall: t.toolCall(m, call)})
	}
	status, shown := sdk.ToolCallStatusCompleted, c.Result.Output
	if failed {
		status, shown = sdk.ToolCallStatusFailed, c.Result.Error
	} else if started && t.toolCall(m, c.Started).Content != nil {
		shown = "" // the content of the call stays: what it changes
	}
	t.addResult(m, c, status, shown, rawOutput(*c.Result))
}

// endTools adds that tool calls ended without a result. After a complete turn nothing more is known of them. A journal
// that is continued has the results of those that a crash interrupted.
func (t *Translator) endTools(m meta, d conversation.Ended) {
	status := sdk.ToolCallStatusFailed
	if d.End != nil && d.End.FinishReason == projection.Done {
		status = sdk.ToolCallStatusCompleted
	}
	for _, c := range d.Open {
		if !todo(c) {
			t.addResult(m, c, status, "", nil)
		}
	}
}

// addResult adds the end of a tool call, with the text that is shown of it.
func (t *Translator) addResult(m meta, c conversation.Call, status sdk.ToolCallStatus, shown string, raw any) {
	if c.State() == conversation.Refused {
		status, shown = sdk.ToolCallStatusFailed, strings.TrimSpace("refused\n"+shown)
		m.More = map[string]any{"refused": true}
	}
	if c.State() == conversation.Bypassed {
		status, shown = sdk.ToolCallStatusFailed, "done without permission"
		m.More = map[string]any{"bypassed": true}
	}
	u := &sdk.SessionToolCallUpdate{
		ToolCallId: ToolCallID(m.TurnID, c.Started.ToolID), Status: &status, RawOutput: raw, Meta: m.values(),
	}
	if shown != "" {
		shown = markdown.AsCodeBlock("", runecut.Prefix(tty.Safe(shown), maxShown))
		u.Content = []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(shown))}
	}
	t.out = append(t.out, sdk.SessionUpdate{ToolCallUpdate: u})
}

// kinds are the kinds of tools, by their names as plainName returns them. The names are those of all supported agents.
var kinds = map[string]sdk.ToolKind{
	"read": sdk.ToolKindRead, "readfile": sdk.ToolKindRead, "readmanyfiles": sdk.ToolKindRead,
	"notebookread": sdk.ToolKindRead, "view": sdk.ToolKindRead,
	"edit": sdk.ToolKindEdit, "multiedit": sdk.ToolKindEdit, "write": sdk.ToolKindEdit, "writefile": sdk.ToolKindEdit,
	"notebookedit": sdk.ToolKindEdit, "applypatch": sdk.ToolKindEdit, "replace": sdk.ToolKindEdit,
	"filechange": sdk.ToolKindEdit, "patch": sdk.ToolKindEdit,
	"bash": sdk.ToolKindExecute, "shell": sdk.ToolKindExecute, "runshellcommand": sdk.ToolKindExecute,
	"exec": sdk.ToolKindExecute, "execcommand": sdk.ToolKindExecute, "commandexecution": sdk.ToolKindExecute,
	"localshell": sdk.ToolKindExecute, "execute": sdk.ToolKindExecute,
	"grep": sdk.ToolKindSearch, "glob": sdk.ToolKindSearch, "ls": sdk.ToolKindSearch, "list": sdk.ToolKindSearch,
	"listdirectory": sdk.ToolKindSearch, "searchfilecontent": sdk.ToolKindSearch, "search": sdk.ToolKindSearch,
	"find": sdk.ToolKindSearch, "codesearch": sdk.ToolKindSearch,
	"webfetch": sdk.ToolKindFetch, "websearch": sdk.ToolKindFetch, "googlewebsearch": sdk.ToolKindFetch,
	"fetch": sdk.ToolKindFetch,
	"task":  sdk.ToolKindThink, "think": sdk.ToolKindThink, "todowrite": sdk.ToolKindThink,
	"writetodos": sdk.ToolKindThink,
	"delete":     sdk.ToolKindDelete, "move": sdk.ToolKindMove,
}

func kindOf(tool string) sdk.ToolKind {
	if kind, ok := kinds[plainName(tool)]; ok {
		return kind
	}
	return sdk.ToolKindOther
}

func plainName(tool string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(tool))
}

// rawInput returns the input of a tool with safe texts; nil if it is too long.
func rawInput(input json.RawMessage) any {
	if len(input) > maxRaw {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return safeValue(value)
}

// safeValue makes the texts in a JSON value safe for a terminal. Numbers that the SDK cannot encode become texts.
func safeValue(value any) any {
	switch v := value.(type) {
	case string:
		return tty.Safe(v)
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return v.String()
		}
	case []any:
		for i := range v {
			v[i] = safeValue(v[i])
		}
	case map[string]any:
		safe := make(map[string]any, len(v))
		for key, of := range v {
			safe[tty.Safe(key)] = safeValue(of)
		}
		return safe
	}
	return value
}

// rawOutput returns the result of a tool; nil if it is empty.
func rawOutput(p projection.ToolCompleted) any {
	raw := map[string]any{}
	for key, text := range map[string]string{"output": p.Output, "error": p.Error} {
		if text != "" {
			raw[key] = runecut.Prefix(tty.Safe(text), maxRaw)
		}
	}
	if p.OutputBytes > int64(len(p.Output)) {
		raw["outputBytes"] = p.OutputBytes
	}
	if len(raw) == 0 {
		return nil
	}
	return raw
}
