package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// codexLimit is the length of the longest prompt of Codex.
var codexLimit = limit{1 << 20, "characters", utf8.RuneCountInString}

var codexProfile = profile{
	name:    "Codex",
	program: "codex",
	install: npmInstall("@openai/codex"),
	login: Remedy{
		`log in, or set a key in the member's "env"`,
		hint.Hint{Kind: hint.Run, Argv: []string{"codex", "login"}},
	},
	trust: Remedy{
		`let it work in a git repository, or set the member's "permissions" to read`,
		hint.Hint{Kind: hint.Run, Argv: []string{"git", "init"}},
	},
	permits: []string{
		"--sandbox", "--ask-for-approval", "--full-auto", "--dangerously-bypass-approvals-and-sandbox", "--yolo",
	},
	limits: []limit{codexLimit},
}

var _ = Register(Info{
	Name: "codex", AgentTypes: []string{"codex"}, New: func() Engine { return Codex() },
	Models: true, Permissions: Permissions,
})

var _ = RegisterAgents(
	codexProfile.known(Known{Name: "codex", Engine: "codex", LoggedIn: []string{"login", "status"}}),
	codexProfile.server("codex-acp", "@agentclientprotocol/codex-acp", codexLimit).known(Known{
		Name: "codex-acp", DisplayName: "Codex (ACP)", Engine: acpEngine, AgentType: "codex",
	}),
)

// Codex returns the engine for Codex: codex exec, with its events as JSON. Codex does not stream
// its messages.
//
// Outside of a git repository Codex works only with an option that skips this check. ReadOnly and
// Bypass set it: with the first nothing can change that git would have to restore.
func Codex() CLI {
	return CLI{profile: codexProfile, format: format{
		args:  []string{"exec", "--json"},
		model: "-m",
		permits: map[string][]string{
			ReadOnly: {"--sandbox", "read-only", "--skip-git-repo-check"},
			Edit:     {"--sandbox", "workspace-write"},
			Bypass:   {"--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"},
		},
		think: map[bool]thinkingSwitch{ // joined, so that they are not taken for the member's own -c
			false: {args: []string{"--config=model_reasoning_effort=none"}},
			true:  {args: []string{"--config=model_reasoning_effort=medium"}},
		},
		mcp:    codexMCP,
		last:   []string{"-"}, // the prompt is on standard input
		parser: func() parser { return &codexParser{running: toolNames{}} },
	}}
}

// A codexParser parses the output of Codex, which reports items of work.
type codexParser struct {
	reply
	running toolNames // those with a ToolStarted
}

type codexLine struct {
	Type     string    `json:"type"`
	ThreadID string    `json:"thread_id"`
	Item     codexItem `json:"item"`
	Message  string    `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct { // the input includes cached tokens
		Input       int64 `json:"input_tokens"`
		CachedRead  int64 `json:"cached_input_tokens"`
		CachedWrite int64 `json:"cache_write_input_tokens"`
		Output      int64 `json:"output_tokens"`
		Thought     int64 `json:"reasoning_output_tokens"`
	} `json:"usage"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`    // of agent_message
	Message string `json:"message"` // of error

	Command  string `json:"command"` // of command_execution
	Output   string `json:"aggregated_output"`
	ExitCode *int   `json:"exit_code"`

	Server    string          `json:"server"` // of mcp_tool_call
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     struct {
		Message string `json:"message"`
	} `json:"error"`

	Changes json.RawMessage `json:"changes"` // of file_change
	Query   string          `json:"query"`   // of web_search

	Todos []struct {
		Text      string `json:"text"`
		Completed bool   `json:"completed"`
	} `json:"items"` // of todo_list
}

func (p *codexParser) parse(raw []byte) []Event {
	var line codexLine
	if !jsonlines.Decode(raw, &line) {
		return []Event{unparsedLine(raw)}
	}
	switch line.Type {
	case "thread.started":
		return []Event{SessionStarted{line.ThreadID}}
	case "item.started", "item.updated":
		if line.Item.Type == itemTodoList {
			return []Event{line.Item.plan()}
		}
		return p.startTool(line.Item)
	case "item.completed":
		return p.complete(line.Item)
	case "error":
		reason := apiMessage(line.Message)
		if strings.HasPrefix(reason, "Reconnecting") {
			return []Event{Retry{Reason: reason}}
		}
		return []Event{warning(reason)}
	case "turn.failed":
		return []Event{verdict{failed: true, message: line.Error.Message}}
	case "turn.completed":
		u := line.Usage
		used := Usage{
			Input: max(0, u.Input-u.CachedRead-u.CachedWrite), CachedRead: u.CachedRead, CachedWrite: u.CachedWrite,
			Output: u.Output, Thought: u.Thought,
		}
		return []Event{used.separate(0), verdict{}}
	}
	return nil
}

// startTool returns the ToolStarted of an item, once.
func (p *codexParser) startTool(i codexItem) []Event {
	name, input := i.tool()
	if _, announced := p.running[label(i.ID)]; announced || name == "" {
		return nil
	}
	id, name := p.running.add(i.ID, name)
	return []Event{ToolStarted{ID: id, Name: name, Input: input}}
}

// complete returns the events of a completed item. Codex does not report the start of some.
func (p *codexParser) complete(i codexItem) []Event {
	switch name, _ := i.tool(); {
	case i.Type == "agent_message":
		events := p.text(i.Text)
		p.endMessage()
		return events
	case i.Type == itemTodoList:
		return []Event{i.plan()}
	case i.Type == "error":
		return []Event{warning(apiMessage(i.Message))}
	case name != "":
		events := p.startTool(i)
		id, _ := p.running.remove(i.ID)
		return append(events, ToolCompleted{ID: id, Name: label(name), Output: i.output(), Error: i.failure()})
	}
	return nil
}

// itemTodoList is the type of an item that is the agent's todo list.
const itemTodoList = "todo_list"

// plan returns the todo list.
func (i codexItem) plan() Plan {
	entries := []PlanEntry{}
	for _, todo := range i.Todos {
		status := "pending"
		if todo.Completed {
			status = "completed"
		}
		entries = append(entries, PlanEntry{Content: todo.Text, Status: status})
	}
	return Plan{entries}
}

// tool returns the name and the input of the tool that an item is the use of; "" for other items,
// such as thoughts.
func (i codexItem) tool() (name string, input json.RawMessage) {
	switch i.Type {
	case "command_execution":
		return "shell", object("command", i.Command)
	case "mcp_tool_call":
		return i.Server + "." + i.Tool, i.Arguments
	case "file_change":
		return "file_change", i.Changes
	case "web_search":
		return "web_search", object("query", i.Query)
	}
	return "", nil
}

func object(name, value string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{name: value}) // strings cannot fail
	return raw
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
