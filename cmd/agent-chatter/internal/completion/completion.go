package completion

import (
	"embed"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// The three functions ask the program itself what fits, by its command
// __complete: what there is to complete is known in one place.
//
//go:embed scripts
var completions embed.FS

type Command struct {
	Shell string `arg:"" help:"The shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  source <(agent-chatter completion bash)   # in ~/.bashrc
  source <(agent-chatter completion zsh)    # in ~/.zshrc, behind compinit
  agent-chatter completion fish > ~/.config/fish/completions/agent-chatter.fish`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	script, err := completions.Open("scripts/agent-chatter." + cmd.Shell)
	if err != nil {
		return err
	}
	defer script.Close()
	_, err = io.Copy(a.Stdout, script)
	return err
}
