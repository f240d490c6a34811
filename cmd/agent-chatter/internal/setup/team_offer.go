package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// offeredFile records in the home that a team was offered and made or refused, so that it is offered once. Only its
// existence counts.
const offeredFile = "team-offered.json"

// offerJSON is the content of offeredFile.
type offerJSON struct {
	SchemaVersion string    `json:"schemaVersion"`
	OfferedAt     time.Time `json:"offeredAt"`
}

// FirstTeam returns the team of a chat on a terminal that names none. Once, and only before the first session, it
// offers to create a team of the installed agents that can be started. Otherwise it is the demo team.
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
	cmd := &teamInit{Yes: true}
	path, _ := cmd.place(a)
	for _, used := range []string{
		filepath.Join(a.Home, "sessions"),
		filepath.Join(a.Home, "team-config"), filepath.Join(a.Home, offeredFile), path,
	} {
		if _, err := os.Lstat(used); !errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	var names []string
	for _, s := range agents.Working(ctx, a) {
		cmd.Agents, names = append(cmd.Agents, s.Name), append(names, s.DisplayName)
	}
	if len(names) == 0 {
		return nil, nil
	}
	fmt.Fprint(a.Stdout, offerTeamText(names, path))
	answers := tty.NewAnswers(a.Stdin)
	q := &questions{out: a.Stdout, next: func() (string, error) { return answerOf(ctx, answers) }}
	answer, unanswered := q.next()
	chosen := chosenAgents(answer, cmd.Agents)
	accepted := unanswered == nil && len(chosen) > 0
	if accepted {
		cmd.Agents = chosen
		permissions := q.askPermissions()
		cmd.Permissions = &permissions
		unanswered, accepted = q.err, q.err == nil
	}
	if unanswered != nil {
		fmt.Fprintln(a.Stdout)
	}
	if accepted {
		if err := cmd.Run(a); err != nil {
			return nil, err
		}
		// Crash here leaves the team, so that nothing is offered in this directory.
	}
	if err := recordOffer(a.Home, time.Now()); err != nil {
		return nil, err
	}
	switch {
	case unanswered != nil:
		return nil, &app.ExitError{Code: app.ExitDone} // the terminal, or the user, has ended the chat
	case !accepted:
		return nil, nil
	}
	return teams.Loader{App: a}.Load(ctx, path)
}

// chosenAgents returns the agents that an answer chooses: all of them for yes, those with the numbers of the answer, or
// none.
func chosenAgents(answer string, agents []string) (chosen []string) {
	if slices.Contains([]string{"", "y", "yes"}, strings.ToLower(answer)) {
		return agents
	}
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(agents) {
			return nil
		}
		if !slices.Contains(chosen, agents[n-1]) {
			chosen = append(chosen, agents[n-1])
		}
	}
	return chosen
}

// answerOf waits for the next answer until ctx is done.
func answerOf(ctx context.Context, answers *tty.Answers) (answer string, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answer, err = answers.Next()
	}()
	select {
	case <-answered:
		return answer, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func recordOffer(home string, now time.Time) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	return app.WriteAtomically(filepath.Join(home, offeredFile), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(offerJSON{"1.0", now.UTC()})
	})
}

// offerTeamText asks whether to make a team of agents, and of which if there are several.
func offerTeamText(names []string, path string) string {
	if len(names) == 1 {
		return fmt.Sprintf("Installed: %s.\nMake a team of it, in %s?\n[Y/n] ",
			tty.SafeLine(names[0]), tty.SafeLine(path))
	}
	text := "Installed:\n"
	for i, name := range names {
		text += fmt.Sprintf("  %d. %s\n", i+1, tty.SafeLine(name))
	}
	return text + fmt.Sprintf("Make a team of them, in %s?\n[Y/n, or numbers such as 1,2] ", tty.SafeLine(path))
}

// demoTeamText is for a chat with the demo team that the user has not chosen.
func demoTeamText() app.Message {
	return app.Message{}.With(app.To("make a team of your own agents", "team", "init"))
}
