package interchange

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// codexLine is a line of a Codex rollout.
type codexLine struct {
	Timestamp timestamp
	Type      string
	Payload   codexPayload
}

type codexPayload struct {
	Type      string
	ID        string
	CWD       string
	Model     string
	Timestamp timestamp
	Role      string
	Content   codexContent
	Name      string
	Arguments string
	Input     string
	CallID    string `json:"call_id"`
	Output    codexOutput
	NumTurns  int `json:"num_turns"`
	Info      *struct {
		Total struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"total_token_usage"`
	}
}

type codexContent []struct{ Type, Text string }

// UnmarshalJSON returns no error. What is not a list of texts is empty.
func (c *codexContent) UnmarshalJSON(data []byte) error {
	var parts []struct{ Type, Text string }
	if json.Unmarshal(data, &parts) == nil {
		*c = parts
	}
	return nil
}

func (c codexContent) text() string {
	var texts []string
	for _, part := range c {
		if strings.HasSuffix(part.Type, "_text") {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// codexOutput is a text, a list of texts, or an object with a text.
type codexOutput string

// UnmarshalJSON returns no error.
func (o *codexOutput) UnmarshalJSON(data []byte) error {
	var text string
	var parts codexContent
	var old struct{ Content string }
	switch {
	case json.Unmarshal(data, &text) == nil:
	case json.Unmarshal(data, &parts) == nil && len(parts) > 0:
		text = parts.text()
	case json.Unmarshal(data, &old) == nil:
		text = old.Content
	}
	*o = codexOutput(text)
	return nil
}

// readCodex reads a Codex rollout. The messages are in its response items; its
// events repeat them.
func (t *transcript) readCodex(data []byte) {
	t.agent = agent(codexFormat, "Codex")
	c := &codexReader{transcript: t}
	lines := decodeLines[codexLine](data, &t.skipped)
	removed := rolledBack(lines)
	for i, line := range lines {
		t.addTime(line.Timestamp.Time)
		if removed[i] {
			continue
		}
		switch p := line.Payload; line.Type {
		case "session_meta":
			if t.id == "" { // a later one is copied from the parent of a fork
				t.id, t.cwd = p.ID, p.CWD
			}
		case "turn_context":
			t.model = p.Model
		case "response_item":
			c.addItem(i, line)
		case "event_msg":
			c.addEvent(p)
		default:
			t.skipped++
		}
	}
}

type codexReader struct {
	*transcript
	input, output int64 // tokens so far
}

func (c *codexReader) addItem(i int, line codexLine) {
	p, at := line.Payload, line.Timestamp.Time
	id := p.ID
	if id == "" {
		id = fmt.Sprintf("%s-%d", c.id, i)
	}
	switch p.Type {
	case "message":
		switch p.Role {
		case "user":
			c.addHuman(id, p.Content.text(), at)
		case "assistant":
			c.addReply(id, p.Content.text(), at)
		default:
			c.skipped++
		}
	case "function_call":
		c.startTool(p.CallID, p.Name, json.RawMessage(p.Arguments), at)
	case "custom_tool_call":
		input, _ := json.Marshal(p.Input)
		c.startTool(p.CallID, p.Name, input, at)
	case "function_call_output", "custom_tool_call_output":
		c.completeTool(p.CallID, string(p.Output), "", at)
	default:
		c.skipped++
	}
}

func (c *codexReader) addEvent(p codexPayload) {
	switch p.Type {
	case "token_count": // the total so far
		if p.Info != nil {
			c.addUsage(projection.Usage{
				Input: p.Info.Total.Input - c.input, Output: p.Info.Total.Output - c.output,
			})
			c.input, c.output = p.Info.Total.Input, p.Info.Total.Output
		}
	}
}

// rolledBack returns the indexes of the lines that were removed later: a
// rollback removes the last messages of the person and all that follow them.
func rolledBack(lines []codexLine) map[int]bool {
	removed := map[int]bool{}
	var prompts []int // that were not removed
	for i, line := range lines {
		p := line.Payload
		switch {
		case line.Type == "response_item" && p.Type == "message" && p.Role == "user":
			if _, ok := humanText(p.Content.text()); ok {
				prompts = append(prompts, i)
			}
		case line.Type == "event_msg" && p.Type == "thread_rolled_back" && p.NumTurns > 0 && len(prompts) > 0:
			from := prompts[max(0, len(prompts)-p.NumTurns)]
			prompts = prompts[:max(0, len(prompts)-p.NumTurns)]
			for j := from; j < i; j++ {
				removed[j] = true
			}
		}
	}
	return removed
}
