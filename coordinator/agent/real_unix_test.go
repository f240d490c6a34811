//go:build unix

package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// realReply is what every model behind the stand-in says.
const realReply = "Hello from the stand-in. [NEXT: human]"

// standIn answers on the loopback as the APIs of the three vendors would, and keeps what it
// was asked.
type standIn struct {
	*httptest.Server
	mu    sync.Mutex
	asked strings.Builder
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) heard(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.asked.String(), text)
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked.Write(body)
	s.mu.Unlock()
	event := func(kind, data string) { fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data) }
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		w.Header().Set("Content-Type", "text/event-stream")
		event("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`)
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+realReply+`"}}`)
		event("content_block_stop", `{"type":"content_block_stop","index":0}`)
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`)
		event("message_stop", `{"type":"message_stop"}`)
	case strings.HasSuffix(path, "/responses"):
		w.Header().Set("Content-Type", "text/event-stream")
		item := `{"id":"i","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"` + realReply + `","annotations":[]}]}`
		event("response.created", `{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[]}}`)
		event("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`)
		event("response.completed", `{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[`+item+`],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}}`)
	case strings.Contains(path, ":streamGenerateContent"):
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", geminiAnswer(realReply))
	case strings.Contains(path, ":generateContent"): // which model to ask, and other questions of its own
		fmt.Fprint(w, geminiAnswer(`{\"reasoning\":\"x\",\"model_choice\":\"flash\",\"complexity_reasoning\":\"x\",\"complexity_score\":1,\"next_speaker\":\"user\"}`))
	default:
		http.NotFound(w, r)
	}
}

func geminiAnswer(text string) string {
	return `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"` + text + `"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}`
}

// realAgent is the path of an agent that .ci/agents has installed.
func realAgent(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("AGENT_CHATTER_AGENTS")
	if cache == "" {
		dir := os.Getenv("XDG_CACHE_HOME")
		if dir == "" {
			dir = filepath.Join(os.Getenv("HOME"), ".cache")
		}
		cache = filepath.Join(dir, "agent-chatter-agents")
	}
	path := filepath.Join(cache, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed; to install it, type: .ci/agents", name)
	}
	return path
}

func TestRealAgentsAnswer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		engine agent.CLI
		set    func(m *agent.Member, url string)
	}{
		{"claude", agent.Claude(), func(m *agent.Member, url string) {
			m.Env["ANTHROPIC_BASE_URL"], m.Env["ANTHROPIC_API_KEY"] = url, "x"
			m.Env["DISABLE_AUTOUPDATER"], m.Env["DISABLE_TELEMETRY"], m.Env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1", "1", "1"
		}},
		{"codex", agent.Codex(), func(m *agent.Member, url string) {
			m.Env["STAND_IN_KEY"], m.Model, m.Permissions = "x", "gpt-5.5", agent.ReadOnly
			m.Args = []string{"-c", "model_provider=standin", "-c", `model_providers.standin={name="standin",base_url="` + url + `/v1",env_key="STAND_IN_KEY",wire_api="responses"}`}
		}},
		{"gemini", agent.Gemini(), func(m *agent.Member, url string) {
			m.Env["GOOGLE_GEMINI_BASE_URL"], m.Env["GEMINI_API_KEY"], m.Env["GEMINI_CLI_TRUST_WORKSPACE"] = url, "x", "true"
			settings := filepath.Join(m.Env["HOME"], ".gemini", "settings.json")
			_ = os.MkdirAll(filepath.Dir(settings), 0o700)
			_ = os.WriteFile(settings, []byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`), 0o600)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, api := realAgent(t, tt.name), newStandIn(t)
			home, err := os.MkdirTemp("", "agent-home-") // agents may still write there when they have ended
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(home) })
			turn := agent.Turn{ID: turnID(t), Dir: t.TempDir(), Prompt: "Build a shelf of oak.", Member: agent.Member{Command: path, Env: map[string]string{"HOME": home}}}
			tt.set(&turn.Member, api.URL)
			var session string
			var used int64
			var said strings.Builder
			for event, err := range tt.engine.Run(t.Context(), turn) {
				if err != nil {
					t.Fatal(err)
				}
				switch e := event.(type) {
				case agent.Text:
					said.WriteString(e.Text)
				case agent.Session:
					session = e.ID
				case agent.Usage:
					used = e.InputTokens
				}
			}
			if said.String() != realReply || session == "" || used == 0 || !api.heard("a shelf of oak") {
				t.Errorf("it said %q in session %q for %d tokens, heard: %v", said.String(), session, used, api.heard("a shelf of oak"))
			}
		})
	}
}
