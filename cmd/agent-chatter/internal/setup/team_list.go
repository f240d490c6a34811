package setup

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// TeamList is the command team list.
type TeamList struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (TeamList) Help() string {
	return `Examples:
  agent-chatter team list
  agent-chatter team list --output json | jq -r .name`
}

// listedTeam is a row of the list.
type listedTeam struct {
	Name        string   `json:"name"` // as an argument
	Team        string   `json:"team,omitempty"`
	Description string   `json:"description,omitempty"`
	Path        string   `json:"path,omitempty"` // "" for the built-in team
	Members     []string `json:"members"`
	Valid       bool     `json:"valid"`
	Hidden      bool     `json:"hidden"` // by an earlier one of the same name
}

// Run implements the command.
func (cmd *TeamList) Run(a *app.App) error { return cmd.Print(a, a.Stdout) }

// Print prints the list to out and notices to Stderr.
func (cmd *TeamList) Print(a *app.App, out io.Writer) error {
	files, err := team.Files(a.Places())
	if err != nil {
		return err
	}
	rows := []listedTeam{}
	for _, f := range files {
		row := listedTeam{Name: f.Name, Path: f.Path, Members: []string{}, Hidden: f.Hidden}
		if f.Origin == team.BuiltIn {
			row = listedRow(row, team.Demo())
		} else if team, err := team.Load(f.Path, a.Home); err == nil {
			row = listedRow(row, team)
		}
		rows = append(rows, row)
	}
	return cmd.print(a, out, rows)
}

func listedRow(row listedTeam, team *team.Team) listedTeam {
	row.Valid, row.Team, row.Description = true, team.Name, team.Description
	for _, m := range team.Members {
		row.Members = append(row.Members, m.Name)
	}
	return row
}

func (cmd *TeamList) print(a *app.App, out io.Writer, rows []listedTeam) error {
	var err error
	switch {
	case cmd.Output == "json":
		for _, row := range rows {
			err = cmp.Or(err, app.WriteJSON(out, row))
		}
	case tty.IsTerminal(out):
		style := view.StyleOn(a, out)
		err = terminalList(rows).Write(out, style.Width, style.Profile)
	default:
		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		for _, row := range rows {
			fmt.Fprintln(w, listedText(row)) // Flush returns its error
		}
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	var invalid []app.Help
	for _, row := range rows {
		if !row.Valid {
			invalid = append(invalid,
				app.To("see why "+tty.SafeLine(row.Name)+" is not valid", "team", "validate", row.Path))
		}
	}
	if cmd.Output != "json" && len(invalid) > 0 {
		a.Notice("", invalid...)
	}
	return nil
}

// terminalList returns the list as a terminal shows it.
func terminalList(rows []listedTeam) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "NAME", Least: 20}, {Name: "STATE"}, {Name: "MEMBERS", Least: 16, Rank: 1},
		{Name: "FILE", Least: 20, Path: true, Rank: 2},
	}}
	dim := ansi.Style{Dim: true}
	for _, row := range rows {
		file := ansi.Text(app.ShortPath(row.Path), dim)
		if row.Path == "" {
			file = ansi.Text("built in", dim)
		}
		var state ansi.Line
		switch {
		case !row.Valid:
			state = ansi.Text("not valid", ansi.Style{Color: ansi.Red})
		case row.Hidden: // by another of the same name
			state = ansi.Text("hidden", ansi.Style{Color: ansi.Yellow})
		}
		t.Add(ansi.Text(row.Name, ansi.Style{Color: ansi.Cyan}), state,
			ansi.Text(strings.Join(row.Members, ", "), ansi.Style{}), file)
	}
	return t
}

// listedText is a row of the table of teams.
func listedText(row listedTeam) string {
	where := tty.SafeLine(row.Path)
	if row.Path == "" {
		where = "built in"
	}
	members := tty.SafeLine(strings.Join(row.Members, ", "))
	if !row.Valid {
		members = "not valid"
	}
	if row.Hidden {
		where += ", hidden by one of the same name"
	}
	return fmt.Sprintf("%s\t%s\t%s", tty.SafeLine(row.Name), members, where)
}
