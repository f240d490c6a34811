package interchange

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// transcriptWriter writes a session in the format of another program. Those
// programs have one agent, so if the session has several, each of their messages
// begins with the agent's name.
type transcriptWriter struct {
	w      io.Writer
	state  *projection.State // of all events
	id     string            // of the session, as a UUID
	format transcriptFormat
	model  string          // of the newest turn
	named  bool            // messages of agents begin with a name
	last   string          // UUID of the last line, for formats that link lines
	tools  map[uint64]bool // hashes of the ids of tool calls
	err    error
}

// transcriptFormat writes the lines of one program.
type transcriptFormat interface {
	begin(w *transcriptWriter)
	human(w *transcriptWriter, m projection.Message, text string, at time.Time)
	agent(w *transcriptWriter, m projection.Message, text, model string, at time.Time)
	tool(w *transcriptWriter, t toolCall, model string)
}

// toolCall is a call of a tool with its result.
type toolCall struct {
	id, name        string
	input           json.RawMessage
	output, failure string
	at, until       time.Time
}

var transcriptFormats = map[string]transcriptFormat{
	claudeFormat: claudeLines{}, codexFormat: codexLines{}, geminiFormat: geminiLines{},
}

// WriteTranscript writes the messages and the completed tool calls of a session
// in the format claude, codex or gemini. state is the fold of the same events.
func WriteTranscript(
	format string, out io.Writer, state *projection.State, events iter.Seq2[projection.Event, error],
) error {
	w := &transcriptWriter{w: out, state: state, id: uuidOf(state.SessionID), format: transcriptFormats[format]}
	w.tools = map[uint64]bool{}
	agents := 0
	for _, s := range state.Speakers {
		if s.Type == projection.TypeAI {
			agents++
		}
	}
	w.named = agents > 1
	w.format.begin(w)
	var c conversation.Conversation
	for e, err := range events {
		if err != nil {
			return err
		}
		for _, d := range c.Apply(e) {
			w.write(d)
		}
		if w.err != nil {
			return w.err
		}
	}
	return w.err
}

// write writes a message or a completed tool call.
func (w *transcriptWriter) write(d conversation.Delta) {
	switch d := d.(type) {
	case conversation.Began:
		w.model = modelOf(d.Turn)
	case conversation.Completed:
		if d.Call.Seq > 0 {
			t := toolCallOf(d)
			t.id = w.toolID(t.id, d.Call.Seq)
			w.format.tool(w, t, modelOf(d.Turn))
		}
	case conversation.Replied:
		w.message(d.Message, modelOf(d.Turn), d.Time)
	case conversation.Said:
		w.message(d.Message, w.model, d.Time)
	}
}

// toolID returns the id of a tool call, or another one if it was used: some agents begin to count in each turn.
func (w *transcriptWriter) toolID(id string, seq uint64) string {
	hash := fnv.New64a()
	hash.Write([]byte(id))
	if w.tools[hash.Sum64()] {
		return fmt.Sprintf("%s_%d", id, seq)
	}
	w.tools[hash.Sum64()] = true
	return id
}

func modelOf(t *conversation.Turn) string { return cmp.Or(t.Model, t.AgentType) }

func toolCallOf(d conversation.Completed) toolCall {
	t := toolCall{
		id: d.Call.Started.ToolID, name: d.Call.Started.Name, input: d.Call.Started.Input, output: d.Call.Result.Output,
		failure: d.Call.Result.Error, at: d.Call.Time, until: d.Time,
	}
	if len(t.input) == 0 {
		t.input = json.RawMessage("{}")
	}
	if d.Call.State() == conversation.Refused {
		t.failure = strings.TrimSpace("refused\n" + t.failure)
	}
	return t
}

func (w *transcriptWriter) message(m projection.Message, model string, at time.Time) {
	if m.Speaker.Type == projection.TypeHuman {
		w.format.human(w, m, m.Content, at)
		return
	}
	text := m.Content
	if w.named {
		text = m.Speaker.DisplayName + ": " + text
	}
	w.format.agent(w, m, text, model, at)
}

// line writes one object and a newline.
func (w *transcriptWriter) line(v any) {
	if w.err == nil {
		enc := json.NewEncoder(w.w)
		enc.SetEscapeHTML(false)
		w.err = enc.Encode(v)
	}
}

type fields = map[string]any

// uuidOf derives a UUID from an id.
func uuidOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: custom
	text := hex.EncodeToString(sum[:16])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// TranscriptName returns the file name that the program of a format gives a
// session.
func TranscriptName(format string, state *projection.State) string {
	id, at := uuidOf(state.SessionID), state.Row.CreatedAt.UTC()
	switch format {
	case codexFormat:
		return fmt.Sprintf("rollout-%s-%s.jsonl", at.Format("2006-01-02T15-04-05"), id)
	case geminiFormat:
		return fmt.Sprintf("session-%s-%s.jsonl", at.Format("2006-01-02T15-04"), id[:8])
	}
	return id + ".jsonl"
}

type claudeLines struct{}

func (claudeLines) begin(*transcriptWriter) {}

func (claudeLines) line(w *transcriptWriter, role, id string, message fields, at time.Time) {
	uuid := uuidOf(id)
	parent := any(nil)
	if w.last != "" {
		parent = w.last
	}
	w.last = uuid
	w.line(fields{
		"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": w.state.CWD,
		"sessionId": w.id, "version": "0.0.0", "gitBranch": "", "type": role, "message": message,
		"uuid": uuid, "timestamp": projection.FormatTime(at),
	})
}

func (f claudeLines) human(w *transcriptWriter, m projection.Message, text string, at time.Time) {
	f.line(w, "user", m.ID, fields{"role": "user", "content": text}, at)
}

func (f claudeLines) agent(w *transcriptWriter, m projection.Message, text, model string, at time.Time) {
	f.line(w, "assistant", m.ID, f.response(m.ID, model, fields{"type": "text", "text": text}, "end_turn"), at)
}

func (f claudeLines) response(id, model string, block fields, stop string) fields {
	return fields{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model, "content": []fields{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": fields{"input_tokens": 0, "output_tokens": 0},
	}
}

func (f claudeLines) tool(w *transcriptWriter, t toolCall, model string) {
	use := fields{"type": "tool_use", "id": t.id, "name": t.name, "input": t.input}
	f.line(w, "assistant", t.id+"/use", f.response(t.id, model, use, "tool_use"), t.at)
	result := fields{
		"type": "tool_result", "tool_use_id": t.id, "content": cmp.Or(t.failure, t.output), "is_error": t.failure != "",
	}
	f.line(w, "user", t.id+"/result", fields{"role": "user", "content": []fields{result}}, t.until)
}

type codexLines struct{}

func (codexLines) line(w *transcriptWriter, kind string, payload fields, at time.Time) {
	w.line(fields{"timestamp": projection.FormatTime(at), "type": kind, "payload": payload})
}

func (f codexLines) begin(w *transcriptWriter) {
	at := w.state.Row.CreatedAt
	f.line(w, "session_meta", fields{
		"id": w.id, "timestamp": projection.FormatTime(at), "cwd": w.state.CWD,
		"originator": "agent-chatter", "cli_version": "0.0.0", "source": "cli",
	}, at)
}

// A message is written twice: for the model and for the screen.
func (f codexLines) human(w *transcriptWriter, m projection.Message, text string, at time.Time) {
	content := []fields{{"type": "input_text", "text": text}}
	f.line(w, "response_item", fields{"type": "message", "id": m.ID, "role": "user", "content": content}, at)
	f.line(w, "event_msg", fields{"type": "user_message", "message": text}, at)
}

func (f codexLines) agent(w *transcriptWriter, m projection.Message, text, _ string, at time.Time) {
	content := []fields{{"type": "output_text", "text": text}}
	f.line(w, "response_item", fields{"type": "message", "id": m.ID, "role": "assistant", "content": content}, at)
	f.line(w, "event_msg", fields{"type": "agent_message", "message": text}, at)
}

func (f codexLines) tool(w *transcriptWriter, t toolCall, _ string) {
	call := fields{"type": "function_call", "call_id": t.id, "name": t.name, "arguments": string(t.input)}
	f.line(w, "response_item", call, t.at)
	output := fields{"type": "function_call_output", "call_id": t.id, "output": cmp.Or(t.failure, t.output)}
	f.line(w, "response_item", output, t.until)
}

type geminiLines struct{}

func (geminiLines) begin(w *transcriptWriter) {
	project := sha256.Sum256([]byte(w.state.CWD))
	w.line(fields{
		"sessionId": w.id, "projectHash": hex.EncodeToString(project[:]), "kind": "main",
		"startTime":   projection.FormatTime(w.state.Row.CreatedAt),
		"lastUpdated": projection.FormatTime(w.state.Row.UpdatedAt),
	})
}

func (geminiLines) human(w *transcriptWriter, m projection.Message, text string, at time.Time) {
	w.line(fields{
		"id": uuidOf(m.ID), "timestamp": projection.FormatTime(at), "type": "user", "content": []fields{{"text": text}},
	})
}

func (geminiLines) agent(w *transcriptWriter, m projection.Message, text, model string, at time.Time) {
	w.line(fields{
		"id": uuidOf(m.ID), "timestamp": projection.FormatTime(at), "type": "gemini", "content": text,
		"thoughts": []fields{}, "tokens": nil, "model": model,
	})
}

func (geminiLines) tool(w *transcriptWriter, t toolCall, model string) {
	status, key := "success", "output"
	if t.failure != "" {
		status, key = "error", "error"
	}
	response := fields{"id": t.id, "name": t.name, "response": fields{key: cmp.Or(t.failure, t.output)}}
	w.line(fields{
		"id": uuidOf(t.id + "/use"), "timestamp": projection.FormatTime(t.at), "type": "gemini", "content": "",
		"thoughts": []fields{}, "tokens": nil, "model": model,
		"toolCalls": []fields{{
			"id": t.id, "name": t.name, "args": t.input, "status": status, "timestamp": projection.FormatTime(t.until),
			"result": []fields{{"functionResponse": response}},
		}},
	})
}
