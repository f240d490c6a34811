package hubs

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Purge removes a session from the hub. What machines have of it stays there.
type purgeCommand struct {
	ID  string `arg:"" help:"The session: id, title or latest."`
	Yes bool   `short:"y" help:"Purge without confirmation."`
}

// Help shows examples.
func (purgeCommand) Help() string {
	return `Examples:
  agent-chatter hub purge 7QN3
  agent-chatter hub purge 7QN3 --yes`
}

// Run implements the command. Without --yes it asks on a terminal, and fails with ExitUsage elsewhere.
func (cmd *purgeCommand) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	defer a.Remote.Close()
	c, err := connect(ctx, a)
	if err != nil {
		return err
	}
	found, err := c.named([]string{cmd.ID})
	if err != nil {
		return err
	}
	s := found[0]
	if s.Remote == nil {
		return app.Exit(app.ExitNotFound, app.Text("Session %s is not on the hub.", s.Session.ID))
	}
	if !cmd.Yes {
		if !a.IsTerminal() {
			return app.Exit(app.ExitUsage, confirmText(s.Session.ID))
		}
		if yes, err := a.Confirm(purgeQuestionText(s)); err != nil || !yes {
			return err
		}
	}
	if err := c.hub.Purge(ctx, s.Session); err != nil {
		return err
	}
	a.Notice(purgedText(s.Session.ID))
	if remain := agentSessions(ctx, a, s); len(remain) > 0 {
		a.Notice(host.AgentSessionsText(remain))
	}
	return nil
}

// agentSessions returns what the programs of agents keep of the session, as far as it is here.
func agentSessions(ctx context.Context, a *app.App, s replica.Status) []host.AgentSession {
	if s.Local == nil {
		return nil
	}
	r, err := a.Catalog.Team(s.Local.TeamID).Journals().Reader(s.Local.ID, journal.Position{})
	if err != nil {
		return nil
	}
	defer r.Close()
	return host.AgentSessions(ctx, a, r)
}

// confirmText is for a purge that cannot ask.
func confirmText(id string) app.Message {
	return app.Text("A purge cannot be undone, and nobody can confirm it here.").
		With(app.To("purge it", "hub", "purge", id, "--yes"))
}

func purgeQuestionText(s replica.Status) string {
	return "Session " + s.Session.ID + " (" + tty.SafeLine(titleOf(s)) + ") will be removed from the hub for all " +
		"machines.\nThis cannot be undone. What machines have of it stays there. Remove it?"
}

func purgedText(id string) string {
	return "Session " + id + " was removed from the hub. Copies on machines stay, and are not shipped again."
}

// noTeamsText is for a hub whose teams are not configured.
func noTeamsText() app.Message {
	return app.Text("No team is shipped: hub.teams of config.json names none.").
		With(app.To("see an example", "guide", "hub"))
}

// notShippedText is for a session of a team that is not shipped.
func notShippedText(s catalog.Session) app.Message {
	return app.Text("Session %s is not shipped: hub.teams of config.json does not name its team %s.", s.ID,
		tty.SafeLine(s.TeamID)).With(app.To("see an example", "guide", "hub"))
}

// hubText names the hub, and the teams whose sessions are listed.
func hubText(name string, sessions int, teams []string) string {
	of := " of all teams"
	if !slices.Contains(teams, home.AllTeams) {
		of = " of " + tty.SafeLine(strings.Join(teams, ", "))
	}
	return "Hub " + tty.SafeLine(name) + ": " + app.Count(sessions, "session") + of +
		".\nThe sync_interval of its servers: unknown."
}
