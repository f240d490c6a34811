package teams

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// TrustCommand is the command team trust.
type TrustCommand struct {
	Path   string `arg:"" complete:"team" help:"File or name of the team."`
	Revoke bool   `help:"Require confirmation again."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (TrustCommand) Help() string {
	return `Examples:
  agent-chatter team trust review.json
  agent-chatter team trust --revoke review.json`
}

// trustedTeam is the result of `team trust` in JSON output.
type trustedTeam struct {
	Path    string   `json:"path"`
	SHA256  string   `json:"sha256,omitempty"` // of what it runs
	Trusted bool     `json:"trusted"`
	Reads   []string `json:"reads"` // instruction files outside of the team's directories
}

// Run implements the command.
func (cmd *TrustCommand) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	list := view.FindingsOnTerminal(a, cmd.Output)
	if cmd.Revoke {
		path, found, err := revoke(ctx, a, cmd.Path)
		switch {
		case err != nil:
			return err
		case !found:
			return app.Exit(app.ExitNotFound, notTrustedText(path))
		case cmd.Output == "json":
			return app.WriteJSON(a.Stdout, trustedTeam{Path: path, Reads: []string{}})
		case list != nil:
			return list.Add(app.Fine(revokedText(path)))
		}
		_, err = fmt.Fprintln(a.Stdout, revokedText(path))
		return err
	}
	t, err := trust(ctx, a, cmd.Path)
	if err != nil {
		return err
	}
	if t.Source == nil {
		return app.Exit(app.ExitUsage, app.Message{Text: textBuiltIn})
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, trustedTeam{
			Path: t.Source.Path, SHA256: t.Digest(), Trusted: true, Reads: append([]string{}, t.Elsewhere...),
		})
	}
	if list != nil {
		return list.Add(app.Fine(strings.TrimSuffix(trustedText(a, t), "\n")))
	}
	_, err = fmt.Fprint(a.Stdout, trustedText(a, t))
	return err
}

const textBuiltIn = "The team demo is built in and runs nothing: it needs no confirmation."

func trustedText(a *app.App, t *team.Team) string {
	return fmt.Sprintf("%s is trusted as long as it runs only this:\n%s",
		tty.SafeLine(t.Source.Path), runsText(a, t))
}

func revokedText(path string) string {
	return tty.SafeLine(path) +
		" is not trusted any more. It must be confirmed before it runs, unless -t names its path."
}

func notTrustedText(path string) app.Message {
	return app.Text("%s is not trusted.", strings.TrimSpace(tty.SafeLine(path))).
		With(app.To("list the teams", "team", "list"))
}
