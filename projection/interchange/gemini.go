package interchange

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// geminiRecord is a conversation of the Gemini CLI: a whole file of older
// versions, what the lines of newer ones add up to, and what a "$set" changes.
type geminiRecord struct {
	SessionID   string
	ProjectHash string
	StartTime   instant
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
	Timestamp instant
	Type      string
	Content   geminiContent
	Model     string
	Tokens    *struct{ Input, Output int64 }
	ToolCalls []struct {
		ID, Name, Status string
		Args             json.RawMessage
		Result           json.RawMessage
		Timestamp        instant
	}
}

// geminiContent is the text of a text, a part, or a list of them.
type geminiContent string

// UnmarshalJSON never fails: what has no text is empty.
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

// Gemini reads a conversation of the Gemini CLI. A line replaces an earlier one of
// the same id, or all of them.
func Gemini(data []byte, path string, app projection.App) (*Session, error) {
	t := newTranscript(geminiTeam, "Gemini")
	messages := t.geminiMessages(data)
	for _, m := range messages {
		t.touch(m.Timestamp.Time)
		switch m.Type {
		case "user":
			if m.Content != "" {
				t.said(m.ID, string(m.Content), m.Timestamp.Time)
			}
		case "gemini":
			t.gemini(m)
		default:
			t.skipped++
		}
	}
	return t.session(geminiTeam, path, app)
}

// geminiMessages are the messages that there are at the end.
func (t *transcript) geminiMessages(data []byte) []geminiMessage {
	var whole geminiRecord
	if json.Unmarshal(bytes.TrimSpace(data), &whole) == nil && whole.Messages != nil {
		t.header(whole)
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
			t.header(*line.Set)
			if line.Set.Messages != nil {
				messages = slices.Clone(*line.Set.Messages)
			}
		default:
			t.header(line.geminiRecord)
		}
	}
	return messages
}

func (t *transcript) header(r geminiRecord) {
	if r.SessionID != "" {
		t.id = r.SessionID
	}
	if len(r.Directories) > 0 {
		t.cwd = r.Directories[0]
	}
	t.touch(r.StartTime.Time)
}

func (t *transcript) gemini(m geminiMessage) {
	t.next.Model = m.Model
	if m.Tokens != nil {
		t.spent(m.Tokens.Input, m.Tokens.Output)
	}
	for _, call := range m.ToolCalls {
		t.used(call.ID, call.Name, call.Args, call.Timestamp.Time)
		output, failure := geminiResult(call.Result), ""
		if call.Status == "error" || call.Status == "cancelled" {
			output, failure = "", strings.TrimSpace(call.Status+": "+output)
		}
		t.gave(call.ID, output, failure, call.Timestamp.Time)
	}
	t.answered(m.ID, string(m.Content), m.Timestamp.Time)
}

// geminiResult is what a tool gave back: the answers in its parts.
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
