package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// offeredFile records in the home that a team was offered, so that it is offered once.
const offeredFile = "team-offered"

// FirstTeam returns the team of a chat on a terminal that names none. Once, and only before the first session, it
// offers to make one of the agents that are installed and start. Otherwise it is the demo team.
func FirstTeam(ctx context.Context, a *app.App) (*team.Team, error) {
	t, err := offerTeam(ctx, a)
	if t == nil && err == nil {
		a.Show(demoTeamText())
		t = team.Demo()
	}
	return t, err
}

// offerTeam returns nil if the demo team is to answer.
func offerTeam(ctx context.Context, a *app.App) (*team.Team, error) {
	for _, used := range []string{"sessions", "team-config", offeredFile} {
		if _, err := os.Lstat(filepath.Join(a.OwnHome, used)); !errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	cmd := &teamInit{Yes: true}
	path, _ := cmd.place(a)
	if _, err := os.Lstat(path); err == nil {
		return nil, nil
	}
	var names []string
	for _, s := range agents.Working(ctx, a) {
		cmd.Agents, names = append(cmd.Agents, s.Name), append(names, s.DisplayName)
	}
	if len(names) == 0 {
		return nil, nil
	}
	fmt.Fprint(a.Stderr, offerTeamText(names, path))
	answer, err := tty.NewAnswers(a.Stdin).Next()
	if err != nil {
		return nil, &app.ExitError{Code: app.ExitDone} // the terminal, or the user, has ended the chat
	}
	if err := recordOffer(a); err != nil {
		return nil, err
	}
	switch strings.ToLower(answer) {
	case "", "y", "yes":
	default:
		return nil, nil
	}
	if err := cmd.Run(a); err != nil {
		return nil, err
	}
	return teams.Loader{App: a}.Load(ctx, path)
}

func recordOffer(a *app.App) error {
	if err := os.MkdirAll(a.OwnHome, 0o700); err != nil {
		return err
	}
	return app.WriteAtomically(filepath.Join(a.OwnHome, offeredFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "A team of the installed agents was offered.")
		return err
	})
}

// offerTeamText asks whether to make a team of agents.
func offerTeamText(names []string, path string) string {
	return fmt.Sprintf("Installed: %s.\nMake a team of them, in %s? [Y/n] ",
		tty.SafeLine(strings.Join(names, ", ")), tty.SafeLine(path))
}

// demoTeamText is for a chat with the demo team that the user has not chosen.
func demoTeamText() app.Message {
	return app.Text("The members of this team are a demo.").
		With(app.To("make a team of installed agents", "team", "init"))
}
