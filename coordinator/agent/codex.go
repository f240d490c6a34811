package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// codexLimit is how much Codex takes as a prompt.
var codexLimit = limit{1 << 20, "characters", utf8.RuneCountInString}

// Codex returns the engine for Codex: codex exec, with its events as JSON. It does not say its
// messages before they are whole.
//
// With ReadOnly, nothing of which git would have to bring back can change, so that Codex works
// outside of a repository, too; otherwise it refuses to.
func Codex() CLI {
	return CLI{dialect: dialect{
		name:    "Codex",
		program: "codex",
		install: "npm install -g @openai/codex",
		login:   `log in: type codex login; or give the member a key in its "env"`,
		trust:   `let it work in a git repository (git init), or set the member's "permissions" to read`,
		args:    []string{"exec", "--json"},
		model:   "-m",
		permits: map[string][]string{
			ReadOnly: {"--sandbox", "read-only", "--skip-git-repo-check"},
			Edit:     {"--sandbox", "workspace-write"},
			Bypass:   {"--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"},
		},
		bypass: []string{"--dangerously-bypass-approvals-and-sandbox", "--yolo"},
		last:   []string{"-"}, // the prompt is on standard input
		parser: func() parser { return &codexParser{started: map[string]bool{}} },
		limits: []limit{codexLimit},
	}}
}

// A codexParser reads what Codex prints: what it does, item by item.
type codexParser struct {
	prose
	started map[string]bool // by the ids of tools
}

type codexLine struct {
	Type     string    `json:"type"`
	ThreadID string    `json:"thread_id"`
	Item     codexItem `json:"item"`
	Message  string    `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
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
}

func (p *codexParser) parse(raw []byte) []Event {
	var line codexLine
	if !decode(raw, &line) {
		return []Event{noise(raw)}
	}
	switch line.Type {
	case "thread.started":
		return []Event{Session{line.ThreadID}}
	case "item.started":
		return p.start(line.Item)
	case "item.completed":
		return p.complete(line.Item)
	case "error": // it may still try again
		return []Event{trouble(spoken(line.Message))}
	case "turn.failed":
		return []Event{verdict{failed: true, says: line.Error.Message}}
	case "turn.completed":
		return []Event{Usage{InputTokens: line.Usage.Input, OutputTokens: line.Usage.Output}, verdict{}}
	}
	return nil
}

// start is the event of a tool that begins, once.
func (p *codexParser) start(i codexItem) []Event {
	name, input := i.tool()
	if name == "" || p.started[i.ID] {
		return nil
	}
	p.started[i.ID] = true
	p.end()
	return []Event{ToolStarted{ID: i.ID, Name: name, Input: input}}
}

// complete is what an item amounts to. Some are told only when they are over.
func (p *codexParser) complete(i codexItem) []Event {
	switch name, _ := i.tool(); {
	case i.Type == "agent_message":
		events := p.say(i.Text)
		p.end()
		return events
	case i.Type == "error":
		return []Event{trouble(spoken(i.Message))}
	case name != "":
		return append(p.start(i), ToolCompleted{ID: i.ID, Name: name, Output: i.output(), Error: i.failure()})
	}
	return nil
}

// tool is the name of the tool that an item is the use of, and what the tool was given; "" of
// other items, such as thoughts and lists of what is to be done.
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
	return cmp.Or(i.Output, string(i.Result))
}

// failure is why a tool failed; "" when it has not.
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
