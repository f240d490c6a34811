package main

import (
	"embed"
	"io"
)

// The three functions ask the program itself what fits, by its command
// __complete: what there is to complete is known in one place.
//
//go:embed completion
var completions embed.FS

type completionCommand struct {
	Shell string `arg:"" help:"The shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help shows examples first.
func (completionCommand) Help() string {
	return `Examples:
  source <(agent-chatter completion bash)   # in ~/.bashrc
  source <(agent-chatter completion zsh)    # in ~/.zshrc, behind compinit
  agent-chatter completion fish > ~/.config/fish/completions/agent-chatter.fish`
}

// Run implements the command.
func (cmd *completionCommand) Run(a *app) error {
	script, err := completions.Open("completion/agent-chatter." + cmd.Shell)
	if err != nil {
		return err
	}
	defer script.Close()
	_, err = io.Copy(a.stdout, script)
	return err
}
