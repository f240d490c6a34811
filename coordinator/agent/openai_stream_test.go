package agent_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// sendBody returns a handler that sends a stream as it is.
func sendBody(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	}
}

// deltas returns chunks with pieces of a reply, and a last one with a finish_reason.
func deltas(finish string, pieces ...string) string {
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(`data: {"choices":[{"delta":{"content":` + piece + "}}]}\n\n")
	}
	return b.String() + `data: {"choices":[{"delta":{},"finish_reason":"` + finish + "\"}]}\n\n"
}

func TestOpenAIStreams(t *testing.T) {
	const whole = `data: {"choices":[{"message":{"content":"Tea and cake."},"finish_reason":"stop"}]}` + "\n\n"
	for _, tt := range []struct{ name, stream, reply, reason string }{
		{"a byte order mark", "\uFEFF" + deltas("stop", `"Tea "`, `"now"`), "Tea now", ""},
		{"CR", strings.ReplaceAll(deltas("stop", `"Tea "`, `"now"`), "\n", "\r"), "Tea now", ""},
		{"CRLF", strings.ReplaceAll(deltas("stop", `"Tea "`, `"now"`), "\n", "\r\n"), "Tea now", ""},
		{"data over several lines", "data: {\"choices\":\r\ndata: [{\"delta\":{\"content\":\r\ndata: \"Tea\"}}]}\r\n\r\n" +
			deltas("stop"), "Tea", ""},
		{"data over several lines at the end", deltas("stop", `"Tea"`) + "data: {\"choices\":\ndata: []}", "Tea", ""},
		{"an unreadable event", deltas("stop", `"Tea"`) + "data: {\"choi\n\n", "Tea", "a part of the reply cannot be read: “{\"choi”"},

		{"half a letter", deltas("stop", `"Hi \ud83c"`, `"\udf89 there"`), "Hi 🎉 there", ""},
		{"half a letter at the end", deltas("stop", `"Hi \uD83C"`), "Hi \uFFFD", ""},
		{"the text of an escape", deltas("stop", `"Hi \\ud83c"`, `"x"`), `Hi \ud83cx`, ""},
		{"the whole reply with each piece", deltas("stop", `"Tea"`, `"Tea and"`, `"Tea and cake"`, `"Tea and cake."`), "Tea and cake.", ""},
		{"pieces that begin alike", deltas("stop", `"a"`, `"ab"`, `"c"`, `"ca"`), "aabcca", ""},
		{"pieces that begin alike at the end", deltas("stop", `"a"`, `"ab"`), "aab", ""},
		{"a message after the deltas", deltas("", `"Tea "`, `"and cake."`) + whole, "Tea and cake.", ""},
		{"a message alone", whole, "Tea and cake.", ""},
		{"a refusal", `data: {"choices":[{"delta":{"refusal":"I will not."}}]}` + "\n\n" + deltas("stop"), "I will not.", ""},

		{"thoughts", deltas("stop", `"\n<thi"`, `"nk>[NEXT: bea] so</t"`, `"hink>\n"`, `"\nTea"`), "Tea", ""},
		{"a thought without an end", deltas("stop", `"<think>so"`), "", ""},
		{"a tag later", deltas("stop", `"See <think>x</think>"`), "See <think>x</think>", ""},
		{"what is no tag", deltas("stop", `"<thin"`, `"g>"`), "<thing>", ""},
		{"the start of a tag", deltas("stop", `"<th"`), "<th", ""},

		{"another finish_reason", deltas("abort", `"Half a"`), "Half a", "the reply was cut off: abort"},
		{"a limit", deltas("MAX_TOKENS", `"Half a"`), "Half a", "it reached the model's limit"},
		{"a filter", deltas("SAFETY"), "", "withheld by a filter"},
		{"the end of a turn", deltas("end_turn", `"Tea"`), "Tea", ""},

		{"an error event", "event: error\ndata: {\"object\":\"error\",\"message\":\"out of memory\"}\n\n", "", "out of memory"},
		{"an error event of text", deltas("", `"Te"`) + "event: error\ndata: out of memory\n\n", "Te", "out of memory"},
		{"an error without a type of event", deltas("", `"Te"`) + "data: {\"error_type\":\"x\",\"error_message\":\"out of memory\"}\n\n",
			"Te", "out of memory"},
		{"a detail", "data: {\"detail\":[{\"msg\":\"no model\"}]}\n\n", "", "no model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replied, err := reply(within(t), impatient, apiTurn(t, sendBody(tt.stream)))
			if replied != tt.reply {
				t.Errorf("the reply is %q", replied)
			}
			if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("got %v, want %q", err, tt.reason)
			}
		})
	}
}

// A server may leave the connection open when the reply is finished.
func TestOpenAIReplyEndsWithoutItsConnection(t *testing.T) {
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		sendBody(deltas("stop", `"Tea"`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	replied, err := reply(within(t), agent.OpenAI{Linger: time.Millisecond}, turn)
	if replied != "Tea" || err != nil {
		t.Errorf("replied %q, %v", replied, err)
	}
}

// An account without credit gets none by waiting.
func TestOpenAIWithoutCreditIsNotRepeated(t *testing.T) {
	answer, requests := failFirst(9, refuseWith(429, "0", `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`))
	_, err := reply(within(t), impatient, apiTurn(t, answer))
	if requests.Load() != 1 || err == nil || !strings.Contains(err.Error(), "billing") {
		t.Errorf("%d requests, %v", requests.Load(), err)
	}
}

func TestOpenAIShowsWhatAProxySays(t *testing.T) {
	page := "<!DOCTYPE html>\n<html><head><title>Bad &amp; gone</title></head><body>" + strings.Repeat("x", 9000)
	for body, want := range map[string]string{
		page: "403 Forbidden: Bad & gone;", `{"detail":"no key"}`: "403 Forbidden: no key;",
		`{"object":"error","message":"no key"}`: "403 Forbidden: no key;", `{"message":"no key"}`: "403 Forbidden: no key;",
	} {
		if _, err := reply(within(t), impatient, apiTurn(t, refuseWith(403, "", body))); !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestOpenAIHonoursFractionsOfSeconds(t *testing.T) {
	for name, value := range map[string]string{"Retry-After": "3.5", "retry-after-ms": "3500"} {
		turn := apiTurn(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		got, err := firstRetry(t, agent.OpenAI{}, turn)
		if err != nil || got.Wait != 3500*time.Millisecond {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
