package setup

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// teamEdit is the command team edit.
type teamEdit struct {
	File   string `arg:"" help:"File or name of the team."`
	Output string `help:"Output format of the validation: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (teamEdit) Help() string {
	return `Examples:
  agent-chatter team edit review
  EDITOR=nano agent-chatter team edit team.json`
}

// Run implements the command.
func (cmd *teamEdit) Run(a *app.App) error {
	file, err := team.Find(cmd.File, a.Places())
	switch {
	case err != nil:
		return err
	case file.Path == "":
		return app.Exit(app.ExitUsage, builtInText(file.Name))
	case !a.IsTerminal():
		return app.Exit(app.ExitUsage, noEditorText(file.Path))
	}
	if err := console.EditFile(file.Path); err != nil {
		return err
	}
	return (&teamValidate{File: file.Path, Output: cmd.Output}).Run(a)
}

// builtInText is for a team that has no file.
func builtInText(name string) app.Message {
	return app.Text("The team %s is built in, and has no file.", tty.SafeLine(name)).
		With(app.To("create a team", "team", "init"))
}

func noEditorText(path string) app.Message {
	return app.Text("An editor needs a terminal. The team file is %s", tty.SafeLine(path))
}
