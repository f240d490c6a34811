package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// apiTurn returns a turn of an API with that handler.
func apiTurn(t *testing.T, answer http.HandlerFunc) agent.Turn {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	m := agent.Member{Endpoint: server.URL + "/v1/", Model: "m1"}
	return agent.Turn{ID: t.Name(), Prompt: "Build a shelf.", Member: m}
}

// impatient retries at once.
var impatient = agent.OpenAI{Wait: 1}

// sendChunks returns a handler that sends each chunk separately.
func sendChunks(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, chunk := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
			w.(http.Flusher).Flush()
		}
	}
}

const (
	chunkHi   = `{"choices":[{"delta":{"content":"hi"}}]}`
	chunkStop = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
)

func TestOpenAIRequest(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	model := agenttest.NewModel(t)
	m := agent.Member{Endpoint: model.URL + "/v1/", Model: "m1", APIKeyEnv: "AGENT_TEST_KEY"}
	turn := agent.Turn{ID: t.Name(), Prompt: "Build a shelf.", Member: m}
	got, err := allEvents(within(t), agent.OpenAI{}, turn)
	want := []string{agenttest.ModelReply, "agent.Usage 10+0+0 5+0, cost unknown"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, requested := range []string{
		"POST /v1/chat/completions\r\n", "Content-Type: application/json\r\n", "Accept: text/event-stream\r\n",
		`"stream_options":{"include_usage":true}`, "Authorization: Bearer sk-secret\r\n", `"model":"m1"`, `"stream":true`,
		`"messages":[{"content":"Build a shelf.","role":"user"}]`,
	} {
		if !model.Received(requested) {
			t.Errorf("the request does not contain %q", requested)
		}
	}
	if turn.Member.APIKeyEnv = ""; mustReply(t, agent.OpenAI{}, turn) != agenttest.ModelReply || model.Received("Bearer \r\n") {
		t.Error("without a key a request has an empty one")
	}
}

func TestOpenAIRepliesAreSignsOfLife(t *testing.T) {
	turn := apiTurn(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, ": a comment\n\nevent: x\ndata: {\"choices\":[{\"delta\":{}}]}\n\ndata: "+chunkHi+"\n\ndata: "+chunkStop+"\n")
	})
	var got []string
	for event, err := range impatient.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(event))
	}
	if want := []string{"{}", "{hi}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Some APIs keep the connection open after the reply.
func TestOpenAITurnEndsWithReply(t *testing.T) {
	for name, body := range map[string]string{
		"mark":   "data: " + chunkHi + "\n\ndata: [DONE]\n\n",
		"object": `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`,
	} {
		turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, body)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		if got := mustReply(t, impatient, turn); got != "hi" {
			t.Errorf("%s: the reply is %q", name, got)
		}
	}
}

// The reply of an API may contain what was sent to it.
func TestOpenAIErrorsHaveNoSecrets(t *testing.T) {
	for _, tt := range []struct {
		key, query string
		headers    map[string]string
		answer     string
		want       string
	}{
		{"12345678", "", nil, "key 12345678", "key (secret)"},
		{"1234567", "", nil, "key 1234567", "key 1234567"},
		{"", "", map[string]string{"Authorization": "Bearer 12345678", "X": "Bearer 1"}, "a 12345678 b Bearer 1", "a (secret) b (secret)"},
		{"12345678", "", map[string]string{"X": "1234567890"}, "a 1234567890 b 12345678", "a (secret) b (secret)"},
		{"", "?key=s%2fcret-0815&v=1", nil, "a s/cret-0815 b s%2Fcret-0815 c key=s%2fcret-0815&v=1", "a (secret) b (secret) c (secret)"},
	} {
		turn := apiTurn(t, refuseWith(404, "", tt.answer))
		turn.Member.Endpoint += tt.query
		turn.Member.Headers = tt.headers
		if tt.key != "" {
			turn.Member.APIKeyEnv, turn.Member.Env = "AGENT_TEST_KEY", map[string]string{"AGENT_TEST_KEY": tt.key}
		}
		_, err := reply(within(t), impatient, turn)
		if err == nil || !strings.Contains(err.Error(), "404 Not Found: "+tt.want+";") {
			t.Errorf("%q became %v, want %q", tt.answer, err, tt.want)
		}
	}
}

func TestOpenAIHugePrompt(t *testing.T) {
	prompt := strings.Repeat("日本語🙂 and \"more\".\n", 10<<20/24)
	var got string
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		var requested struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&requested); err == nil && len(requested.Messages) == 1 {
			got = requested.Messages[0].Content
		}
		sendChunks(chunkHi, chunkStop)(w, r)
	})
	turn.Prompt = prompt
	if _, err := allEvents(within(t), agent.OpenAI{}, turn); err != nil {
		t.Fatal(err)
	}
	if got != prompt {
		t.Errorf("of %d bytes %d were received", len(prompt), len(got))
	}
}

func TestOpenAITurnErrors(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name           string
		answer         http.HandlerFunc
		replied        string
		reason, remedy string
	}{
		{"done", sendChunks(chunkHi, chunkStop, "[DONE]"), "hi", "", ""},
		{"done, without mark", sendChunks(chunkHi, chunkStop), "hi", "", ""},
		{
			"no key", status(401, `{"error":{"message":"Incorrect API key: sk-secret"}}`), "",
			"401 Unauthorized: Incorrect API key: (secret)", "apiKeyEnv",
		},
		{"no model", status(404, `{"error":"model 'm1' not found"}`), "", "404 Not Found: model 'm1' not found", "/v1"},
		{"too many requests", status(429, ``), "", "429 Too Many Requests", "wait"},
		{"internal error", status(500, `<html>`), "", "500 Internal Server Error: <html>", "/retry"},
		{
			"HTML page", status(200, "<html>\n<p>Welcome!"), "",
			"it answered text/html; charset=utf-8 that is no completion: “<html>”", "/v1",
		},
		{"empty", status(200, ""), "", "the reply ended before it was finished", "/retry"},
		{"no finish reason", sendChunks(chunkHi), "hi", "the reply ended before it was finished", "/retry"},
		{"mark without finish reason", sendChunks(chunkHi, "[DONE]"), "hi", "", ""},
		{
			"rubbish after text", status(200, "data: "+chunkHi+"\n<html>\n"), "hi",
			"the reply ended before it was finished", "/retry",
		},
		{"rubbish before text", status(200, "<html>\ndata: "+chunkHi+"\ndata: "+chunkStop+"\n"), "hi", "", ""},
		{"rubbish and a mark", status(200, "<html>\ndata: [DONE]\n"), "", "that is no completion: “<html>”", "/v1"},
		{"last line without newline", status(200, "data: "+chunkHi+"\ndata: "+chunkStop), "hi", "", ""},
		{"mark without a reply", sendChunks("[DONE]"), "", "the reply ended before it was finished", "/retry"},
		{"JSON over several lines", status(200, " \r\n"+`{
			"choices": [
				{"message": {"content": "hi"}, "finish_reason": "stop"}
			]
		}`+"\n"), "hi", "", ""},
		{"JSON cut off", status(200, "{\n"), "", "the reply broke off: unexpected EOF", "/retry"},
		{"not JSON", status(200, "{\nx"), "", "that is no completion", "/v1"},
		{"another object", status(200, `{"a":1}`), "", "the reply ended before it was finished", "/retry"},
		{"accepted", status(202, ""), "", "202 Accepted", "/retry"},
		{"not modified", status(304, ""), "", "304 Not Modified", "/retry"},
		{"cut off", sendChunks(chunkHi, `{"choices":[{"finish_reason":"length"}]}`), "hi", "cut off", "longer reply"},
		{"error", sendChunks(chunkHi, `{"error":{"message":"out of memory"}}`), "hi", "out of memory", "/retry"},
		{"connection lost", func(w http.ResponseWriter, r *http.Request) {
			sendChunks(chunkHi)(w, r)
			panic(http.ErrAbortHandler)
		}, "hi", "the reply broke off", "/retry"},
		{"endless line", func(w http.ResponseWriter, _ *http.Request) {
			piece := strings.Repeat("x", 1<<20)
			for range 100 {
				io.WriteString(w, piece)
			}
		}, "", "a line of more than 33554432 bytes", "less"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := apiTurn(t, tt.answer)
			turn.Member.APIKeyEnv = "AGENT_TEST_KEY"
			replied, err := reply(within(t), impatient, turn)
			if replied != tt.replied {
				t.Errorf("the reply is %q", replied)
			}
			failure, failed := errors.AsType[*agent.FailureError](err)
			switch {
			case tt.reason == "" && err != nil, tt.reason != "" && !failed:
				t.Errorf("got %v", err)
			case failed && (!strings.Contains(failure.Reason, tt.reason) ||
				!strings.Contains(withHint(failure), tt.remedy)):
				t.Errorf("got %v, want %q and %q", err, tt.reason, tt.remedy)
			}
		})
	}
}

func TestOpenAIConnectionErrors(t *testing.T) {
	turn := apiTurn(t, sendChunks())
	for _, tt := range []struct{ endpoint, key, reason string }{
		{"http://127.0.0.1:1/v1", "", "such as Ollama"},
		{"http://me:hunter2@127.0.0.1:1/v1", "", "the API at http://127.0.0.1:1/v1 failed"},
		{"http://127.0.0.1:x/v1", "", "endpoint"},
		{turn.Member.Endpoint, "AGENT_TEST_NO_KEY", `the environment variable "AGENT_TEST_NO_KEY"`},
	} {
		turn.Member.Endpoint, turn.Member.APIKeyEnv = tt.endpoint, tt.key
		_, err := reply(within(t), impatient, turn)
		if _, ok := errors.AsType[*agent.FailureError](err); !ok || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("%s: got %v, want %q", tt.endpoint, err, tt.reason)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// hangingAPI returns a turn of an API that sends one chunk and blocks. gone is closed when the
// request is cancelled.
func hangingAPI(t *testing.T) (turn agent.Turn, gone <-chan struct{}) {
	over := make(chan struct{})
	return apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		sendChunks(chunkHi)(w, r)
		<-r.Context().Done()
		close(over)
	}), over
}

func TestOpenAIStopCancelsRequest(t *testing.T) {
	turn, gone := hangingAPI(t)
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range (agent.OpenAI{}).Run(ctx, turn) {
		if last = err; event != nil {
			cancel(errCancelled)
		}
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("the last error is %v", last)
	}
	<-gone
}

func TestOpenAILeavingLoopCancelsRequest(t *testing.T) {
	turn, gone := hangingAPI(t)
	for range (agent.OpenAI{}).Run(within(t), turn) {
		break
	}
	<-gone
}

func TestOpenAILoopCanBeLeftAtAnyEvent(t *testing.T) {
	on := true
	for name, answer := range map[string]http.HandlerFunc{
		"object":      refuseWith(200, "", `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`),
		"unsupported": refuseWith(400, "", "unknown option: reasoning_effort"),
		"retry":       refuseWith(500, "", ""),
	} {
		turn := apiTurn(t, answer)
		turn.Member.Thinking = &on
		for event, err := range impatient.Run(within(t), turn) {
			if event == nil {
				t.Errorf("%s: got %v", name, err)
			}
			break // a second event would panic
		}
	}
}
