package agenttest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// A Real is an agent as users install it, and .ci/agents for tests. It uses a [Model].
type Real struct {
	Name       string // in tests
	Engine     string // as in team files
	Unstreamed bool   // it does not stream its messages

	program   string
	configure func(m *agent.Member, dir, url, key string)
}

// Reals are all real agents.
var Reals = []Real{
	{Name: "claude", Engine: "claude", program: "claude", configure: configureClaude},
	{Name: "codex", Engine: "codex", program: "codex", configure: configureCodex},
	{Name: "gemini", Engine: "gemini", program: "gemini", configure: configureGemini},
	{Name: "claude over ACP", Engine: engineACP, program: "claude-agent-acp", configure: configureClaude},
	{Name: "codex over ACP", Engine: engineACP, program: "codex-acp", configure: configureCodexHome},
	{Name: "gemini over ACP", Engine: engineACP, program: "gemini", configure: configureGemini},
	{Name: "opencode over ACP", Engine: engineACP, program: "opencode", configure: configureOpenCode},
}

// Pi is no agent of a team: its sessions are imported.
var Pi = Real{Name: "pi", program: "pi", configure: configurePi}

const engineACP = "acp"

// SpeaksACP reports whether its engine speaks the Agent Client Protocol with the agent.
func (r Real) SpeaksACP() bool { return r.Engine == engineACP || r.Engine == "gemini" }

// SkipUnlessReal skips a test unless the flag -run selects tests named Real.
func SkipUnlessReal(t testing.TB) {
	t.Helper()
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "Real") {
		t.Skip("takes minutes; run it with: go test -run Real")
	}
}

// Member returns a member with this agent. It works in dir, has a new home, uses the model at url
// with that key, and may do anything. The test is skipped if the agent is not installed.
func (r Real) Member(t testing.TB, dir, url, key string) agent.Member {
	t.Helper()
	program := programtest.NodeModule(t, ".bin/"+r.program)
	m := agent.Member{ID: "real", Command: program, Permissions: agent.Bypass}
	if r.SpeaksACP() {
		m.Permissions = agent.Allow
	}
	home, err := os.MkdirTemp("", "agent-home-") // not t.TempDir: agents may still write there after they have exited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	m.Env = map[string]string{"HOME": home}
	r.configure(&m, dir, url, key)
	if r.program == Pi.program { // Debian's Node is too old for it
		m.Command, m.Args = programtest.NodeModule(t, "node/bin/node"), append([]string{program}, m.Args...)
	}
	return m
}

func configureClaude(m *agent.Member, _, url, key string) {
	m.AgentType = "claude"
	m.Env["ANTHROPIC_BASE_URL"], m.Env["ANTHROPIC_API_KEY"], m.Env["IS_SANDBOX"] = url, key, "1"
	m.Env["DISABLE_AUTOUPDATER"], m.Env["DISABLE_TELEMETRY"] = "1", "1"
	m.Env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
}

func configureCodex(m *agent.Member, _, url, key string) {
	m.AgentType = "codex"
	m.Env["STAND_IN_KEY"], m.Model = key, "gpt-5.5"
	provider := `{name="standin",base_url="` + url + `/v1",env_key="STAND_IN_KEY",wire_api="responses"}`
	m.Args = []string{"-c", "model_provider=standin", "-c", "model_providers.standin=" + provider}
}

// configureCodexHome is for codex-acp, which has no such arguments.
func configureCodexHome(m *agent.Member, _, url, key string) {
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

func configureGemini(m *agent.Member, _, url, key string) {
	m.AgentType = "gemini"
	m.Env["GOOGLE_GEMINI_BASE_URL"], m.Env["GEMINI_API_KEY"] = url, key
	m.Env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
	writeSettings(filepath.Join(m.Env["HOME"], ".gemini"), "settings.json",
		`{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"sessionRetention":{"enabled":false}}}`)
}

func configureOpenCode(m *agent.Member, dir, url, key string) {
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

func configurePi(m *agent.Member, _, url, key string) {
	m.AgentType = "pi"
	m.Args = []string{"--provider", "standin", "--model", "x", "--mode", "json"}
	m.Env["PI_OFFLINE"], m.Env["PI_TELEMETRY"] = "1", "0"
	settings, _ := json.Marshal(object{"providers": object{"standin": object{
		"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": key,
		"models": []object{{"id": "x", "input": []string{"text", "image"}}},
	}}})
	writeSettings(filepath.Join(m.Env["HOME"], ".pi", "agent"), "models.json", string(settings))
}

func writeSettings(dir, name, text string) {
	_ = os.MkdirAll(dir, 0o700)
	_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}
