package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Known is a program of which it is known how to talk to it.
type Known struct {
	Name        string // as a registry has it
	DisplayName string
	Engine      string   // which engine runs it: "claude", "codex", "gemini" or "acp"
	Program     string   // looked up in PATH
	Args        []string // without which the engine does not understand it
	Install     string   // the command that installs it
	LoggedIn    []string // arguments that make Program succeed when it is logged in; nil: nobody can tell
	Login       string   // what a person does when it is not
}

// KnownAgents are all of them, in the order in which they are named to people.
func KnownAgents() []Known {
	claude, codex, gemini := Claude().dialect, Codex().dialect, Gemini().dialect
	return []Known{
		{Name: "claude", DisplayName: claude.name, Engine: "claude", Program: claude.program, Install: claude.install, LoggedIn: []string{"auth", "status"}, Login: claude.login},
		{Name: "codex", DisplayName: codex.name, Engine: "codex", Program: codex.program, Install: codex.install, LoggedIn: []string{"login", "status"}, Login: codex.login},
		{Name: "gemini", DisplayName: gemini.name, Engine: "gemini", Program: gemini.program, Install: gemini.install, Login: gemini.login},
		{Name: "opencode", DisplayName: "OpenCode", Engine: "acp", Program: "opencode", Args: []string{"acp"}, Install: "npm install -g opencode-ai", Login: "log in: type opencode auth login"},
		{Name: "claude-acp", DisplayName: claude.name + " (ACP)", Engine: "acp", Program: "claude-agent-acp", Install: "npm install -g @agentclientprotocol/claude-agent-acp", Login: claude.login},
		{Name: "codex-acp", DisplayName: codex.name + " (ACP)", Engine: "acp", Program: "codex-acp", Install: "npm install -g @agentclientprotocol/codex-acp", Login: codex.login},
		{Name: "gemini-acp", DisplayName: gemini.name + " (ACP)", Engine: "acp", Program: gemini.program, Args: []string{"--acp"}, Install: gemini.install, Login: gemini.login},
	}
}

// Recognize returns the known agent that a command with these arguments starts. Of two that
// start the same program it is the one that needs more of the arguments.
func Recognize(command string, args []string) (Known, bool) {
	program := strings.TrimSuffix(filepath.Base(command), ".exe")
	var found Known
	for _, k := range KnownAgents() {
		missing := slices.ContainsFunc(k.Args, func(arg string) bool { return !slices.Contains(args, arg) })
		if k.Program == program && !missing && (found.Name == "" || len(k.Args) > len(found.Args)) {
			found = k
		}
	}
	return found, found.Name != ""
}
