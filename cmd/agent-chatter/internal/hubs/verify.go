package hubs

import (
	"cmp"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Verify compares every line of sessions with the hub, and restores lines that the hub has lost.
type verifyCommand struct {
	ID     []string `arg:"" optional:"" help:"The sessions (default: all that are here and there)."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (verifyCommand) Help() string {
	return `Examples:
  agent-chatter hub verify
  agent-chatter hub verify 7QN3`
}

// Run implements the command.
func (cmd *verifyCommand) Run(a *app.App) error {
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
	for _, s := range all {
		if len(cmd.ID) == 0 && (s.Local == nil || s.Remote == nil || s.Relation == replica.Purged) {
			continue
		}
		end := a.Begin("Comparing session " + s.Session.ID)
		o := c.verify(s)
		o.help = slices.DeleteFunc(o.help, func(h app.Help) bool { return slices.Equal(h.Command.Argv, verifyArgv) })
		end()
		if err := r.add(o); err != nil {
			return err
		}
	}
	return r.end(r.comparedText(), len(cmd.ID) > 0)
}

// verifyArgv is what this command does not advise.
var verifyArgv = app.To("", "hub", "verify").Command.Argv

// verify compares a session.
func (c *connected) verify(s replica.Status) outcome {
	o := outcome{ID: s.Session.ID, Action: "equal"}
	r := c.replica(s)
	restored, err := r.Refill(c.ctx)
	compared := hub.Comparison{}
	if err == nil {
		compared, err = r.Compare(c.ctx, true)
	}
	if err = cmp.Or(err, compared.Damage); err != nil {
		o = o.failed(err)
		o.damaged = hub.IsDamage(err)
		return o
	}
	o.Events = compared.Common.Seq
	switch {
	case compared.Purged:
		return o.failed(hub.ErrPurged)
	case compared.Diverged():
		return o.failed(&hub.DivergedError{Session: s.Session, Common: compared.Common})
	case restored > 0:
		o.Action, o.Events = "restored", uint64(restored)
	case compared.Behind():
		return o.skipped(&hub.BehindError{Session: s.Session, Local: compared.Local, Hub: compared.Hub})
	case compared.Ahead():
		return o.skipped(errAhead, app.To("ship it", "hub", "push", s.Session.ID))
	}
	return o
}

var errAhead = errors.New("there are events here that the hub lacks")

// skipped returns the outcome of a session that is not equal, and not wrong.
func (o outcome) skipped(err error, help ...app.Help) outcome {
	o = o.failed(err)
	o.Action, o.help = "skipped", append(o.help, help...)
	return o
}
