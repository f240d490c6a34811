package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

type teamValidate struct {
	File   string `arg:"" help:"File or name of the team."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (teamValidate) Help() string {
	return `Examples:
  agent-chatter team validate team.json`
}

// validated is the result of `team validate` in JSON output.
type validated struct {
	Path     string         `json:"path"`
	Valid    bool           `json:"valid"`
	Team     string         `json:"team,omitempty"`
	Problems []fieldProblem `json:"problems"`
	Warnings []fieldProblem `json:"warnings,omitempty"` // missing fields that have defaults
	Error    string         `json:"error,omitempty"`    // every problem as text
}

// fieldProblem is an invalid field.
type fieldProblem struct {
	Path    string `json:"path"` // JSON pointer
	Message string `json:"message"`
}

// Run implements the command.
func (cmd *teamValidate) Run(a *app.App) error {
	list := view.FindingsOnTerminal(a, cmd.Output)
	file, err := team.Find(cmd.File, a.Places())
	if err != nil {
		return err
	}
	path := cmp.Or(file.Path, file.Name)
	team, err := teams.Read(a, cmd.File)
	if cmd.Output == "json" {
		return cmd.printJSON(a, path, team, err)
	}
	if err != nil {
		return showInvalid(list, path, err)
	}
	teams.Warn(a, team)
	members := make([]string, len(team.Members))
	for i, m := range team.Members {
		members[i] = fmt.Sprintf("%s (%s)", m.Name, m.Type)
		warnMember(a, m)
	}
	valid := fmt.Sprintf("%s is valid: team %s with %s",
		tty.SafeLine(path), tty.SafeLine(team.Name), tty.SafeLine(strings.Join(members, ", ")))
	if list != nil {
		return list.End(valid, nil)
	}
	_, err = fmt.Fprintln(a.Stdout, valid)
	return err
}

// showInvalid adds the problems of a team file to a list. It returns other errors, and all errors without a list.
func showInvalid(list *view.Findings, path string, err error) error {
	var invalid *schemas.InvalidError
	if list == nil || !errors.As(err, &invalid) {
		return err
	}
	for i, p := range invalid.Problems {
		f := app.Wrong(p.Path+": "+p.Message, "")
		if i == len(invalid.Problems)-1 {
			f.Commands = app.Explain(err).Help
		}
		if err := list.Add(f); err != nil {
			return err
		}
	}
	return list.End(invalidFileText(path, len(invalid.Problems)), err)
}

// invalidFileText is the last line on a terminal.
func invalidFileText(path string, problems int) string {
	return fmt.Sprintf("%s is invalid: %s.", tty.SafeLine(path), app.Count(problems, "problem"))
}

func (cmd *teamValidate) printJSON(a *app.App, path string, team *team.Team, err error) error {
	v := validated{Path: path, Valid: err == nil, Problems: []fieldProblem{}}
	var invalid *schemas.InvalidError
	switch {
	case errors.As(err, &invalid):
		for _, p := range invalid.Problems {
			v.Problems = append(v.Problems, fieldProblem{p.Path, p.Message})
		}
		v.Error = err.Error()
	case err != nil:
		v.Error = err.Error()
	default:
		v.Team = team.Name
		for _, p := range team.Warnings {
			v.Warnings = append(v.Warnings, fieldProblem{p.Path, p.Message})
		}
	}
	if printed := app.WriteJSON(a.Stdout, v); printed != nil || err == nil {
		return printed
	}
	return &app.ExitError{Code: app.ExitFailed}
}

// warnMember prints what a valid configuration of a member probably does not mean.
func warnMember(a *app.App, m team.Member) {
	if m.Type != team.AI {
		return
	}
	WarnIneffective(a, m)
	if plain := m.InPlain(); len(plain) > 0 {
		a.Notice(inPlainText(m, plain))
	}
	if _, err := os.Stat(m.BaseDir); errors.Is(err, fs.ErrNotExist) && m.BaseDir != "" {
		a.Notice(noBaseDirText(m))
	}
}

// WarnIneffective prints the settings of a member that have no effect.
func WarnIneffective(a *app.App, m team.Member) {
	if unset := m.Unset(); len(unset) > 0 {
		a.Notice(unsetNoticeText(m, unset))
	}
	engine := m.EngineInfo()
	if m.Permissions != "" && engine.Permissions == nil && engine.CommandLine(agent.Member{}) != nil {
		a.Notice(noPermissionsText(m))
	}
}

func unsetNoticeText(m team.Member, names []string) string {
	return fmt.Sprintf("Unset environment variables for %s: %s",
		tty.SafeLine(m.Name), tty.SafeLine(strings.Join(names, ", ")))
}

func noPermissionsText(m team.Member) string {
	return fmt.Sprintf("%s has no restrictions: the engine %s ignores permissions.",
		tty.SafeLine(m.Name), tty.SafeLine(m.EngineName()))
}

func inPlainText(m team.Member, names []string) string {
	return fmt.Sprintf(
		"The secrets of %s are stored in plain text: %s\nReplace each by \"$NAME\" to read it from your environment.",
		tty.SafeLine(m.Name),
		tty.SafeLine(strings.Join(names, ", ")),
	)
}

func noBaseDirText(m team.Member) string {
	return fmt.Sprintf("The base directory of %s does not exist: %s", tty.SafeLine(m.Name), tty.SafeLine(m.BaseDir))
}
