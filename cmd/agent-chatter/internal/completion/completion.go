package completion

import (
	"embed"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

//go:embed scripts
var scripts embed.FS

// Command is the command completion.
type Command struct {
	Shell string `arg:"" help:"Shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  source <(agent-chatter completion bash)   # in ~/.bashrc
  source <(agent-chatter completion zsh)    # in ~/.zshrc, after compinit
  agent-chatter completion fish > ~/.config/fish/completions/agent-chatter.fish`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	script, err := scripts.Open("scripts/agent-chatter." + cmd.Shell)
	if err != nil {
		return err
	}
	defer script.Close()
	_, err = io.Copy(a.Stdout, script)
	return err
}
