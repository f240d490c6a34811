package agenttest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A stream is the part of a reply that all APIs have in common: server-sent events.
type stream struct {
	w     http.ResponseWriter
	n     int      // of the request: ids in its reply occur in no other
	sent  string   // text
	calls []object // of tools
}

// id returns an id of a kind.
func (s *stream) id(kind string) string { return fmt.Sprintf("%s_%d", kind, s.n) }

func (s *stream) begin() { s.w.Header().Set("Content-Type", "text/event-stream") }

func (s *stream) event(kind string, data object) {
	if kind != "" {
		data["type"] = kind
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", encode(data))
	s.w.(http.Flusher).Flush()
}

func (s *stream) fail(status string) {
	code, _ := strconv.Atoi(status)
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(code)
	failure := object{"type": "api_error", "code": code, "message": "out of luck"}
	fmt.Fprint(s.w, encode(object{"type": "error", "error": failure}))
}

type anthropic struct {
	*stream
	block int // the index of the last one
}

func (a *anthropic) begin() {
	a.stream.begin()
	a.event("message_start", object{"message": object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": "x", "content": []any{}, "stop_reason": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 1},
	}})
}

func (a *anthropic) text(word string) {
	if a.sent == "" {
		a.event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	}
	a.sent += word
	a.event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": word}})
}

func (a *anthropic) toolCall(tool string, input object) {
	if a.sent != "" {
		a.event("content_block_stop", object{"index": 0})
		a.block = 1
	}
	a.calls = append(a.calls, input)
	block := object{"type": "tool_use", "id": a.id("toolu"), "name": tool, "input": object{}}
	a.event("content_block_start", object{"index": a.block, "content_block": block})
	delta := object{"type": "input_json_delta", "partial_json": encode(input)}
	a.event("content_block_delta", object{"index": a.block, "delta": delta})
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
	r.event("response.created", object{"response": object{
		"id": r.id("resp"), "object": "response", "status": "in_progress", "output": []any{},
	}})
}

func (r *responses) text(word string) {
	at := object{"item_id": r.id("msg"), "output_index": 0, "content_index": 0}
	if r.sent == "" {
		r.event("response.output_item.added", object{"output_index": 0, "item": object{
			"id": r.id("msg"), "type": "message", "status": "in_progress", "role": "assistant", "content": []any{},
		}})
	}
	r.sent += word
	at["delta"] = word
	r.event("response.output_text.delta", at)
}

func (r *responses) toolCall(tool string, input object) {
	r.calls = append(r.calls, object{
		"id": r.id("fc"), "type": "function_call", "status": "completed", "call_id": r.id("call"),
		"name": tool, "arguments": encode(input),
	})
	call := r.calls[len(r.calls)-1]
	if namespace, name, ok := strings.Cut(tool, "."); ok {
		call["namespace"], call["name"] = namespace, name
	}
	if tool == "apply_patch" { // its input is text
		call["type"], call["input"] = "custom_tool_call", input["patch"]
		delete(call, "arguments")
	}
}

func (r *responses) end() {
	var items []object
	if r.sent != "" {
		items = append(items, object{
			"id": r.id("msg"), "type": "message", "status": "completed", "role": "assistant",
			"content": []object{{"type": "output_text", "text": r.sent, "annotations": []any{}}},
		})
	}
	items = append(items, r.calls...)
	for at, item := range items {
		r.event("response.output_item.done", object{"output_index": at, "item": item})
	}
	r.event("response.completed", object{"response": object{
		"id": r.id("resp"), "object": "response", "status": "completed", "output": items,
		"usage": object{
			"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}})
}

type gemini struct{ *stream }

// geminiPart returns a response of one part.
func geminiPart(part object) object {
	return object{
		"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
}

func (g *gemini) text(word string) { g.event("", geminiPart(object{"text": word})) }

func (g *gemini) toolCall(tool string, input object) {
	g.event("", geminiPart(object{"functionCall": object{"name": tool, "args": input}}))
}

func (g *gemini) end() {
	last := geminiPart(object{"text": ""})
	last["candidates"].([]object)[0]["finishReason"] = "STOP"
	g.event("", last)
}

type completions struct{ *stream }

// chunk sends a chunk of a completion.
func (c *completions) chunk(choices []object, usage object) {
	chunk := object{"id": c.id("chat"), "object": "chat.completion.chunk", "model": "x", "choices": choices}
	if usage != nil {
		chunk["usage"] = usage
	}
	c.event("", chunk)
}

func (c *completions) delta(delta object, reason any) {
	c.chunk([]object{{"index": 0, "delta": delta, "finish_reason": reason}}, nil)
}

func (c *completions) text(word string) { c.delta(object{"role": "assistant", "content": word}, nil) }

func (c *completions) toolCall(tool string, input object) {
	c.calls = append(c.calls, input)
	function := object{"name": tool, "arguments": encode(input)}
	call := object{"index": 0, "id": c.id("call"), "type": "function", "function": function}
	c.delta(object{"role": "assistant", "tool_calls": []object{call}}, nil)
}

func (c *completions) end() {
	reason := "stop"
	if len(c.calls) > 0 {
		reason = "tool_calls"
	}
	c.delta(object{}, reason)
	c.chunk([]object{}, object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
	fmt.Fprint(c.w, "data: [DONE]\n\n")
}
