package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// printRemote prints the sessions that are only on the hub, and those that another machine writes, the newest first.
// What the hub says of them is of the time when they were shipped. It returns how many there are.
func (cmd *List) printRemote(ctx context.Context, a *app.App, out io.Writer) (n int, err error) {
	elsewhere, err := a.Remote.Elsewhere(ctx, a.Catalog)
	if err != nil {
		a.ReportHub(err)
		return 0, nil
	}
	if elsewhere != nil {
		a.Show(sealedText(elsewhere.Sealed))
	}
	var all []catalog.Session
	for s := range catalog.Sessions(elsewhere.Entries()) {
		if cmd.Team == "" || s.TeamID == cmd.Team {
			all = append(all, s)
		}
	}
	hidden := 0
	if !cmd.All && cmd.Limit > 0 && len(all) > cmd.Limit {
		hidden = len(all) - cmd.Limit
		all = all[:cmd.Limit]
	}
	if len(all) == 0 {
		return 0, nil
	}
	if err := cmd.writeRemote(ctx, a, out, all); err != nil {
		return 0, err
	}
	if hidden > 0 && cmd.Output == "text" {
		a.Notice(fmt.Sprintf("%d more on the hub.", hidden), app.To("list all", "hub", "status"))
	}
	return len(all), nil
}

func (cmd *List) writeRemote(ctx context.Context, a *app.App, w io.Writer, all []catalog.Session) error {
	if cmd.Output == "json" {
		for i, s := range all {
			if here, err := a.Catalog.At(s.Dir()).Session(ctx, s.ID); err == nil {
				here.ClaimedBy = s.ClaimedBy
				all[i] = here
			}
		}
		return WriteJSON(w, all)
	}
	out := bufio.NewWriter(w)
	rows := remoteRows(all, time.Now())
	if tty.IsTerminal(w) {
		t := &ansi.Table{Columns: []ansi.Column{
			{Name: "ON THE HUB", Least: 24}, {Name: "STATE"}, {Name: "TEAM", Least: 10, Rank: 3},
			{Name: "MESSAGES", Right: true, Rank: 2}, {Name: "AGE", Rank: 1}, {Name: "ID"},
		}}
		for _, row := range rows {
			var cells []ansi.Line
			for _, i := range []int{5, 4, 2, 3, 1, 0} {
				cells = append(cells, ansi.Text(row[i], ansi.Style{}))
			}
			t.Add(cells...)
		}
		style := view.StyleOn(a, w)
		return t.Write(w, style.Width, style.Profile)
	}
	for _, line := range ansi.Align(rows) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// remoteRows returns id, age, team, messages, state and title of each session.
func remoteRows(all []catalog.Session, now time.Time) (rows [][]string) {
	for _, s := range all {
		rows = append(rows, []string{
			s.ID, app.Age(s.UpdatedAt, now), tty.SafeLine(s.TeamID), strconv.Itoa(s.MessageCount),
			remoteState(s), tty.SafeLine(s.Title),
		})
	}
	return rows
}

// remoteState says where a session is, and who writes it.
func remoteState(s catalog.Session) string {
	switch host := tty.SafeLine(s.ClaimedBy); {
	case s.Remote && host != "":
		return "hub, live on " + host
	case host != "":
		return "live on " + host
	}
	return "hub"
}

// sealedText is for sessions of the hub of which this machine can read nothing.
func sealedText(n int) app.Message {
	if n == 0 {
		return app.Message{}
	}
	return app.Text("Not listed: %s on the hub, sealed for others.", app.Count(n, "session")).
		With(app.To("list the identities that are here", "identities"))
}

// notSearchedText is for sessions of which the hub has events that are not here.
func notSearchedText(n int) app.Message {
	if n == 0 {
		return app.Message{}
	}
	return app.Text("Not searched: %s with events that are only on the hub.", app.Count(n, "session")).
		With(app.To("fetch them", "hub", "pull", "--all"))
}
