package agent

import "github.com/agent-chatter/agent-chatter/coordinator/hint"

var _ = RegisterAgents(profile{
	name: "OpenCode", program: "opencode", install: npmInstall("opencode-ai"),
	login: Remedy{"log in", hint.Hint{Kind: hint.Run, Argv: []string{"opencode", "auth", "login"}}},
}.known(Known{Name: "opencode", Engine: acpEngine, Args: []string{"acp"}}))
