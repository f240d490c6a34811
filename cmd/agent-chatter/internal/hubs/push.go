package hubs

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Push ships sessions to the hub.
type pushCommand struct {
	ID       []string `arg:"" optional:"" help:"The sessions (default: those that the hub has)."`
	All      bool     `help:"Also ship the sessions that the hub lacks."`
	TakeOver bool     `help:"End the claim of another machine."`
	Output   string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (pushCommand) Help() string {
	return `Examples:
  agent-chatter hub push
  agent-chatter hub push --all
  agent-chatter hub push 7QN3 --take-over`
}

// outcome is what push, pull and verify print for a session.
type outcome struct {
	ID     string `json:"id"`
	Action string `json:"action"` // shipped, released, fetched, forked, healed, restored, equal, skipped or failed
	Events uint64 `json:"events"` // that were shipped or fetched
	Fork   string `json:"fork,omitempty"`
	Aside  string `json:"aside,omitempty"`
	Reason string `json:"reason,omitempty"` // of skipped and failed

	help    []app.Help
	held    bool // skipped: another process or machine has the session
	damaged bool // hub verify found that the hub has messages that are missing, not valid, or that cannot be read here
}

// Run implements the command.
func (cmd *pushCommand) Run(a *app.App) error {
	if cmd.TakeOver && len(cmd.ID) == 0 {
		return app.UsageError("--take-over needs the sessions to take over.")
	}
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
			if s.Relation == replica.OnlyHere {
				only++
			}
			continue
		}
		end := a.Begin("Shipping session " + s.Session.ID)
		o := c.push(s, cmd.TakeOver)
		end()
		if err := r.add(o); err != nil {
			return err
		}
	}
	a.Show(onlyText("here", only, app.To("ship all", "hub", "push", "--all")))
	return r.end(r.doneText("Shipped"), len(cmd.ID) > 0)
}

// wants reports whether a session is to be shipped.
func (cmd *pushCommand) wants(s replica.Status) bool {
	switch s.Relation {
	case replica.OnlyHub, replica.Behind, replica.Purged:
		return len(cmd.ID) > 0
	case replica.Unknown: // its error is reported
		return len(cmd.ID) > 0 || s.Local != nil
	case replica.OnlyHere:
		return cmd.All || len(cmd.ID) > 0
	case replica.Equal:
		return len(cmd.ID) > 0 || s.Mine && claimed(s.Remote.Claim) // a claim that a crash left
	}
	return true
}

// push ships a session.
func (c *connected) push(s replica.Status, takeOver bool) outcome {
	o := outcome{ID: s.Session.ID, Action: "equal"}
	if s.Local == nil && s.Remote.Err != nil {
		return o.failed(s.Remote.Err)
	}
	if s.Local == nil {
		return o.failed(&hub.BehindError{Session: s.Session, Hub: s.Remote.Head})
	}
	if s.Local.Damaged != "" {
		o.Action, o.Reason = "skipped", "it is damaged here"
		o.help = []app.Help{app.To("mend it", "repair", s.Session.ID)}
		return o
	}
	events, err := c.replica(s).Push(c.ctx, takeOver)
	if err != nil {
		return o.failed(err)
	}
	o.Events = events
	switch {
	case events > 0:
		o.Action = "shipped"
	case s.Mine && claimed(s.Remote.Claim):
		o.Action = "released"
	}
	return o
}

// failed returns the outcome for an error.
func (o outcome) failed(err error) outcome {
	m := app.Explain(err)
	o.Action, o.Reason, o.help = "failed", m.Text, m.Help
	o.held = inUse(err) || errors.As(err, new(*hub.ClaimedError))
	if o.held || errors.Is(err, hub.ErrPurged) {
		o.Action = "skipped"
	}
	return o
}

// text returns the outcome as a line.
func (o outcome) text() string {
	switch o.Action {
	case "shipped", "fetched":
		return fmt.Sprintf("%s  %s %s", o.ID, o.Action, app.Count(int(o.Events), "event"))
	case "forked":
		return fmt.Sprintf("%s  fetched; what was only here is session %s", o.ID, o.Fork)
	case "healed":
		return fmt.Sprintf("%s  damaged lines were taken from the hub; the previous journal is %s", o.ID, o.Aside)
	case "restored":
		return fmt.Sprintf("%s  restored %s on the hub", o.ID, app.Count(int(o.Events), "event"))
	case "released":
		return o.ID + "  equal; the claim of this machine was released"
	case "equal":
		if o.Events == 0 {
			return o.ID + "  equal"
		}
		return fmt.Sprintf("%s  equal, %s", o.ID, app.Count(int(o.Events), "event"))
	}
	return fmt.Sprintf("%s  %s: %s", o.ID, o.Action, o.Reason)
}
