package agent

// tried are the versions of the agents' packages with which the tests named Real passed. .ci/agents installs them.
var tried = map[string]string{
	"@anthropic-ai/claude-code":             "2.1.332",
	"@openai/codex":                         "0.171.0",
	"@google/gemini-cli":                    "0.61.0",
	"@agentclientprotocol/claude-agent-acp": "0.101.0",
	"@agentclientprotocol/codex-acp":        "2.6.0",
	"opencode-ai":                           "1.18.33",
}

// Package returns the npm package of the agent's program, and the version of it that was tried; "": unknown.
func (k Known) Package() (name, version string) {
	if len(k.Install) == 0 || k.Install[0] != "npm" {
		return "", ""
	}
	name = k.Install[len(k.Install)-1]
	return name, tried[name]
}
