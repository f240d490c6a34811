//go:build unix

package main

import (
	"os/exec"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

const tab = "\t"

// Without -full, the shell is bash.
func TestTabKeyCompletesInShells(t *testing.T) {
	skipIfShort(t)
	racetest.SkipSequential(t)
	for name, test := range map[string]struct {
		args  []string
		setup string // defines the function and prints the word ready
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "source <(agent-chatter completion bash); PS1='> '; echo " +
			"rea''dy"},
		"zsh": {[]string{"-f", "-i"}, "autoload -U compinit && compinit -D -u; source <(agent-chatter completion " +
			"zsh); PS1='> '; echo rea''dy"},
		"fish": {[]string{"--no-config", "-i"}, "agent-chatter completion fish | source; function fish_prompt; printf '> '; end; " +
			"echo rea''dy"},
	} {
		if name != "bash" && !sizetest.Full() && !namesSubtest() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := programtest.Path(t, name)
			home := t.TempDir()
			do(t, home, exitDone, "chat", "-m", `Fix: the "login" of it's page`)
			do(t, home, exitDone, "chat", "-m", "another")
			cmd := exec.Command(path, test.args...)
			cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir(), "HISTFILE=")
			shell := startTerminal(t, home, cmd)
			shell.press(test.setup + enter)
			shell.expect("ready")
			shell.expect("> ")
			for _, typed := range []string{
				"agent-chatter replay Fix" + tab,                                 // a title, quoted for the shell
				"agent-chatter repl" + tab + " Fix" + tab,                        // a command before it
				"agent-chatter replay --outp" + tab + " te" + tab + " Fix" + tab, // flags and their values
				"agent-chatter replay Fi" + tab + " --from=1",
			} {
				shell.press(typed + enter)
				shell.expect("You\r\nFix: the \"login\" of it's page")
				shell.expect("Critic")
				shell.expect("> ") // it reads keys
			}
		})
	}
}
