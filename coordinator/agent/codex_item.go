package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// A codexItem is a step of a turn.
type codexItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Text   string `json:"text"` // of agentMessage

	ClientID string `json:"clientId"` // of userMessage

	Command  string `json:"command"` // of commandExecution
	Output   string `json:"aggregatedOutput"`
	ExitCode *int   `json:"exitCode"`

	Server    string          `json:"server"` // of mcpToolCall
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     struct {
		Message string `json:"message"`
	} `json:"error"`

	Changes json.RawMessage `json:"changes"` // of fileChange
	Query   string          `json:"query"`   // of webSearch
}

// The types of items that the engine tells apart.
const (
	codexMessage    = "agentMessage"
	codexPrompt     = "userMessage"
	codexCommand    = "commandExecution"
	codexFileChange = "fileChange"
	codexMCPCall    = "mcpToolCall"
	codexCompaction = "contextCompaction"
)

// tool returns the name and the input of the tool that an item is the use of; "" for other items,
// such as thoughts.
func (i codexItem) tool() (name string, input json.RawMessage) {
	switch i.Type {
	case codexCommand:
		return "shell", object("command", i.Command)
	case codexMCPCall:
		return i.Server + "." + i.Tool, i.Arguments
	case "dynamicToolCall":
		return cmp.Or(i.Tool, "tool"), i.Arguments
	case codexFileChange:
		return "file_change", i.Changes
	case "webSearch":
		return "web_search", object("query", i.Query)
	}
	return "", nil
}

func (i codexItem) output() string {
	if string(i.Result) == "null" {
		return i.Output
	}
	var called struct{ Content json.RawMessage } // the result of a tool of an MCP server
	jsonlines.Decode(i.Result, &called)
	return cmp.Or(i.Output, textOf(called.Content), string(i.Result))
}

// failure returns why a tool failed; "" if it succeeded.
func (i codexItem) failure() string {
	switch {
	case i.Error.Message != "":
		return i.Error.Message
	case i.ExitCode != nil && *i.ExitCode != 0:
		return fmt.Sprintf("exit code %d", *i.ExitCode)
	case i.Status != "" && i.Status != "completed":
		return i.Status
	}
	return ""
}

// A codexTool is a use of a tool.
type codexTool struct {
	name    string
	call    string          // the server and the tool of an MCP server
	changes json.RawMessage // of files
	running bool

	permission atomic.Int32 // notAsked, asked, granted or refused
}

// startItem emits the ToolStarted of an item, once, and returns its tool; nil if it is none, or there are too many.
func (t *codexTurn) startItem(i codexItem) *codexTool {
	name, input := i.tool()
	if name == "" {
		return nil
	}
	id := label(i.ID)
	if tool := t.tools[id]; tool != nil && tool.running {
		return tool
	}
	t.emit(ToolStarted{ID: id, Name: label(name), Input: input})
	t.endMessage()
	if len(t.tools) >= maxTools {
		return nil
	}
	tool := &codexTool{name: label(name), changes: i.Changes, running: true}
	if i.Type == codexMCPCall {
		tool.call = tool.name
	}
	t.tools[id] = tool
	return tool
}

// completeItem emits the events of a completed item. Codex does not report the start of some. own is whether it is of
// the session's thread.
func (t *codexTurn) completeItem(i codexItem, own bool) {
	name, _ := i.tool()
	switch {
	case i.Type == codexMessage && own:
		if !t.streamed[label(i.ID)] {
			t.emit(t.text(i.Text)...)
		}
		delete(t.streamed, label(i.ID))
		t.endMessage()
	case i.Type == codexPrompt && own:
		t.emit(t.steered.take(i.ClientID)...)
	case i.Type == codexCompaction && own:
		t.emit(Compacted{Before: t.context})
	case name != "":
		tool := t.startItem(i)
		t.emit(ToolCompleted{ID: label(i.ID), Name: label(name), Output: i.output(), Error: i.failure()})
		if tool == nil {
			tool = &codexTool{name: label(name)}
		}
		t.checkBypass(i, tool)
		tool.running = false
		if tool.permission.Load() == notAsked {
			delete(t.tools, label(i.ID))
		}
	}
}

// checkBypass reports a tool that has changed a file although the member's permissions do not allow it, or that was
// used although an answer does not, and ends the turn. A command that Codex runs unasked is in a sandbox in which it
// changes nothing.
func (t *codexTurn) checkBypass(i codexItem, tool *codexTool) {
	if i.Type != codexFileChange && i.Type != codexCommand || i.Status == "declined" {
		return
	}
	state := tool.permission.Load()
	unasked := t.policy.forbids() && state == notAsked && i.Type == codexFileChange && i.Status == "completed"
	if !unasked && (state != refused && state != asked || i.Status != "completed") {
		return
	}
	title := i.Command
	if i.Type == codexFileChange {
		title = changedPaths(changesIn(i.Changes))
	}
	t.emit(Bypassed{ToolID: label(i.ID), Tool: tool.name, Title: title})
	if t.breach != nil {
		return
	}
	t.breach = t.bypassFailure(tool.name, title)
}

// A codexChange is a change of a file.
type codexChange struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"` // add, delete or update
		Move string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"` // of add and delete, the content
}

func changesIn(raw json.RawMessage) (changes []codexChange) {
	_ = json.Unmarshal(raw, &changes)
	return changes
}

// changedPaths names the files.
func changedPaths(changes []codexChange) string {
	var paths []string
	for _, c := range changes {
		path := c.Path
		if c.Kind.Move != "" {
			path += " → " + c.Kind.Move
		}
		paths = append(paths, path)
	}
	return strings.Join(paths, ", ")
}

// edit returns the old and the new text of a change. Of an update they have only the lines near it.
func (c codexChange) edit() FileEdit {
	switch c.Kind.Type {
	case "add":
		return FileEdit{Path: c.Path, New: c.Diff}
	case "delete":
		return FileEdit{Path: c.Path, Old: c.Diff}
	}
	var before, after strings.Builder
	for line := range strings.Lines(c.Diff) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		}
	}
	return FileEdit{Path: c.Path, Old: before.String(), New: after.String()}
}
