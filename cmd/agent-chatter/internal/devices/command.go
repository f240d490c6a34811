package devices

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// Command is the command devices.
type Command struct {
	List   list   `cmd:"" aliases:"ls" default:"withargs" help:"List the paired devices."`
	Revoke revoke `cmd:"" aliases:"rm" help:"End the access of a device."`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  agent-chatter devices
  agent-chatter devices revoke "Ann's phone"
  agent-chatter serve --chat --pair`
}

type list struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (list) Help() string {
	return `Examples:
  agent-chatter devices list
  agent-chatter devices list --json | jq -r 'select(.role == "all") | .id'`
}

// deviceJSON is a device in JSON output.
type deviceJSON struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Role   web.Role  `json:"role"`
	Paired time.Time `json:"paired"`
	Seen   string    `json:"seen"`
}

func newDeviceJSON(d Device) deviceJSON { return deviceJSON{d.ID, d.Name, d.Role, d.Paired, d.Seen} }

// Run implements the command.
func (cmd *list) Run(a *app.App) error {
	all, err := Open(a.Home).List()
	if err != nil {
		return err
	}
	if len(all) == 0 && cmd.Output == "text" {
		a.Show(noDevicesText())
	}
	if cmd.Output == "text" && tty.IsTerminal(a.Stdout) {
		style := view.OutputStyle(a)
		return terminalList(all, time.Now()).Write(a.Stdout, style.Width, style.Profile)
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, d := range all {
		if cmd.Output == "json" {
			err = app.WriteJSON(a.Stdout, newDeviceJSON(d))
		} else {
			_, err = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.ID, d.Role, d.Seen, tty.SafeLine(d.Name))
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}

// terminalList returns the list as a terminal shows it.
func terminalList(all []Device, now time.Time) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "ID"}, {Name: "NAME", Least: 12}, {Name: "ROLE", Rank: 1}, {Name: "PAIRED", Rank: 3},
		{Name: "SEEN", Rank: 2},
	}}
	dim := ansi.Style{Dim: true}
	for _, d := range all {
		t.Add(ansi.Text(d.ID, ansi.Style{Color: ansi.Cyan}), ansi.Text(d.Name, ansi.Style{}),
			ansi.Text(string(d.Role), ansi.Style{}), ansi.Text(app.Age(d.Paired, now), dim), ansi.Text(d.Seen, dim))
	}
	return t
}

func noDevicesText() app.Message {
	return app.Text("No device is paired.").With(app.To("pair one", "serve", "--chat", "--pair"))
}

type revoke struct {
	Device string `arg:"" help:"Its id, or its name."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (revoke) Help() string {
	return `Examples:
  agent-chatter devices revoke k7qmz2ab
  agent-chatter devices revoke "Ann's phone"`
}

// Run implements the command.
func (cmd *revoke) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	store := Open(a.Home)
	all, err := store.List()
	if err != nil {
		return err
	}
	d, err := named(all, cmd.Device)
	if err != nil {
		return err
	}
	found, err := store.Revoke(ctx, d.ID)
	switch {
	case err != nil:
		return err
	case !found: // another process has revoked it since
		return app.Exit(app.ExitNotFound, noDeviceText(cmd.Device))
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, newDeviceJSON(d))
	}
	a.Notice(revokedText(d))
	return nil
}

// named returns the device with an id or, if there is none, the only one with a name. A device chooses its name, which
// may be the id of another one.
func named(all []Device, name string) (Device, error) {
	if i := slices.IndexFunc(all, func(d Device) bool { return d.ID == name }); i >= 0 {
		return all[i], nil
	}
	var ids []string
	var found Device
	for _, d := range all {
		if d.Name == name {
			ids, found = append(ids, d.ID), d
		}
	}
	switch len(ids) {
	case 0:
		return found, app.Exit(app.ExitNotFound, noDeviceText(name))
	case 1:
		return found, nil
	}
	return found, app.Exit(app.ExitUsage, severalText(name, ids))
}

func noDeviceText(name string) app.Message {
	return app.Text("No device has the id or name %s.", tty.SafeLine(name)).With(app.To("list the devices", "devices"))
}

func severalText(name string, ids []string) app.Message {
	return app.Text("%d devices have the name %s: %s. Name one by its id.",
		len(ids), tty.SafeLine(name), strings.Join(ids, ", ")).With(app.To("list the devices", "devices"))
}

func revokedText(d Device) string {
	return fmt.Sprintf("Revoked %s (%s). It has no access from now on.", tty.SafeLine(d.Name), d.ID)
}
