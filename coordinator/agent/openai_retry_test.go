package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// failFirst returns a handler that refuses the first requests, and the number of requests.
func failFirst(refusals int, refuse http.HandlerFunc) (http.HandlerFunc, *atomic.Int32) {
	var requests atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if int(requests.Add(1)) <= refusals {
			refuse(w, r)
			return
		}
		sendChunks(chunkHi, chunkStop)(w, r)
	}, &requests
}

// refuseWith returns a handler that sends a status, a Retry-After unless it is "", and a text.
func refuseWith(status int, after, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

func breakConnection(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

// retries runs a turn and returns its retries, its reply and its error.
func retries(ctx context.Context, e agent.Engine, turn agent.Turn) (retries []agent.Retry, text string, err error) {
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			return retries, text, err
		}
		switch event := event.(type) {
		case agent.Retry:
			retries = append(retries, event)
		case agent.Text:
			text += event.Text
		}
	}
	return retries, text, nil
}

func TestOpenAIRetriesTemporaryFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		refuse http.HandlerFunc
		reason string
	}{
		"429":             {refuseWith(429, "", `{"error":{"message":"slow down"}}`), "429 Too Many Requests: slow down"},
		"500":             {refuseWith(500, "", "oops"), "500 Internal Server Error: oops"},
		"502":             {refuseWith(502, "", ""), "502 Bad Gateway"},
		"503":             {refuseWith(503, "0", ""), "503 Service Unavailable"},
		"504":             {refuseWith(504, "", ""), "504 Gateway Timeout"},
		"408":             {refuseWith(408, "", ""), "408 Request Timeout"},
		"524":             {refuseWith(524, "", ""), "524 status code 524"},
		"529":             {refuseWith(529, "", `{"type":"error","error":{"message":"Overloaded"}}`), "529 status code 529: Overloaded"},
		"lost connection": {breakConnection, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, requests := failFirst(2, tt.refuse)
			got, text, err := retries(within(t), impatient, apiTurn(t, answer))
			if err != nil || text != "hi" || len(got) != 2 || requests.Load() != 3 {
				t.Fatalf("%d requests, %+v, reply %q, %v", requests.Load(), got, text, err)
			}
			for i, r := range got {
				if r.Reason != tt.reason || r.Try != i+1 || r.Max != 6 {
					t.Errorf("got %+v, want %q", r, tt.reason)
				}
			}
		})
	}
}

func TestOpenAIRepeatsNoOtherFailure(t *testing.T) {
	for _, status := range []int{201, 204, 304, 400, 401, 403, 404, 422, 501, 505, 525} {
		answer, requests := failFirst(9, refuseWith(status, "0", ""))
		got, _, err := retries(within(t), impatient, apiTurn(t, answer))
		if err == nil || len(got) != 0 || requests.Load() != 1 {
			t.Errorf("status %d: %d requests, %+v, %v", status, requests.Load(), got, err)
		}
	}
}

func TestOpenAIRetriesAreLimited(t *testing.T) {
	answer, requests := failFirst(99, refuseWith(500, "", "oops"))
	got, _, err := retries(within(t), impatient, apiTurn(t, answer))
	if err == nil || !strings.Contains(err.Error(), "oops") || len(got) != 5 || requests.Load() != 6 {
		t.Errorf("%d requests, %d retries, %v", requests.Load(), len(got), err)
	}
}

// firstRetry returns the first retry of a turn, which it leaves there.
func firstRetry(t *testing.T, e agent.Engine, turn agent.Turn) (agent.Retry, error) {
	t.Helper()
	for event, err := range e.Run(within(t), turn) {
		if r, ok := event.(agent.Retry); ok || err != nil {
			return r, err
		}
	}
	t.Fatal("neither a retry nor an error")
	return agent.Retry{}, nil
}

func TestOpenAIHonoursRetryAfter(t *testing.T) {
	soon := time.Now().Add(90 * time.Minute)
	for _, tt := range []struct {
		after    string
		from, to time.Duration
	}{
		{"7", 7 * time.Second, 7 * time.Second},
		{" 3600 ", time.Hour, time.Hour},
		{soon.UTC().Format(http.TimeFormat), 80 * time.Minute, 90 * time.Minute},
		{"Sun, 06 Nov 1994 08:49:37 GMT", 0, 0},
		{"", time.Second, 1500 * time.Millisecond},
		{"-1", time.Second, 1500 * time.Millisecond},
		{"2147483647", 2147483647 * time.Second, 2147483647 * time.Second},
		{"2147483648", time.Second, 1500 * time.Millisecond},
		{"99999999999999999999", time.Second, 1500 * time.Millisecond},
		{"soon", time.Second, 1500 * time.Millisecond},
	} {
		got, err := firstRetry(t, agent.OpenAI{}, apiTurn(t, refuseWith(429, tt.after, "")))
		if err != nil || got.Wait < tt.from || got.Wait > tt.to {
			t.Errorf("Retry-After %q: %+v, %v", tt.after, got, err)
		}
	}
}

func TestOpenAIWaitsLongerEachTime(t *testing.T) {
	wait := time.Microsecond
	got, _, _ := retries(within(t), agent.OpenAI{Wait: wait}, apiTurn(t, refuseWith(500, "", "")))
	for i, r := range got {
		if from := wait << i; r.Wait < from || r.Wait > from*3/2 {
			t.Errorf("retry %d waits %v", i+1, r.Wait)
		}
	}
}

func TestOpenAIDoesNotWaitBeyondLimitOfTurn(t *testing.T) {
	turn := apiTurn(t, refuseWith(429, "3600", "quota"))
	for limit, retried := range map[time.Duration]bool{0: true, 59 * time.Minute: false, 61 * time.Minute: true} {
		turn.Limit = limit
		if got, err := firstRetry(t, agent.OpenAI{}, turn); (got.Try == 1) != retried || (err == nil) != retried {
			t.Errorf("limit %v: %+v, %v", limit, got, err)
		}
	}
}

func TestOpenAIStopsWhileItWaits(t *testing.T) {
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range (agent.OpenAI{}).Run(ctx, apiTurn(t, refuseWith(429, "3600", "quota"))) {
		if last = err; event != nil {
			cancel(errCancelled)
		}
	}
	if !errors.Is(last, errCancelled) || !strings.Contains(last.Error(), "the last try failed: 429") {
		t.Errorf("got %v", last)
	}
}

func TestOpenAIForgetsFailureAfterResponse(t *testing.T) {
	answer, _ := failFirst(1, refuseWith(503, "0", ""))
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w, r)
		w.(http.Flusher).Flush()
		if w.Header().Get("Content-Type") == "text/event-stream" {
			<-r.Context().Done()
		}
	})
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range impatient.Run(ctx, turn) {
		if _, replied := event.(agent.Text); replied {
			cancel(errCancelled)
		}
		last = err
	}
	if !errors.Is(last, errCancelled) || strings.Contains(last.Error(), "503") {
		t.Errorf("got %v", last)
	}
}

func TestOpenAIRetriesConnection(t *testing.T) {
	turn := apiTurn(t, nil)
	turn.Member.Endpoint = "http://127.0.0.1:1/v1"
	if got, _, err := retries(within(t), impatient, turn); err == nil || len(got) != 5 {
		t.Errorf("%d retries, %v", len(got), err)
	}
}

func TestOpenAIWithoutStreamOptions(t *testing.T) {
	for _, status := range []int{400, 422} {
		var bodies []string
		turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, string(body)); strings.Contains(string(body), "stream_options") {
				refuseWith(status, "", `{"detail":"Unknown field: stream_options"}`)(w, r)
				return
			}
			sendChunks(chunkHi, chunkStop)(w, r)
		})
		got, text, err := retries(within(t), impatient, turn)
		if err != nil || text != "hi" || len(got) != 0 || len(bodies) != 2 {
			t.Errorf("status %d: %d requests, %+v, %q, %v", status, len(bodies), got, text, err)
		}
	}
	answer, requests := failFirst(9, refuseWith(400, "", "stream_options and more"))
	if _, _, err := retries(within(t), impatient, apiTurn(t, answer)); err == nil || requests.Load() != 2 {
		t.Errorf("always refused: %d requests, %v", requests.Load(), err)
	}
}

func TestOpenAIFollowsNoRedirect(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/steal?key=hunter22", status)
		})
		turn.Member.APIKeyEnv = "AGENT_TEST_KEY"
		_, err := reply(within(t), impatient, turn)
		if err == nil || reached || !strings.Contains(err.Error(), "it redirects to "+other.URL+", and redirects") ||
			strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("status %d: reached %v, %v", status, reached, err)
		}
	}
}

func TestOpenAIEndpointWithQuery(t *testing.T) {
	var requested string
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		requested = r.URL.String()
		refuseWith(404, "", "no "+requested)(w, r)
	})
	turn.Member.Endpoint = strings.TrimSuffix(turn.Member.Endpoint, "/") + "/a%2Fb?api-version=1&key=s%2fcret-0815"
	_, err := reply(within(t), impatient, turn)
	if want := "/v1/a%2Fb/chat/completions?api-version=1&key=s%2fcret-0815"; requested != want {
		t.Errorf("requested %s, want %s", requested, want)
	}
	if err == nil || strings.Contains(err.Error(), "0815") || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v", err)
	}
	turn.Member.Endpoint = "http://127.0.0.1:1/v1?key=s%2fcret-0815"
	if _, err := reply(within(t), impatient, turn); err == nil || strings.Contains(err.Error(), "0815") {
		t.Errorf("no connection: %v", err)
	}
}

func TestOpenAIHeaders(t *testing.T) {
	t.Setenv("AGENT_TEST_KEY", "sk-secret")
	var got http.Header
	turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		refuseWith(403, "", "the token secret-4711 has expired")(w, r)
	})
	turn.Member.APIKeyEnv = "AGENT_TEST_KEY"
	turn.Member.Headers = map[string]string{"authorization": "Bearer secret-4711", "X-Title": "chat"}
	_, err := reply(within(t), impatient, turn)
	if fmt.Sprint(got["Authorization"], got["X-Title"]) != "[Bearer secret-4711] [chat]" {
		t.Errorf("got %v", got)
	}
	if err == nil || strings.Contains(err.Error(), "4711") {
		t.Errorf("got %v", err)
	}
}
