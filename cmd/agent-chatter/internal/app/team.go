package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Engines returns the engines that the members of a team can name.
func Engines(demo agent.Demo) map[string]agent.Engine {
	return map[string]agent.Engine{
		team.EngineDemo:    demo,
		team.EngineCommand: agent.Command{},
		team.EngineClaude:  agent.Claude(),
		team.EngineCodex:   agent.Codex(),
		team.EngineGemini:  agent.Gemini(),
		team.EngineOpenAI:  agent.OpenAI{},
		team.EngineACP:     &agent.ACP{},
	}
}

// LoadTeam loads a team by the path of its file or by its name.
func (a *App) LoadTeam(name string) (*team.Team, error) {
	path, err := team.Find(name, a.Cwd, a.Home)
	var notFound *team.NotFoundError
	if errors.As(err, &notFound) && name == team.Demo().Name {
		return team.Demo(), nil
	}
	if err != nil {
		return nil, err
	}
	return team.Load(path, a.Home)
}

// TeamOf loads the team of a session from the configuration that its journal
// records.
func (a *App) TeamOf(ctx context.Context, t *catalog.Dir, id string) (*team.Team, error) {
	recorded, err := t.RecordedTeam(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.RecordedTeam(id, recorded.ID, recorded.Source)
}

// RecordedTeam loads the team of a session from the recorded source of its
// configuration.
func (a *App) RecordedTeam(id, teamID string, source *projection.Source) (*team.Team, error) {
	if source == nil {
		if demo := team.Demo(); teamID == demo.ID {
			return demo, nil
		}
		return nil, Exit(
			ExitNotFound,
			Text("Session %s records no configuration of its team '%s'.", id, tty.SafeLine(teamID)).
				With(To("name one", "chat", "--resume", id, "-t", "TEAM")),
		)
	}
	team, err := team.Load(source.Path, a.Home)
	if err != nil {
		return nil, Exit(
			ExitNotFound,
			Text("Cannot load the configuration of the team '%s': %s", tty.SafeLine(teamID), tty.Safe(err.Error())).
				With(To("name another", "chat", "--resume", id, "-t", "TEAM")),
		)
	}
	if team.Source.SHA256 != source.SHA256 {
		a.Notice(fmt.Sprintf("The team configuration %s has changed since this session.", tty.SafeLine(source.Path)))
	}
	return team, nil
}
