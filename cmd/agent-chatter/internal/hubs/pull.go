package hubs

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Pull fetches sessions from the hub.
type pullCommand struct {
	ID     []string `arg:"" optional:"" help:"The sessions (default: those that are here)."`
	All    bool     `help:"Also fetch the sessions that are not here."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (pullCommand) Help() string {
	return `Examples:
  agent-chatter hub pull
  agent-chatter hub pull --all
  agent-chatter hub pull 7QN3`
}

// Run implements the command.
func (cmd *pullCommand) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	defer a.Remote.Close()
	c, err := connect(ctx, a)
	if err != nil {
		return err
	}
	all, err := c.named(cmd.ID)
	if err != nil {
		return err
	}
	r := newReport(c, cmd.Output)
	only := 0
	for _, s := range all {
		if !cmd.wants(s) {
			if s.Relation == replica.OnlyHub && !s.Deleted {
				only++
			}
			continue
		}
		end := a.Begin("Fetching session " + s.Session.ID)
		o := c.pull(s)
		end()
		if err := r.add(o); err != nil {
			return err
		}
	}
	a.Show(onlyText("on the hub", only, app.To("fetch all", "hub", "pull", "--all")))
	return r.end(r.doneText("Fetched"), len(cmd.ID) > 0)
}

// wants reports whether a session is to be fetched. A session that was deleted here is fetched only by its name.
func (cmd *pullCommand) wants(s replica.Status) bool {
	switch {
	case len(cmd.ID) > 0:
		return true
	case s.Local != nil && s.Local.Damaged != "":
		return s.Remote != nil
	}
	switch s.Relation {
	case replica.Behind, replica.Diverged:
		return true
	case replica.Unknown: // its error is reported
		return cmd.All || s.Local != nil
	case replica.OnlyHub:
		return cmd.All && !s.Deleted
	}
	return false
}

// pull fetches a session.
func (c *connected) pull(s replica.Status) outcome {
	o := outcome{ID: s.Session.ID, Action: "equal"}
	if s.Remote == nil {
		o.Action, o.Reason = "skipped", "it is not on the hub"
		return o
	}
	before := uint64(0)
	if s.Local != nil {
		before = s.Local.End.Seq
	}
	p, err := c.replica(s).Pull(c.ctx)
	if err != nil {
		return o.failed(err)
	}
	o.Fork, o.Aside, o.Events = p.Fork, p.Aside, p.Local.Seq
	switch {
	case p.Diverged():
		return o.failed(&hub.DivergedError{Session: s.Session, Common: p.Common})
	case p.Fork != "":
		o.Action = "forked"
	case p.Healed:
		o.Action = "healed"
	case p.Bytes > 0:
		o.Action, o.Events = "fetched", p.Local.Seq-before
	}
	if p.Damage != nil {
		return o.failed(p.Damage)
	}
	if err := c.replica(s).PullFiles(c.ctx); err != nil {
		return o.failed(err)
	}
	return o
}
