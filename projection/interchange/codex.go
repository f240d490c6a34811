package interchange

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// codexLine is a line of a rollout of Codex.
type codexLine struct {
	Timestamp instant
	Type      string
	Payload   codexPayload
}

type codexPayload struct {
	Type      string
	ID        string
	CWD       string
	Model     string
	Timestamp instant
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

// UnmarshalJSON never fails: what is no list of texts is nothing.
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

// codexOutput is a text, a list of texts, or an object with one.
type codexOutput string

// UnmarshalJSON never fails.
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

// Codex reads a rollout of Codex. What was said is in its response items; its
// events say it again.
func Codex(data []byte, path string, app projection.App) (*Session, error) {
	t := newTranscript(codexTeam, "Codex")
	c := &codex{transcript: t}
	for i, line := range decodeLines[codexLine](data, &t.skipped) {
		t.touch(line.Timestamp.Time)
		c.take(i, line)
	}
	return t.session(codexTeam, path, app)
}

type codex struct {
	*transcript
	model         string
	input, output int64 // tokens so far
}

func (c *codex) take(i int, line codexLine) {
	p := line.Payload
	switch line.Type {
	case "session_meta":
		if c.id == "" { // a later one is a copy from where the session was forked
			c.id, c.cwd = p.ID, p.CWD
		}
	case "turn_context":
		c.model = p.Model
	case "response_item":
		c.item(i, line)
	case "event_msg":
		c.event(p)
	default:
		c.skipped++
	}
}

func (c *codex) item(i int, line codexLine) {
	p, at := line.Payload, line.Timestamp.Time
	id := p.ID
	if id == "" {
		id = fmt.Sprintf("%s-%d", c.id, i)
	}
	switch p.Type {
	case "message":
		switch p.Role {
		case "user":
			c.said(id, p.Content.text(), at)
		case "assistant":
			c.next.Model = c.model
			c.answered(id, p.Content.text(), at)
		default:
			c.skipped++
		}
	case "function_call":
		c.used(p.CallID, p.Name, json.RawMessage(p.Arguments), at)
	case "custom_tool_call":
		input, _ := json.Marshal(p.Input)
		c.used(p.CallID, p.Name, input, at)
	case "function_call_output", "custom_tool_call_output":
		c.gave(p.CallID, string(p.Output), "", at)
	default:
		c.skipped++
	}
}

func (c *codex) event(p codexPayload) {
	switch p.Type {
	case "token_count": // all that were spent so far, again and again
		if p.Info != nil {
			c.spentUpTo(p.Info.Total.Input-c.input, p.Info.Total.Output-c.output)
			c.input, c.output = p.Info.Total.Input, p.Info.Total.Output
		}
	case "thread_rolled_back":
		c.rollBack(p.NumTurns)
	}
}

// spentUpTo adds tokens to what came before them: the last answer, unless a tool
// was used since.
func (t *transcript) spentUpTo(input, output int64) {
	last := len(t.messages) - 1
	turn, answered := t.turns[last]
	if !answered || len(t.next.Tools) > 0 {
		t.spent(input, output)
		return
	}
	t.next, turn = turn, t.next
	t.spent(input, output)
	t.turns[last], t.next = t.next, turn
}

// rollBack takes back the last messages of the person and all that came of them.
func (t *transcript) rollBack(turns int) {
	for i := len(t.messages) - 1; i >= 0 && turns > 0; i-- {
		if t.messages[i].Speaker.Type == projection.TypeHuman {
			turns--
		}
		delete(t.turns, i)
		t.messages = t.messages[:i]
	}
	t.next = Turn{}
}
