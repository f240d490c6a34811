package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ModelReply is what every model says that is not told otherwise.
const ModelReply = "Hello from the stand-in. [NEXT: human]"

// modelPace is the time between two words of a model that is told to be slow.
const modelPace = 100 * time.Millisecond

// A Model answers on the loopback as the APIs of the vendors do: Anthropic's messages, OpenAI's
// responses and chat completions, Gemini's content, streamed. What it is asked last, or else the
// test, tells it what to do:
//
//	say <<TEXT>>      it says that
//	slow N            it says ModelReply and N words, slowly
//	tool <<COMMAND>>  it uses the agent's shell to run that, then says ModelReply
//	first <<TEXT>>    it says that before it uses the shell
//	fail STATUS       it refuses, with that status
//	hang              it says a word and nothing more
type Model struct {
	*httptest.Server
	// Begs lets it ask for leave to run a command outside of the agent's sandbox, where the
	// shell knows such a thing. It is set before anybody asks.
	Begs bool

	mu     sync.Mutex
	asked  strings.Builder
	told   string
	spoken chan struct{} // has a token when a word was said
}

// NewModel starts a model that ends with the test.
func NewModel(t testing.TB) *Model {
	m := &Model{spoken: make(chan struct{}, 1)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

// Tell makes the model do something from now on, whatever it is asked: an agent that goes on
// with a conversation asks what was asked before, too. Behind a tool it says what is told, too.
func (m *Model) Tell(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = what
}

// todo is what the model is told to do.
func (m *Model) todo(q inquiry) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.told != "" && q.ran:
		return wantsTool.ReplaceAllString(m.told, "")
	case m.told != "":
		return m.told
	case q.ran:
		return ""
	}
	return q.user
}

// Heard reports whether a text was in what anybody has asked, or in the head of that.
func (m *Model) Heard(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(m.asked.String(), text)
}

// Spoken has a value when a word was said since the last one was taken.
func (m *Model) Spoken() <-chan struct{} { return m.spoken }

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	fmt.Fprintf(&m.asked, "%s %s\r\n", r.Method, r.URL.Path)
	_ = r.Header.Write(&m.asked)
	m.asked.Write(body)
	m.mu.Unlock()
	stream := &stream{w: w}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		m.answer(r, readMessages(body), &anthropic{stream: stream})
	case strings.HasSuffix(path, "/responses"):
		m.answer(r, readResponses(body), &responses{stream: stream})
	case strings.HasSuffix(path, "/chat/completions"):
		m.answer(r, readMessages(body), &completions{stream: stream})
	case strings.Contains(path, ":streamGenerateContent"):
		m.answer(r, readContents(body), &gemini{stream: stream})
	case strings.Contains(path, ":generateContent"): // which model to ask, and other questions of its own
		fmt.Fprint(w, encode(geminiPart(object{"text": `{"reasoning":"x","model_choice":"flash","complexity_reasoning":"x","complexity_score":1,"next_speaker":"user"}`})))
	default:
		http.NotFound(w, r)
	}
}

// A voice is how one API says something.
type voice interface {
	begin()
	say(word string)
	use(tool string, input object)
	end()
}

// An inquiry is what a model is asked.
type inquiry struct {
	user  string // what was said last
	ran   bool   // the last that happened is the end of a tool
	tools []shell
}

// A shell is a tool that a model may use.
type shell struct {
	name       string
	properties map[string]json.RawMessage
}

var (
	wantsFail  = regexp.MustCompile(`\bfail (\d{3})\b`)
	wantsHang  = regexp.MustCompile(`\bhang\b`)
	wantsTool  = regexp.MustCompile(`\btool <<((?s:.*?))>>`)
	wantsFirst = regexp.MustCompile(`\bfirst <<((?s:.*?))>>`)
	wantsSay   = regexp.MustCompile(`\bsay <<((?s:.*?))>>`)
	wantsSlow  = regexp.MustCompile(`\bslow (\d+)\b`)
)

// wanted is the last that a text says of a kind, and whether it says it.
func wanted(kind *regexp.Regexp, text string) (string, bool) {
	found := kind.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "", false
	}
	last := found[len(found)-1]
	return last[len(last)-1], true
}

func (m *Model) answer(r *http.Request, q inquiry, v voice) {
	text, todo := ModelReply, m.todo(q)
	if status, ok := wanted(wantsFail, todo); ok {
		v.(interface{ refuse(status string) }).refuse(status)
		return
	}
	command, uses := wanted(wantsTool, todo)
	if tool, has := q.shell(); uses && has {
		v.begin()
		if first, ok := wanted(wantsFirst, todo); ok {
			v.say(first)
		}
		v.use(tool.name, tool.input(command, m.Begs))
		v.end()
		return
	}
	if say, ok := wanted(wantsSay, todo); ok {
		text = say
	}
	words, slow := wanted(wantsSlow, todo)
	if n, _ := strconv.Atoi(words); slow {
		text += strings.Repeat(" word", n)
	}
	_, hangs := wanted(wantsHang, todo)
	v.begin()
	for word := range strings.SplitAfterSeq(text, " ") {
		v.say(word)
		select {
		case m.spoken <- struct{}{}:
		default:
		}
		switch {
		case hangs:
			<-r.Context().Done()
			return
		case slow:
			time.Sleep(modelPace)
		}
		if r.Context().Err() != nil {
			return
		}
	}
	v.end()
}

// shells are the names by which agents call theirs.
var shells = []string{"Bash", "bash", "exec_command", "shell", "shell_command", "local_shell", "run_shell_command"}

func (q inquiry) shell() (shell, bool) {
	for _, name := range shells {
		for _, tool := range q.tools {
			if tool.name == name {
				return tool, true
			}
		}
	}
	return shell{}, false
}

// input is what the shell is given to run a command.
func (s shell) input(command string, begs bool) object {
	var kind struct{ Type string }
	_ = json.Unmarshal(s.properties["command"], &kind)
	input := object{"command": command}
	switch {
	case s.properties["cmd"] != nil:
		input = object{"cmd": command}
	case kind.Type == "array":
		input = object{"command": []string{"bash", "-lc", command}}
	}
	if s.properties["description"] != nil {
		input["description"] = "what was asked for"
	}
	if begs && s.properties["sandbox_permissions"] != nil {
		input["sandbox_permissions"], input["justification"] = "require_escalated", "It is what was asked for."
	}
	return input
}

// textIn is the text of a content that is a string, or parts.
func textIn(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts)
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// readMessages reads what Anthropic's messages and OpenAI's chat completions are asked.
func readMessages(body []byte) (q inquiry) {
	var asked struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct {
			Name        string
			InputSchema schema `json:"input_schema"`
			Function    struct {
				Name       string
				Parameters schema
			}
		}
	}
	_ = json.Unmarshal(body, &asked)
	for _, m := range asked.Messages {
		switch m.Role {
		case "user":
			q.user, q.ran = textIn(m.Content), strings.Contains(string(m.Content), `"tool_result"`)
		case "tool":
			q.ran = true
		}
	}
	for _, t := range asked.Tools {
		q.tools = append(q.tools, shell{t.Name + t.Function.Name, t.InputSchema.Properties}, shell{t.Function.Name, t.Function.Parameters.Properties})
	}
	return q
}

func readResponses(body []byte) (q inquiry) {
	var asked struct {
		Input []struct {
			Type, Role string
			Content    json.RawMessage
		}
		Tools []struct {
			Name, Type string
			Parameters schema
		}
	}
	_ = json.Unmarshal(body, &asked)
	for _, i := range asked.Input {
		q.ran = strings.HasSuffix(i.Type, "_output")
		if i.Role == "user" {
			q.user = textIn(i.Content)
		}
	}
	for _, t := range asked.Tools {
		name := t.Name
		if name == "" {
			name = t.Type
		}
		q.tools = append(q.tools, shell{name, t.Parameters.Properties})
	}
	return q
}

func readContents(body []byte) (q inquiry) {
	var asked struct {
		Contents []struct {
			Role  string
			Parts json.RawMessage
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           schema
				ParametersJSONSchema schema `json:"parametersJsonSchema"`
			}
		}
	}
	_ = json.Unmarshal(body, &asked)
	for _, c := range asked.Contents {
		if c.Role != "model" {
			q.user, q.ran = textIn(c.Parts), strings.Contains(string(c.Parts), `"functionResponse"`)
		}
	}
	for _, t := range asked.Tools {
		for _, f := range t.FunctionDeclarations {
			properties := f.Parameters.Properties
			if properties == nil {
				properties = f.ParametersJSONSchema.Properties
			}
			q.tools = append(q.tools, shell{f.Name, properties})
		}
	}
	return q
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A stream is what all the APIs answer with.
type stream struct {
	w     http.ResponseWriter
	said  string
	calls []object // of tools
}

func (s *stream) begin() { s.w.Header().Set("Content-Type", "text/event-stream") }

func (s *stream) event(kind string, data object) {
	if kind != "" {
		data["type"] = kind
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", encode(data))
	s.w.(http.Flusher).Flush()
}

func (s *stream) refuse(status string) {
	code, _ := strconv.Atoi(status)
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(code)
	fmt.Fprint(s.w, encode(object{"type": "error", "error": object{"type": "api_error", "code": code, "message": "out of luck"}}))
}

type anthropic struct {
	*stream
	block int // the last
}

func (a *anthropic) begin() {
	a.stream.begin()
	a.event("message_start", object{"message": object{
		"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []any{}, "stop_reason": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 1},
	}})
}

func (a *anthropic) say(word string) {
	if a.said == "" {
		a.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	}
	a.said += word
	a.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": word}})
}

func (a *anthropic) use(tool string, input object) {
	if a.said != "" {
		a.event("content_block_stop", object{"index": 0})
		a.block = 1
	}
	a.calls = append(a.calls, input)
	a.event("content_block_start", object{"index": a.block, "content_block": object{"type": "tool_use", "id": "toolu_1", "name": tool, "input": object{}}})
	a.event("content_block_delta", object{"index": a.block, "delta": object{"type": "input_json_delta", "partial_json": encode(input)}})
}

func (a *anthropic) end() {
	reason := "end_turn"
	if len(a.calls) > 0 {
		reason = "tool_use"
	}
	a.event("content_block_stop", object{"index": a.block})
	a.event("message_delta", object{"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 5}})
	a.event("message_stop", object{})
}

type responses struct{ *stream }

func (r *responses) begin() {
	r.stream.begin()
	r.event("response.created", object{"response": object{"id": "r", "object": "response", "status": "in_progress", "output": []any{}}})
}

func (r *responses) say(word string) {
	at := object{"item_id": "i", "output_index": 0, "content_index": 0}
	if r.said == "" {
		r.event("response.output_item.added", object{"output_index": 0, "item": object{"id": "i", "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}}})
	}
	r.said += word
	at["delta"] = word
	r.event("response.output_text.delta", at)
}

func (r *responses) use(tool string, input object) {
	r.calls = append(r.calls, object{"id": "f", "type": "function_call", "status": "completed", "call_id": "call_1", "name": tool, "arguments": encode(input)})
}

func (r *responses) end() {
	var items []object
	if r.said != "" {
		items = append(items, object{"id": "i", "type": "message", "status": "completed", "role": "assistant", "content": []object{{"type": "output_text", "text": r.said, "annotations": []any{}}}})
	}
	items = append(items, r.calls...)
	for at, item := range items {
		r.event("response.output_item.done", object{"output_index": at, "item": item})
	}
	r.event("response.completed", object{"response": object{"id": "r", "object": "response", "status": "completed", "output": items, "usage": object{
		"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
	}}})
}

type gemini struct{ *stream }

// geminiPart is an answer of one part.
func geminiPart(part object) object {
	return object{
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
}

func (g *gemini) say(word string) { g.event("", geminiPart(object{"text": word})) }

func (g *gemini) use(tool string, input object) {
	g.event("", geminiPart(object{"functionCall": object{"name": tool, "args": input}}))
}

func (g *gemini) end() {
	last := geminiPart(object{"text": ""})
	last["candidates"].([]object)[0]["finishReason"] = "STOP"
	g.event("", last)
}

type completions struct{ *stream }

func (c *completions) delta(delta object, reason any) {
	c.event("", object{"id": "c", "object": "chat.completion.chunk", "model": "x", "choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}})
}

func (c *completions) say(word string) { c.delta(object{"role": "assistant", "content": word}, nil) }

func (c *completions) use(tool string, input object) {
	c.calls = append(c.calls, input)
	c.delta(object{"role": "assistant", "tool_calls": []object{{"index": 0, "id": "call_1", "type": "function", "function": object{"name": tool, "arguments": encode(input)}}}}, nil)
}

func (c *completions) end() {
	reason := "stop"
	if len(c.calls) > 0 {
		reason = "tool_calls"
	}
	c.delta(object{}, reason)
	c.event("", object{"id": "c", "object": "chat.completion.chunk", "model": "x", "choices": []any{}, "usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
	fmt.Fprint(c.w, "data: [DONE]\n\n")
}
