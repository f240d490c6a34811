package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Claude returns the engine for Claude Code: claude -p, with its output as a stream of JSON.
func Claude() CLI {
	return CLI{dialect: dialect{
		name:    "Claude Code",
		program: "claude",
		install: "npm install -g @anthropic-ai/claude-code",
		login:   `log in: run claude and type /login; or give the member a key in its "env"`,
		args:    []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"},
		model:   "--model",
		permits: map[string][]string{
			ReadOnly: {"--permission-mode", "plan"},
			Edit:     {"--permission-mode", "acceptEdits"},
			Bypass:   {"--dangerously-skip-permissions"},
		},
		bypass: []string{"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"},
		parser: func() parser { return &claudeParser{tools: map[string]string{}} },
	}}
}

// A claudeParser reads what Claude Code prints. A message comes twice, in pieces as it is
// written and then whole; the whole one says only what the pieces have not.
type claudeParser struct {
	prose
	pieces strings.Builder   // of the block that is being written
	tools  map[string]string // names by id
}

type claudeLine struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Parent    *string `json:"parent_tool_use_id"` // of what a subagent says
	Event     struct {
		Type  string `json:"type"`
		Delta struct {
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	APIError bool `json:"is_api_error_message"`

	// Of the line that ends the turn.
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	Usage   struct {
		Input        int64 `json:"input_tokens"`
		CacheWritten int64 `json:"cache_creation_input_tokens"`
		CacheRead    int64 `json:"cache_read_input_tokens"`
		Output       int64 `json:"output_tokens"`
	} `json:"usage"`

	// Of the line that tells of another try.
	Attempt     int    `json:"attempt"`
	MaxRetries  int    `json:"max_retries"`
	ErrorStatus int    `json:"error_status"`
	Error       string `json:"error"`
}

// A claudeBlock is a part of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func (p *claudeParser) parse(raw []byte) []Event {
	var line claudeLine
	if !decode(raw, &line) {
		return []Event{noise(raw)}
	}
	switch line.Type {
	case "system":
		return p.system(line)
	case "stream_event":
		return p.piece(line)
	case "assistant", "user":
		return p.message(line)
	case "result":
		return p.result(line)
	}
	return nil
}

func (p *claudeParser) system(line claudeLine) []Event {
	switch {
	case line.Subtype == "init" && line.SessionID != "":
		return []Event{Session{line.SessionID}}
	case line.Subtype == "api_retry":
		return []Event{trouble(fmt.Sprintf("try %d of %d failed: %s (status %d)", line.Attempt, line.MaxRetries, cmp.Or(line.Error, "no answer"), line.ErrorStatus))}
	}
	return nil
}

// piece is a piece of a message that is being written.
func (p *claudeParser) piece(line claudeLine) []Event {
	if line.Parent != nil {
		return nil
	}
	if line.Event.Type == "content_block_start" {
		p.pieces.Reset()
	}
	p.pieces.WriteString(line.Event.Delta.Text)
	return p.say(line.Event.Delta.Text)
}

// message is a whole message, of the agent or of its tools. What a subagent says is for the
// agent; its tools are tools of the turn.
func (p *claudeParser) message(line claudeLine) (events []Event) {
	for _, b := range blocksOf(line.Message.Content) {
		switch {
		case b.Type == "text" && line.Type == "assistant" && line.Parent == nil && !line.APIError:
			events = append(events, p.whole(b.Text)...)
		case b.Type == "tool_use":
			p.tools[b.ID] = b.Name
			p.end()
			events = append(events, ToolStarted{ID: b.ID, Name: b.Name, Input: b.Input})
		case b.Type == "tool_result":
			events = append(events, completed(b.ToolUseID, p.tools[b.ToolUseID], textOf(b.Content), b.IsError))
		}
	}
	return events
}

// whole is what the pieces of a block have not said of it. Where they said something else,
// that has been heard and stays.
func (p *claudeParser) whole(text string) []Event {
	rest, ok := strings.CutPrefix(text, p.pieces.String())
	if !ok {
		rest = ""
	}
	p.pieces.Reset()
	events := p.say(rest)
	p.end()
	return events
}

// result is the end of the turn. A command that the agent obeys by itself has its only words
// there.
func (p *claudeParser) result(line claudeLine) []Event {
	u := line.Usage
	events := []Event{Usage{InputTokens: u.Input + u.CacheWritten + u.CacheRead, OutputTokens: u.Output}}
	if line.IsError || strings.HasPrefix(line.Subtype, "error") {
		return append(events, verdict{failed: true, says: cmp.Or(line.Result, strings.Join(line.Errors, "; "), line.Subtype)})
	}
	if !p.said {
		events = append(events, p.say(line.Result)...)
	}
	return append(events, verdict{})
}

// blocksOf are the parts of a message whose content is not just a string.
func blocksOf(content json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	_ = json.Unmarshal(content, &blocks) // what does not fit is left out
	return blocks
}

// textOf is the text of a content that is a string, or blocks.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var texts []string
	for _, b := range blocksOf(content) {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// toolErrorKept is how many bytes of what a failed tool says its error has.
const toolErrorKept = 1 << 10

// completed is the end of a tool's use. What a failed tool says is its error, and its output
// where the error does not show all of it.
func completed(id, name, output string, failed bool) ToolCompleted {
	switch {
	case !failed:
		return ToolCompleted{ID: id, Name: name, Output: output}
	case len(output) <= toolErrorKept:
		return ToolCompleted{ID: id, Name: name, Error: cmp.Or(strings.TrimSpace(output), "it failed")}
	}
	return ToolCompleted{ID: id, Name: name, Output: output, Error: head(output, toolErrorKept)}
}
