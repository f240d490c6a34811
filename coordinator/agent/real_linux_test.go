package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realAgent is an agent as people install it, which asks a model on the loopback.
type realAgent struct {
	name    string // of the test
	program string
	engine  func() agent.Engine
	set     func(m *agent.Member, dir, url string)
	retries bool // without a word, when the API refuses
}

var realAgents = []realAgent{
	{"claude", "claude", func() agent.Engine { return agent.Claude() }, setClaude, false},
	{"codex", "codex", func() agent.Engine { return agent.Codex() }, setCodex, false},
	{"gemini", "gemini", func() agent.Engine { return agent.Gemini() }, setGemini, false},
	{"claude over ACP", "claude-agent-acp", overACP, setClaude, false},
	{"codex over ACP", "codex-acp", overACP, setCodexHome, false},
	{"gemini over ACP", "gemini", overACP, setGemini, false},
	{"opencode over ACP", "opencode", overACP, setOpenCode, true},
}

func overACP() agent.Engine { return &agent.ACP{} }

func setClaude(m *agent.Member, _, url string) {
	m.AgentType = "claude"
	m.Env["ANTHROPIC_BASE_URL"], m.Env["ANTHROPIC_API_KEY"], m.Env["IS_SANDBOX"] = url, "x", "1"
	m.Env["DISABLE_AUTOUPDATER"], m.Env["DISABLE_TELEMETRY"], m.Env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1", "1", "1"
}

func setCodex(m *agent.Member, _, url string) {
	m.AgentType = "codex"
	m.Env["STAND_IN_KEY"], m.Model = "x", "gpt-5.5"
	m.Args = []string{"-c", "model_provider=standin", "-c", `model_providers.standin={name="standin",base_url="` + url + `/v1",env_key="STAND_IN_KEY",wire_api="responses"}`}
}

// setCodexHome is for the server, which takes no such arguments.
func setCodexHome(m *agent.Member, _, url string) {
	m.AgentType = "codex"
	m.Env["STAND_IN_KEY"], m.Env["CODEX_HOME"] = "x", filepath.Join(m.Env["HOME"], ".codex")
	writeSettings(m.Env["CODEX_HOME"], "config.toml", `model = "gpt-5.5"
model_provider = "standin"
sandbox_mode = "danger-full-access"
[model_providers.standin]
name = "standin"
base_url = "`+url+`/v1"
env_key = "STAND_IN_KEY"
wire_api = "responses"
`)
}

func setGemini(m *agent.Member, _, url string) {
	m.AgentType = "gemini"
	m.Env["GOOGLE_GEMINI_BASE_URL"], m.Env["GEMINI_API_KEY"], m.Env["GEMINI_CLI_TRUST_WORKSPACE"] = url, "x", "true"
	writeSettings(filepath.Join(m.Env["HOME"], ".gemini"), "settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"sessionRetention":{"enabled":false}}}`)
}

func setOpenCode(m *agent.Member, dir, url string) {
	m.AgentType = "opencode"
	settings, _ := json.Marshal(map[string]any{
		"model": "standin/x", "small_model": "standin/x",
		"provider": map[string]any{"standin": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "standin",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "x"},
			"models":  map[string]any{"x": map[string]any{"name": "x", "tool_call": true}},
		}},
	})
	writeSettings(dir, "opencode.json", string(settings))
}

func writeSettings(dir, name, text string) {
	_ = os.MkdirAll(dir, 0o700)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}

// installed is the path of an agent that .ci/agents has installed.
func installed(t *testing.T, name string) string {
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

// withRealAgents runs a test with every agent that is installed, in a directory, with a home
// and a model of its own. Everything that it leaves running fails it.
func withRealAgents(t *testing.T, test func(t *testing.T, a realAgent, e agent.Engine, turn agent.Turn, model *agenttest.Model)) {
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "Real") {
		t.Skip("it takes a minute; to run it, type: go test -run Real")
	}
	for _, a := range realAgents {
		t.Run(a.name, func(t *testing.T) {
			path, model, e := installed(t, a.program), agenttest.NewModel(t), a.engine()
			home, err := os.MkdirTemp("", "agent-home-") // agents may still write there when they have ended
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(home) })
			turn := agent.Turn{
				ID: turnID(t), Dir: t.TempDir(), Permit: func(context.Context, agent.Permission) bool { return true },
				Member: agent.Member{ID: "real", Command: path, Permissions: agent.Bypass, Env: map[string]string{"HOME": home}},
			}
			if _, lasts := e.(agent.Lasting); lasts {
				turn.Member.Permissions = agent.Allow
			}
			a.set(&turn.Member, turn.Dir, model.URL)
			test(t, a, e, turn, model)
			if e, lasts := e.(agent.Lasting); lasts {
				e.Close()
			}
			for pid, command := range ofTurn(turn.ID) {
				t.Errorf("process %d is left: %s", pid, command)
			}
		})
	}
}

// ofTurn are the command lines of the living processes that carry the turn's id, or one that
// begins with it.
func ofTurn(turnID string) map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if bytes.Contains(env, []byte(agent.TurnVariable+"="+turnID)) {
			command, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
			found[pid] = strings.ReplaceAll(string(command), "\x00", " ")
		}
	}
	return found
}

// realTime is how long a real agent may take on a busy machine.
const realTime = 2 * time.Minute

func realReply(t *testing.T, e agent.Engine, turn agent.Turn) (said, session string, used int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTime)
	defer cancel()
	var text strings.Builder
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			t.Fatalf("behind %q: %v", text.String(), err)
		}
		switch e := event.(type) {
		case agent.Text:
			text.WriteString(e.Text)
		case agent.Session:
			session = e.ID
		case agent.Usage:
			used = e.InputTokens
		}
	}
	return text.String(), session, used
}

func TestRealAgentsAnswer(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ realAgent, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "Build a shelf of oak."
		said, session, used := realReply(t, e, turn)
		if said != agenttest.ModelReply || session == "" || used == 0 || !model.Heard("a shelf of oak") {
			t.Errorf("it said %q in session %q for %d tokens, heard: %v", said, session, used, model.Heard("a shelf of oak"))
		}
	})
}

func TestRealAgentsUseToolsAndSaySo(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ realAgent, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		turn.Prompt = "tool <<echo made > made>>"
		var started, completed []string
		ctx, cancel := context.WithTimeout(t.Context(), realTime)
		defer cancel()
		for event, err := range e.Run(ctx, turn) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := event.(type) {
			case agent.ToolStarted:
				started = append(started, fmt.Sprintf("%s %s", e.Name, e.Input))
			case agent.ToolCompleted:
				completed = append(completed, e.Name+" "+e.Error)
			}
		}
		made, err := os.ReadFile(filepath.Join(turn.Dir, "made"))
		if string(made) != "made\n" || len(started) != 1 || !strings.Contains(started[0], "echo made") || len(completed) != 1 {
			t.Errorf("made %q, %v; started %q, completed %q", made, err, started, completed)
		}
	})
}

// cancelWhen runs a turn and cancels it when something has happened. It is what was said until
// then, and how long it took from there until control was back.
func cancelWhen(t *testing.T, e agent.Engine, turn agent.Turn, happened func(ctx context.Context)) (said string, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	limit, stop := context.WithTimeout(t.Context(), realTime)
	defer stop()
	var at time.Time
	go func() {
		happened(limit)
		at = time.Now()
		cancel(errEnoughSaid)
	}()
	said, err := reply(ctx, e, turn)
	if !errors.Is(err, errEnoughSaid) {
		t.Fatalf("it ended with %v behind %q", err, said)
	}
	return said, time.Since(at)
}

func TestRealAgentsAreCancelledInTheirReply(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ realAgent, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "slow 200"
		said, took := cancelWhen(t, e, turn, func(ctx context.Context) {
			for range 20 {
				select {
				case <-model.Spoken():
				case <-ctx.Done():
				}
			}
		})
		t.Logf("back within %s, behind %q", took.Round(time.Millisecond), said)
		turn.ID, turn.Prompt = turn.ID+"-again", "hello"
		if said, _, _ := realReply(t, e, turn); said != agenttest.ModelReply {
			t.Errorf("the next reply is %q", said)
		}
	})
}

func TestRealAgentsAreCancelledInATool(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ realAgent, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		const tool = "tail -f /dev/null"
		turn.Prompt = "tool <<" + tool + ">>"
		runs := func() bool {
			for _, command := range ofTurn(turn.ID) {
				if strings.TrimSpace(command) == tool {
					return true
				}
			}
			return false
		}
		_, took := cancelWhen(t, e, turn, func(ctx context.Context) {
			for !runs() && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond) // the system gives no notice of a process's start
			}
		})
		t.Logf("back within %s", took.Round(time.Millisecond))
		if runs() {
			t.Errorf("the tool is left: %v", ofTurn(turn.ID))
		}
		again := turn
		again.ID, again.Prompt = turn.ID+"-again", "hello"
		if said, _, _ := realReply(t, e, again); said != agenttest.ModelReply {
			t.Errorf("the next reply is %q", said)
		}
	})
}

func TestRealAgentsSayThatTheirAPIRefuses(t *testing.T) {
	withRealAgents(t, func(t *testing.T, a realAgent, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		if a.retries {
			t.Skip("it tries again in silence: there is a limit for that")
		}
		turn.Prompt = "fail 400"
		_, err := reply(t.Context(), e, turn)
		if failure, ok := errors.AsType[*agent.FailureError](err); !ok || !strings.Contains(failure.Says, "out of luck") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRealAgentsThatHangAreStopped(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ realAgent, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "hang"
		tooLong := errors.New("it took too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		go func() {
			<-model.Spoken()
			time.AfterFunc(2*time.Second, func() { cancel(tooLong) })
		}()
		if _, err := reply(ctx, e, turn); !errors.Is(err, tooLong) {
			t.Errorf("got %v", err)
		}
	})
}
