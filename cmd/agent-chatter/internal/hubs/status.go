package hubs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Status compares the sessions here and on the hub.
type statusCommand struct {
	ID     []string `arg:"" optional:"" help:"The sessions (default: all of the shipped teams)."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (statusCommand) Help() string {
	return `Examples:
  agent-chatter hub status
  agent-chatter hub status 7QN3 --output json`
}

// statusJSON is the JSON output of a session. Scripts rely on it: fields are only added.
type statusJSON struct {
	ID       string     `json:"id"`
	Team     string     `json:"team"` // its directory
	Title    string     `json:"title"`
	Relation string     `json:"relation"`
	Local    uint64     `json:"local"` // events here
	Hub      uint64     `json:"hub"`   // events there
	Ahead    uint64     `json:"ahead"`
	Behind   uint64     `json:"behind"`
	Claim    *claimJSON `json:"claim,omitempty"` // omitted: nobody has claimed it
}

// claimJSON is the JSON output of a claim.
type claimJSON struct {
	Host  string `json:"host"`
	Home  string `json:"home"`
	Since string `json:"since"`
	Mine  bool   `json:"mine"`
}

// Run implements the command.
func (cmd *statusCommand) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	defer a.Remote.Close()
	var all []replica.Status
	c, err := connect(ctx, a)
	switch {
	case err == nil:
		all, err = c.named(cmd.ID)
	case errors.Is(err, home.ErrNoHub):
		err = cmp.Or(unknownName(ctx, a, cmd.ID), err)
	}
	if unknown := (*catalog.NotFoundError)(nil); errors.As(err, &unknown) {
		return app.Exit(app.ExitNotFound, unknownNameText(unknown.Name))
	}
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		for _, s := range all {
			if err := app.WriteJSON(a.Stdout, newStatusJSON(s)); err != nil {
				return err
			}
		}
		return nil
	}
	if tty.IsTerminal(a.Stdout) {
		style := view.StyleOn(a, a.Stdout)
		if err := statusTable(all).Write(a.Stdout, style.Width, style.Profile); err != nil {
			return err
		}
	} else {
		for _, line := range ansi.Align(statusRows(all)) {
			if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
				return err
			}
		}
	}
	a.Notice(hubText(c.hub.Name(), len(all), c.settings.Teams))
	return nil
}

func newStatusJSON(s replica.Status) statusJSON {
	j := statusJSON{ID: s.Session.ID, Team: s.Session.Team, Title: titleOf(s), Relation: string(s.Relation)}
	if s.Local != nil {
		j.Local = s.Local.End.Seq
	}
	if s.Remote != nil {
		j.Hub = s.Remote.Head.Seq
	}
	j.Ahead, j.Behind = ahead(s), behind(s)
	if s.Remote != nil && claimed(s.Remote.Claim) {
		claim := s.Remote.Claim
		j.Claim = &claimJSON{claim.Host, claim.Home, claim.Time.UTC().Format(time.RFC3339), s.Mine}
	}
	return j
}

// claimed reports whether a claim is not released.
func claimed(c *hub.Claim) bool { return c != nil && !c.Released }

// ahead returns how many events the hub lacks, at least.
func ahead(s replica.Status) uint64 {
	switch {
	case s.Relation == replica.OnlyHere:
		return s.Local.End.Seq
	case s.Relation == replica.Ahead:
		return s.Local.End.Seq - s.Remote.Head.Seq
	}
	return 0
}

// behind returns how many events are not here, at least.
func behind(s replica.Status) uint64 {
	switch {
	case s.Relation == replica.OnlyHub:
		return s.Remote.Head.Seq
	case s.Relation == replica.Behind:
		return s.Remote.Head.Seq - s.Local.End.Seq
	}
	return 0
}

func titleOf(s replica.Status) string {
	if s.Local != nil {
		return s.Local.Title
	}
	return s.Row.Title
}

// stateText returns how a session compares, such as "3 ahead".
func stateText(s replica.Status) string {
	switch s.Relation {
	case replica.Ahead:
		return fmt.Sprintf("%d ahead", ahead(s))
	case replica.Behind:
		return fmt.Sprintf("%d behind", behind(s))
	case replica.Unknown:
		if errors.As(s.Remote.Err, new(*hub.SealedError)) {
			return "sealed for others"
		}
	}
	return string(s.Relation)
}

// unknownName returns the error of the first name that no session here has: without a hub, it may be a misspelled
// subcommand.
func unknownName(ctx context.Context, a *app.App, names []string) error {
	for _, name := range names {
		if _, _, err := a.Catalog.Find(ctx, name); errors.As(err, new(*catalog.NotFoundError)) {
			return err
		}
	}
	return nil
}

// unknownNameText is for a name of a session that may be a misspelled subcommand.
func unknownNameText(name string) app.Message {
	text := fmt.Sprintf("hub has no subcommand '%s', and no session is named so.", tty.SafeLine(name))
	if nearest, ok := hint.Nearest(name, []string{"status", "push", "pull", "verify", "purge", "init"}); ok {
		text += fmt.Sprintf(" Did you mean \"%s\"?", nearest)
	}
	return app.Text("%s", text).
		With(app.To("list the subcommands", "hub", "--help"), app.To("list the sessions", "sessions"))
}

// stateStyles are for states in which the session here and the one on the hub differ.
var stateStyles = map[replica.Relation]ansi.Style{
	replica.Ahead: {Color: ansi.Yellow}, replica.Behind: {Color: ansi.Yellow}, replica.Diverged: {Color: ansi.Red},
	replica.Unknown: {Color: ansi.Red}, replica.OnlyHere: {Color: ansi.Yellow}, replica.OnlyHub: {Color: ansi.Yellow},
	replica.Purged: {Dim: true},
}

// holderText returns who has claimed a session, "" if nobody has.
func holderText(s replica.Status) string {
	switch {
	case s.Remote == nil || !claimed(s.Remote.Claim):
		return ""
	case s.Mine:
		return "this machine"
	}
	return tty.SafeLine(s.Remote.Claim.Host)
}

func statusRows(all []replica.Status) (rows [][]string) {
	for _, s := range all {
		j := newStatusJSON(s)
		rows = append(rows, []string{
			j.ID, tty.SafeLine(j.Team), strconv.FormatUint(j.Local, 10), strconv.FormatUint(j.Hub, 10), stateText(s),
			holderText(s), tty.SafeLine(j.Title),
		})
	}
	return rows
}

func statusTable(all []replica.Status) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "ID"}, {Name: "TEAM", Least: 10, Rank: 2}, {Name: "HERE", Right: true, Rank: 3},
		{Name: "HUB", Right: true, Rank: 3}, {Name: "STATE"}, {Name: "CLAIMED BY", Least: 12, Rank: 1},
		{Name: "TITLE", Least: 16, Rank: 4},
	}}
	styles := [7]ansi.Style{{Color: ansi.Cyan}, {}, {}, {}, {}, {Color: ansi.Green}, {}}
	for i, row := range statusRows(all) {
		styles[4] = stateStyles[all[i].Relation]
		var cells []ansi.Line
		for column, text := range row {
			cells = append(cells, ansi.Text(text, styles[column]))
		}
		t.Add(cells...)
	}
	return t
}
