package interchange

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// geminiRecord is a conversation of the Gemini CLI: the file of an older version,
// or the fields that a line of a newer version sets.
type geminiRecord struct {
	SessionID   string
	ProjectHash string
	StartTime   timestamp
	Directories []string
	Messages    *[]geminiMessage
}

type geminiLine struct {
	geminiRecord
	geminiMessage
	Set      *geminiRecord `json:"$set"`
	RewindTo *string       `json:"$rewindTo"`
}

type geminiMessage struct {
	ID        string
	Timestamp timestamp
	Type      string
	Content   geminiContent
	Model     string
	Tokens    *struct{ Input, Output int64 }
	ToolCalls []struct {
		ID, Name, Status string
		Args             json.RawMessage
		Result           json.RawMessage
		Timestamp        timestamp
	}
}

// geminiContent is a text, a part with a text, or a list of them.
type geminiContent string

// UnmarshalJSON returns no error. What has no text is empty.
func (c *geminiContent) UnmarshalJSON(data []byte) error {
	var text string
	var part struct{ Text string }
	var parts []geminiContent
	switch {
	case json.Unmarshal(data, &text) == nil:
	case json.Unmarshal(data, &part) == nil:
		text = part.Text
	case json.Unmarshal(data, &parts) == nil:
		for _, p := range parts {
			text += string(p)
		}
	}
	*c = geminiContent(text)
	return nil
}

// readGemini reads a conversation of the Gemini CLI.
func (t *transcript) readGemini(data []byte) {
	t.agent = agent(geminiFormat, "Gemini")
	for _, m := range t.geminiMessages(data) {
		t.addTime(m.Timestamp.Time)
		switch m.Type {
		case "user":
			if m.Content != "" {
				t.addHuman(m.ID, string(m.Content), m.Timestamp.Time)
			}
		case "gemini":
			t.addGeminiReply(m)
		default:
			t.skipped++
		}
	}
}

// geminiMessages returns the final messages. A line replaces an earlier one with
// the same id, or all of them.
func (t *transcript) geminiMessages(data []byte) []geminiMessage {
	var whole geminiRecord
	if json.Unmarshal(bytes.TrimSpace(data), &whole) == nil && whole.Messages != nil {
		t.addGeminiHeader(whole)
		return *whole.Messages
	}
	var messages []geminiMessage
	for _, line := range decodeLines[geminiLine](data, &t.skipped) {
		at := slices.IndexFunc(messages, func(m geminiMessage) bool { return m.ID == line.ID })
		switch {
		case line.RewindTo != nil:
			to := slices.IndexFunc(messages, func(m geminiMessage) bool { return m.ID == *line.RewindTo })
			messages = messages[:max(0, to)]
		case line.ID != "" && at >= 0:
			messages[at] = line.geminiMessage
		case line.ID != "":
			messages = append(messages, line.geminiMessage)
		case line.Set != nil:
			t.addGeminiHeader(*line.Set)
			if line.Set.Messages != nil {
				messages = slices.Clone(*line.Set.Messages)
			}
		default:
			t.addGeminiHeader(line.geminiRecord)
		}
	}
	return messages
}

func (t *transcript) addGeminiHeader(r geminiRecord) {
	if r.SessionID != "" {
		t.id = r.SessionID
	}
	if len(r.Directories) > 0 {
		t.cwd = r.Directories[0]
	}
	t.addTime(r.StartTime.Time)
}

func (t *transcript) addGeminiReply(m geminiMessage) {
	t.model = m.Model
	for _, call := range m.ToolCalls {
		t.startTool(call.ID, call.Name, call.Args, call.Timestamp.Time)
		output, failure := geminiResult(call.Result), ""
		if call.Status == "error" || call.Status == "cancelled" {
			output, failure = "", strings.TrimSpace(call.Status+": "+output)
		}
		t.completeTool(call.ID, output, failure, call.Timestamp.Time)
	}
	t.addReply(m.ID, string(m.Content), m.Timestamp.Time)
	if m.Tokens != nil {
		t.addUsage(projection.Usage{Input: m.Tokens.Input, Output: m.Tokens.Output})
	}
}

// geminiResult returns the texts in the parts of a tool result.
func geminiResult(data json.RawMessage) string {
	var parts []struct {
		FunctionResponse struct {
			Response struct{ Output, Error string }
		}
	}
	if json.Unmarshal(data, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.FunctionResponse.Response.Output+p.FunctionResponse.Response.Error)
	}
	return strings.Join(texts, "\n")
}
