package agent

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A Known is an agent program that an engine can run.
type Known struct {
	Name        string // in an agent registry
	DisplayName string
	Engine      string   // "claude", "codex", "gemini" or "acp"
	Program     string   // looked up in PATH
	Args        []string // required by the engine
	Install     []string // the command that installs it
	LoggedIn    []string // arguments with which Program exits with 0 if it is logged in; nil if unknown
	Login       Remedy   // how to log in
}

// KnownAgents returns all known agents in display order: CLIs, then agents that speak the Agent
// Client Protocol.
func KnownAgents() []Known {
	claude, codex := Claude().profile.known("claude"), Codex().profile.known("codex")
	claude.LoggedIn, codex.LoggedIn = []string{"auth", "status"}, []string{"login", "status"}
	all := []Known{claude, codex, Gemini().profile.known("gemini")}
	for _, name := range []string{"opencode", "claude", "codex", "gemini"} {
		p, args := acpServers[name]()
		k := p.known("acp")
		k.Name, k.Args = name, args
		if slices.ContainsFunc(all, func(cli Known) bool { return cli.Name == name }) {
			k.Name, k.DisplayName = name+acpSuffix, p.name+" (ACP)"
		}
		all = append(all, k)
	}
	return all
}

func (p profile) known(engine string) Known {
	return Known{
		Name: engine, DisplayName: p.name, Engine: engine, Program: p.program, Install: p.install, Login: p.login,
	}
}

// Recognize returns the known agent that a command starts, and whether there is one. If several
// match, it returns the one with the most required arguments.
func Recognize(command string, args []string) (Known, bool) {
	var found Known
	for _, k := range KnownAgents() {
		missing := slices.ContainsFunc(k.Args, func(arg string) bool { return !slices.Contains(args, arg) })
		if k.Program == programName(command) && !missing && (found.Name == "" || len(k.Args) > len(found.Args)) {
			found = k
		}
	}
	return found, found.Name != ""
}

// SpeaksACP reports whether the engine ACP can run a command: the CLI of a known agent might not
// speak the Agent Client Protocol. It returns true for unknown programs.
func SpeaksACP(command string) bool {
	known := false
	for _, k := range KnownAgents() {
		if k.Program == programName(command) {
			if k.Engine == "acp" {
				return true
			}
			known = true
		}
	}
	return !known
}

func programName(command string) string {
	return strings.TrimSuffix(filepath.Base(command), ".exe")
}

// acpServers has a function for each known agent that speaks the Agent Client Protocol. It returns
// the profile of the agent's ACP server and the arguments that the server requires.
var acpServers = map[string]func() (server profile, args []string){
	"claude": func() (profile, []string) {
		return serverProfile(Claude(), "claude-agent-acp", "@agentclientprotocol/claude-agent-acp"), nil
	},
	"codex": func() (profile, []string) {
		return serverProfile(Codex(), "codex-acp", "@agentclientprotocol/codex-acp", codexLimit), nil
	},
	"gemini": func() (profile, []string) {
		return serverProfile(Gemini(), "gemini", "@google/gemini-cli", geminiWindow), []string{"--acp"}
	},
	"opencode": func() (profile, []string) {
		return profile{
			name: "OpenCode", program: "opencode", install: npmInstall("opencode-ai"),
			login: Remedy{"log in", hint.Hint{Kind: hint.Run, Argv: []string{"opencode", "auth", "login"}}},
		}, []string{"acp"}
	},
}

// serverProfile returns the profile of the ACP server for the agent that c runs.
func serverProfile(c CLI, program, packageName string, limits ...limit) profile {
	p := c.profile
	p.program, p.install, p.limits = program, npmInstall(packageName), limits
	return p
}

func npmInstall(packageName string) []string { return []string{"npm", "install", "-g", packageName} }

// acpSuffix ends the names of ACP servers of agents that also have a CLI.
const acpSuffix = "-acp"

// acpNames maps aliases of agent types to the keys of acpServers.
var acpNames = map[string]string{
	"claude-code": "claude", "gemini-cli": "gemini",
	"claude" + acpSuffix: "claude", "codex" + acpSuffix: "codex", "gemini" + acpSuffix: "gemini",
}

// ServesACP reports whether the ACP server of an agent type is known. If it is, a member of that
// type needs no command.
func ServesACP(agentType string) bool {
	return acpServers[cmp.Or(acpNames[agentType], agentType)] != nil
}

// acpProfile returns the profile of a member's agent and its arguments: those that a known agent
// requires to speak the protocol, then the member's own.
func acpProfile(m Member) (profile, []string) {
	server := acpServers[cmp.Or(acpNames[m.AgentType], m.AgentType)]
	if server == nil {
		return profile{name: cmp.Or(m.DisplayName, m.Command), program: m.Command}, m.Args
	}
	p, args := server()
	return p, withRequired(args, p.ownArgs(m))
}
