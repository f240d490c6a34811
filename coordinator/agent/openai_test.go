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

// asks is a turn that asks an API which answers so.
func asks(t *testing.T, answer http.HandlerFunc) agent.Turn {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return agent.Turn{ID: t.Name(), Prompt: "Build a shelf.", Member: agent.Member{Endpoint: server.URL + "/v1/", Model: "m1"}}
}

// streams answers with the chunks, each sent by itself.
func streams(chunks ...string) http.HandlerFunc {
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

func TestAnAPIIsAskedWithTheKeyOfTheEnvironment(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	model := agenttest.NewModel(t)
	turn := agent.Turn{ID: t.Name(), Prompt: "Build a shelf.", Member: agent.Member{Endpoint: model.URL + "/v1/", Model: "m1", APIKeyEnv: "AGENT_TEST_KEY"}}
	told, err := whole(within(t), agent.OpenAI{}, turn)
	if want := []string{agenttest.ModelReply, "agent.Usage {InputTokens:10 OutputTokens:5}"}; err != nil || !slices.Equal(told, want) {
		t.Errorf("it told %q, %v", told, err)
	}
	for _, asked := range []string{
		"POST /v1/chat/completions\r\n", "Authorization: Bearer sk-secret\r\n", `"model":"m1"`, `"stream":true`, `"messages":[{"content":"Build a shelf.","role":"user"}]`,
	} {
		if !model.Received(asked) {
			t.Errorf("it was not asked %q", asked)
		}
	}
}

func TestAnAPIIsToldALongPromptWhole(t *testing.T) {
	prompt := strings.Repeat("日本語🙂 and \"more\".\n", 10<<20/24)
	var told string
	turn := asks(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err == nil && len(asked.Messages) == 1 {
			told = asked.Messages[0].Content
		}
		streams(chunkHi, chunkStop)(w, r)
	})
	turn.Prompt = prompt
	if _, err := whole(within(t), agent.OpenAI{}, turn); err != nil {
		t.Fatal(err)
	}
	if told != prompt {
		t.Errorf("of %d bytes it was told %d", len(prompt), len(told))
	}
}

func TestATurnWithAnAPIEndsAsItsStreamSays(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name       string
		answer     http.HandlerFunc
		said       string
		says, help string
	}{
		{"done", streams(chunkHi, chunkStop, "[DONE]"), "hi", "", ""},
		{"done, without a mark", streams(chunkHi, chunkStop), "hi", "", ""},
		{"no key", status(401, `{"error":{"message":"Incorrect API key: sk-secret"}}`), "", "401 Unauthorized: Incorrect API key: (the key)", "apiKeyEnv"},
		{"no model", status(404, `{"error":"model 'm1' not found"}`), "", "404 Not Found: model 'm1' not found", "/v1"},
		{"too many", status(429, ``), "", "429 Too Many Requests", "wait"},
		{"broken", status(500, `<html>`), "", "500 Internal Server Error: <html>", "/retry"},
		{"a page", status(200, "<html>\n<p>Welcome!"), "", "it answered text/html; charset=utf-8 that is no completion: “<html>”", "/v1"},
		{"nothing", status(200, ""), "", "the reply ended before it was finished", "/retry"},
		{"no end", streams(chunkHi), "hi", "the reply ended before it was finished", "/retry"},
		{"a mark without an end", streams(chunkHi, "[DONE]"), "hi", "the reply ended before it was finished", "/retry"},
		{"cut off", streams(chunkHi, `{"choices":[{"finish_reason":"length"}]}`), "hi", "cut off", "longer reply"},
		{"an error", streams(chunkHi, `{"error":{"message":"out of memory"}}`), "hi", "out of memory", "/retry"},
		{"broken off", func(w http.ResponseWriter, r *http.Request) {
			streams(chunkHi)(w, r)
			panic(http.ErrAbortHandler)
		}, "hi", "the reply broke off", "/retry"},
		{"a line without an end", func(w http.ResponseWriter, _ *http.Request) {
			piece := strings.Repeat("x", 1<<20)
			for range 100 {
				io.WriteString(w, piece)
			}
		}, "", "a line of more than 67108864 bytes", "less"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := asks(t, tt.answer)
			turn.Member.APIKeyEnv = "AGENT_TEST_KEY"
			said, err := reply(within(t), agent.OpenAI{}, turn)
			if said != tt.said {
				t.Errorf("it said %q", said)
			}
			failure, failed := errors.AsType[*agent.FailureError](err)
			switch {
			case tt.says == "" && err != nil, tt.says != "" && !failed:
				t.Errorf("got %v", err)
			case failed && (!strings.Contains(failure.Reason, tt.says) || !strings.Contains(withHint(failure), tt.help)):
				t.Errorf("got %v, want %q and %q", err, tt.says, tt.help)
			}
		})
	}
}

func TestAnAPIThatIsNotThereSaysWhatToCheck(t *testing.T) {
	turn := asks(t, streams())
	for _, tt := range []struct{ endpoint, key, says string }{
		{"http://127.0.0.1:1/v1", "", "such as Ollama"},
		{"http://me:hunter2@127.0.0.1:1/v1", "", "http://me:xxxxx@127.0.0.1:1/v1"},
		{"http://127.0.0.1:x/v1", "", "endpoint"},
		{turn.Member.Endpoint, "AGENT_TEST_NO_KEY", `the environment variable "AGENT_TEST_NO_KEY"`},
	} {
		turn.Member.Endpoint, turn.Member.APIKeyEnv = tt.endpoint, tt.key
		_, err := reply(within(t), agent.OpenAI{}, turn)
		if _, ok := errors.AsType[*agent.FailureError](err); !ok || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.endpoint, err, tt.says)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %v", err)
		}
	}
}

// hangs is a turn that asks an API which says hi and then nothing, until it is given up: then
// gone is closed.
func hangs(t *testing.T) (turn agent.Turn, gone <-chan struct{}) {
	over := make(chan struct{})
	return asks(t, func(w http.ResponseWriter, r *http.Request) {
		streams(chunkHi)(w, r)
		<-r.Context().Done()
		close(over)
	}), over
}

func TestAStoppedRequestIsGivenUp(t *testing.T) {
	turn, gone := hangs(t)
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range (agent.OpenAI{}).Run(ctx, turn) {
		if last = err; event != nil {
			cancel(errEnoughSaid)
		}
	}
	if !errors.Is(last, errEnoughSaid) {
		t.Errorf("the last error is %v", last)
	}
	<-gone
}

var errEnoughSaid = errors.New("enough said")

func TestLeavingTheLoopGivesTheRequestUp(t *testing.T) {
	turn, gone := hangs(t)
	for range (agent.OpenAI{}).Run(within(t), turn) {
		break
	}
	<-gone
}
