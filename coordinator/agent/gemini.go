package agent

import "encoding/json"

var (
	// geminiInput is how much Gemini CLI reads of its standard input.
	geminiInput = limit{8 << 20, "bytes", bytesOf}
	// geminiWindow is what Gemini CLI takes for the window of its models, less some room for
	// what it says itself: it takes four characters for a token. It does not ask a model more.
	geminiWindow = limit{4<<20 - 64<<10, "characters", utf16Of}
)

// Gemini returns the engine for Gemini CLI, with its output as a stream of JSON.
func Gemini() CLI {
	return CLI{dialect: dialect{
		name:    "Gemini CLI",
		program: "gemini",
		install: "npm install -g @google/gemini-cli",
		login:   `log in: run gemini once; or give the member a key in its "env"`,
		trust:   `run gemini there once and trust the directory, or write "GEMINI_CLI_TRUST_WORKSPACE": "true" into the member's "env"`,
		args:    []string{"--output-format", "stream-json"},
		model:   "-m",
		permits: map[string][]string{
			ReadOnly: {"--approval-mode", "plan"},
			Edit:     {"--approval-mode", "auto_edit"},
			Bypass:   {"--approval-mode", "yolo", "--skip-trust"},
		},
		bypass: []string{"--yolo", "-y"},
		parser: func() parser { return &geminiParser{tools: map[string]string{}} },
		limits: []limit{geminiInput, geminiWindow},
	}}
}

// A geminiParser reads what Gemini CLI prints.
type geminiParser struct {
	prose
	tools map[string]string // names by id
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
	Stats struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"stats"`
}

func (p *geminiParser) parse(raw []byte) []Event {
	var line geminiLine
	if !decode(raw, &line) {
		return []Event{noise(raw)}
	}
	switch line.Type {
	case "init":
		return []Event{Session{line.SessionID}}
	case "message":
		if line.Role == "assistant" {
			return p.say(line.Content)
		}
	case "tool_use":
		p.tools[line.ToolID] = line.ToolName
		p.end()
		return []Event{ToolStarted{ID: line.ToolID, Name: line.ToolName, Input: line.Parameters}}
	case "tool_result":
		return []Event{p.completed(line)}
	case "error": // it goes on
		return []Event{trouble(spoken(line.Message))}
	case "result":
		return []Event{
			Usage{InputTokens: line.Stats.Input, OutputTokens: line.Stats.Output},
			verdict{failed: line.Status != "success", says: line.Error.Message},
		}
	}
	return nil
}

func (p *geminiParser) completed(line geminiLine) ToolCompleted {
	said := line.Output
	if line.Status != "success" && line.Error.Message != "" {
		said = line.Error.Message
	}
	return completed(line.ToolID, p.tools[line.ToolID], said, line.Status != "success")
}
