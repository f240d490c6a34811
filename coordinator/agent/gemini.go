package agent

import (
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

var (
	// geminiInput is how much Gemini CLI reads of its standard input.
	geminiInput = limit{8 << 20, "bytes", func(prompt string) int { return len(prompt) }}
	// geminiWindow is the context window that Gemini CLI assumes for its models, less room for its
	// own prompt. It estimates a token as four characters, and sends no longer prompts.
	geminiWindow = limit{4<<20 - 64<<10, "characters", countUTF16}
)

var geminiRun = hint.Hint{Kind: hint.Run, Argv: []string{"gemini"}}

var geminiProfile = profile{
	name:    "Gemini CLI",
	program: "gemini",
	install: npmInstall("@google/gemini-cli"),
	login:   Remedy{`log in there, or set a key in the member's "env"`, geminiRun},
	trust: Remedy{
		`trust the directory there, or set "GEMINI_CLI_TRUST_WORKSPACE": "true" in the member's "env"`, geminiRun,
	},
	permits: []string{"--approval-mode", "--yolo", "-y"},
	limits:  []limit{geminiInput, geminiWindow},
}

var _ = Register(Info{
	Name: "gemini", AgentTypes: []string{"gemini", "gemini-cli"}, New: func() Engine { return Gemini() },
	Models: true, Permissions: Permissions, InstructionFile: "GEMINI.md",
})

var _ = RegisterAgents(
	geminiProfile.known(Known{Name: "gemini", Engine: "gemini"}),
	geminiProfile.server("gemini", "@google/gemini-cli", geminiWindow).known(Known{
		Name: "gemini-acp", DisplayName: "Gemini CLI (ACP)", Engine: acpEngine, AgentType: "gemini",
		Args: []string{"--acp"},
	}),
)

// Gemini returns the engine for Gemini CLI, with a stream of JSON as its output.
func Gemini() CLI {
	return CLI{profile: geminiProfile, format: format{
		args:  []string{"--output-format", "stream-json"},
		model: "-m",
		permits: map[string][]string{
			ReadOnly: {"--approval-mode", "plan"},
			Edit:     {"--approval-mode", "auto_edit"},
			Bypass:   {"--approval-mode", "yolo", "--skip-trust"},
		},
		parser: func() parser { return &geminiParser{tools: toolNames{}} },
	}}
}

// A geminiParser parses the output of Gemini CLI.
type geminiParser struct {
	reply
	tools toolNames
}

type geminiLine struct {
	Type       string          `json:"type"`
	SessionID  string          `json:"session_id"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Output     string          `json:"output"`
	Message    string          `json:"message"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct { // the input includes cached tokens, and the total thoughts
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

func (p *geminiParser) parse(raw []byte) []Event {
	var line geminiLine
	if !jsonlines.Decode(raw, &line) {
		return []Event{unparsedLine(raw)}
	}
	switch line.Type {
	case "init":
		return []Event{SessionStarted{line.SessionID}}
	case "message":
		if line.Role == "assistant" {
			return p.text(line.Content)
		}
	case "tool_use":
		id, name := p.tools.add(line.ToolID, line.ToolName)
		p.endMessage()
		started := ToolStarted{ID: id, Name: name, Input: line.Parameters}
		return append([]Event{started}, todoPlan(line.ToolName, line.Parameters)...)
	case "tool_result":
		failed, output := line.Status != "success", line.Output
		if failed && line.Error.Message != "" {
			output = line.Error.Message
		}
		id, name := p.tools.remove(line.ToolID)
		return []Event{completed(id, name, output, failed)}
	case "error": // it continues
		return []Event{Retry{Reason: apiMessage(line.Message)}}
	case "result":
		u := line.Stats
		return []Event{
			Usage{
				Input: max(0, u.Input-u.Cached), CachedRead: u.Cached,
				Output: u.Output, Thought: max(0, u.Total-u.Input-u.Output),
			},
			verdict{failed: line.Status != "success", message: line.Error.Message},
		}
	}
	return nil
}
