package hubs

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Command is the group of commands about a hub.
type Command struct {
	Status statusCommand `cmd:"" default:"withargs" help:"Compare the sessions here and on the hub."`
	Push   pushCommand   `cmd:"" help:"Ship sessions to the hub."`
	Pull   pullCommand   `cmd:"" help:"Fetch sessions from the hub."`
	Verify verifyCommand `cmd:"" help:"Compare every line with the hub."`
	Purge  purgeCommand  `cmd:"" help:"Remove a session from the hub."`
	Init   initCommand   `cmd:"" help:"Create the hub on its servers."`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  agent-chatter hub status
  agent-chatter hub push --all
  agent-chatter hub pull 7QN3`
}

// connected is a run of a command with a connection to the hub.
type connected struct {
	*app.App
	ctx      context.Context
	hub      *hub.Hub
	settings home.HubSettings
}

// connect connects to the hub. Without one it is an error.
func connect(ctx context.Context, a *app.App) (*connected, error) {
	settings, err := a.Remote.Settings()
	if err != nil {
		return nil, err
	}
	defer a.Begin("Connecting to the hub")()
	h, err := a.Remote.Hub(ctx)
	if err != nil {
		return nil, err
	}
	return &connected{a, ctx, h, settings}, nil
}

// list returns the sessions of the teams that are shipped.
func (c *connected) list() ([]replica.Status, error) {
	if len(c.settings.Teams) == 0 {
		return nil, app.Exit(app.ExitUsage, noTeamsText())
	}
	defer c.Begin("Listing the sessions of the hub")()
	return replica.List(c.ctx, c.hub, c.Catalog, c.settings.Ships)
}

// named returns the sessions with the names, here or on the hub, all if there are no names.
func (c *connected) named(names []string) (found []replica.Status, err error) {
	all, err := c.list()
	if err != nil || len(names) == 0 {
		return all, err
	}
	for _, name := range names {
		s, err := c.find(name, all)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

// find returns the session with a name: one that is here, or part of an id on the hub.
func (c *connected) find(name string, all []replica.Status) (found replica.Status, err error) {
	local, _, err := c.Catalog.Find(c.ctx, name)
	missing := (*catalog.NotFoundError)(nil)
	if err != nil && !errors.As(err, &missing) {
		return found, err
	}
	n := 0
	for _, s := range all {
		here := err == nil && s.Local != nil && s.Local.Key() == local.Key()
		if here || err != nil && catalog.MatchesID(s.Session.ID, name) {
			found, n = s, n+1
		}
	}
	switch {
	case n == 1:
		return found, nil
	case n > 1:
		return found, app.UsageError("Several sessions of the hub match %q: type more of the id.", name)
	case err == nil:
		return found, app.Exit(app.ExitUsage, notShippedText(local))
	}
	return found, err
}

// replica returns the replica of a session.
func (c *connected) replica(s replica.Status) replica.Replica {
	dir := c.Catalog.At(filepath.Join(c.Catalog.Root(), s.Session.Team))
	if s.Local != nil {
		dir = c.Catalog.At(s.Local.Dir())
	}
	return replica.Replica{Hub: c.hub, Dir: dir, ID: s.Session.ID}
}

// inUse reports whether an error is that of a session which another process has open.
func inUse(err error) bool { return errors.Is(err, journal.ErrLocked) }
