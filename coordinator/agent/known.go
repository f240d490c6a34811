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

// KnownAgents are all of them, in the order in which they are named to people: CLIs, then what
// speaks the Agent Client Protocol.
func KnownAgents() []Known {
	claude, codex := Claude().dialect.known("claude"), Codex().dialect.known("codex")
	claude.LoggedIn, codex.LoggedIn = []string{"auth", "status"}, []string{"login", "status"}
	all := []Known{claude, codex, Gemini().dialect.known("gemini")}
	for _, name := range []string{"opencode", "claude", "codex", "gemini"} {
		d, args := acpServers[name]()
		k := d.known("acp")
		k.Name, k.Args = name, args
		if slices.ContainsFunc(all, func(cli Known) bool { return cli.Name == name }) {
			k.Name, k.DisplayName = name+acpSuffix, d.name+" (ACP)"
		}
		all = append(all, k)
	}
	return all
}

// acpSuffix ends the name of what speaks the protocol for an agent that is known by itself.
const acpSuffix = "-acp"

func (d dialect) known(engine string) Known {
	return Known{Name: engine, DisplayName: d.name, Engine: engine, Program: d.program, Install: d.install, Login: d.login}
}

// Recognize returns the known agent that a command with these arguments starts. Of two that
// start the same program it is the one that needs more of the arguments.
func Recognize(command string, args []string) (Known, bool) {
	var found Known
	for _, k := range KnownAgents() {
		missing := slices.ContainsFunc(k.Args, func(arg string) bool { return !slices.Contains(args, arg) })
		if k.Program == programOf(command) && !missing && (found.Name == "" || len(k.Args) > len(found.Args)) {
			found = k
		}
	}
	return found, found.Name != ""
}

// Speaks reports whether the engine can talk to the program of a command, as far as it is known:
// the CLI of an agent may need another program to speak the Agent Client Protocol.
func Speaks(engine, command string) bool {
	known := false
	for _, k := range KnownAgents() {
		if k.Program == programOf(command) {
			if k.Engine == engine {
				return true
			}
			known = true
		}
	}
	return !known
}

func programOf(command string) string {
	return strings.TrimSuffix(filepath.Base(command), ".exe")
}
