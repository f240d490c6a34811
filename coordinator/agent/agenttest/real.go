package agenttest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A Real is an agent as people install it, and as .ci/agents does for tests. It asks a [Model].
type Real struct {
	Name   string // of tests
	Engine string // what drives it, as members name it
	AtOnce bool   // it does not say a message before it is whole

	program string
	set     func(m *agent.Member, dir, url, key string)
}

// Reals are all of them.
var Reals = []Real{
	{Name: "claude", Engine: "claude", program: "claude", set: setClaude},
	{Name: "codex", Engine: "codex", AtOnce: true, program: "codex", set: setCodex},
	{Name: "gemini", Engine: "gemini", program: "gemini", set: setGemini},
	{Name: "claude over ACP", Engine: engineACP, program: "claude-agent-acp", set: setClaude},
	{Name: "codex over ACP", Engine: engineACP, program: "codex-acp", set: setCodexHome},
	{Name: "gemini over ACP", Engine: engineACP, program: "gemini", set: setGemini},
	{Name: "opencode over ACP", Engine: engineACP, program: "opencode", set: setOpenCode},
}

const engineACP = "acp"

// Lasts reports whether the agent's program stays between turns.
func (r Real) Lasts() bool { return r.Engine == engineACP }

// OnlyIfReal skips a test unless tests named Real were asked for.
func OnlyIfReal(t testing.TB) {
	t.Helper()
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "Real") {
		t.Skip("it takes minutes; to run it, type: go test -run Real")
	}
}

// Member is a member whose agent this is. It works in dir, has a home of its own, asks the
// model at url, with that key, and may do everything. The test is skipped when the agent is not
// installed.
func (r Real) Member(t testing.TB, dir, url, key string) agent.Member {
	t.Helper()
	m := agent.Member{ID: "real", Engine: r.Engine, Command: installed(t, r.program), Permissions: agent.Bypass}
	if r.Lasts() {
		m.Permissions = agent.Allow
	}
	home, err := os.MkdirTemp("", "agent-home-") // agents may still write there when they have ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	m.Env = map[string]string{"HOME": home}
	r.set(&m, dir, url, key)
	return m
}

// installed is the path of an agent that .ci/agents has installed.
func installed(t testing.TB, name string) string {
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

func setClaude(m *agent.Member, _, url, key string) {
	m.AgentType = "claude"
	m.Env["ANTHROPIC_BASE_URL"], m.Env["ANTHROPIC_API_KEY"], m.Env["IS_SANDBOX"] = url, key, "1"
	m.Env["DISABLE_AUTOUPDATER"], m.Env["DISABLE_TELEMETRY"], m.Env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1", "1", "1"
}

func setCodex(m *agent.Member, _, url, key string) {
	m.AgentType = "codex"
	m.Env["STAND_IN_KEY"], m.Model = key, "gpt-5.5"
	m.Args = []string{"-c", "model_provider=standin", "-c", `model_providers.standin={name="standin",base_url="` + url + `/v1",env_key="STAND_IN_KEY",wire_api="responses"}`}
}

// setCodexHome is for the server, which takes no such arguments.
func setCodexHome(m *agent.Member, _, url, key string) {
	m.AgentType = "codex"
	m.Env["STAND_IN_KEY"], m.Env["CODEX_HOME"] = key, filepath.Join(m.Env["HOME"], ".codex")
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

func setGemini(m *agent.Member, _, url, key string) {
	m.AgentType = "gemini"
	m.Env["GOOGLE_GEMINI_BASE_URL"], m.Env["GEMINI_API_KEY"], m.Env["GEMINI_CLI_TRUST_WORKSPACE"] = url, key, "true"
	writeSettings(filepath.Join(m.Env["HOME"], ".gemini"), "settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"sessionRetention":{"enabled":false}}}`)
}

func setOpenCode(m *agent.Member, dir, url, key string) {
	m.AgentType = "opencode"
	m.Env["STAND_IN_KEY"] = key
	settings, _ := json.Marshal(object{
		"model": "standin/x", "small_model": "standin/x",
		"provider": object{"standin": object{
			"npm": "@ai-sdk/openai-compatible", "name": "standin",
			"options": object{"baseURL": url + "/v1", "apiKey": "{env:STAND_IN_KEY}"},
			"models":  object{"x": object{"name": "x", "tool_call": true}},
		}},
	})
	writeSettings(dir, "opencode.json", string(settings))
}

func writeSettings(dir, name, text string) {
	_ = os.MkdirAll(dir, 0o700)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}
