package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/table"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// printRemote prints the sessions that are only on the hub, and those that another machine writes, the newest first.
// What the hub says of them is of the time when they were shipped.
func (cmd *List) printRemote(ctx context.Context, a *app.App, out io.Writer) error {
	all, err := a.Remote.List(ctx, a.Catalog)
	if err != nil {
		a.ReportHub(err)
		return nil
	}
	all = slices.DeleteFunc(all, func(s replica.Status) bool {
		if s.Remote == nil || s.Remote.Err != nil || s.Relation == replica.Purged || s.Deleted {
			return true
		}
		return cmd.Team != "" && s.Row.TeamID != cmd.Team || s.Relation != replica.OnlyHub && !s.Held()
	})
	slices.SortStableFunc(all, func(x, y replica.Status) int { return y.Row.UpdatedAt.Compare(x.Row.UpdatedAt) })
	hidden := 0
	if !cmd.All && cmd.Limit > 0 && len(all) > cmd.Limit {
		hidden = len(all) - cmd.Limit
		all = all[:cmd.Limit]
	}
	if len(all) == 0 {
		return nil
	}
	if err := cmd.writeRemote(a, out, all); err != nil {
		return err
	}
	if hidden > 0 && cmd.Output == "text" {
		a.Notice(fmt.Sprintf("%d more on the hub.", hidden), app.To("list all", "hub", "status"))
	}
	return nil
}

func (cmd *List) writeRemote(a *app.App, w io.Writer, all []replica.Status) error {
	out := bufio.NewWriter(w)
	if cmd.Output == "json" {
		for _, s := range all {
			if err := app.WriteJSON(out, newRemoteJSON(s)); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	rows := remoteRows(all, time.Now())
	if tty.IsTerminal(w) {
		t := &table.Table{Columns: []table.Column{
			{Name: "ON THE HUB", Least: 24}, {Name: "STATE"}, {Name: "TEAM", Least: 10, Rank: 3},
			{Name: "MESSAGES", Right: true, Rank: 2}, {Name: "AGE", Rank: 1}, {Name: "ID"},
		}}
		for _, row := range rows {
			var cells []ansi.Line
			for _, i := range []int{5, 4, 2, 3, 1, 0} {
				cells = append(cells, table.Text(row[i], ansi.Style{}))
			}
			t.Add(cells...)
		}
		style := view.StyleOn(a, w)
		return t.Write(w, style.Width, style.Profile)
	}
	for _, line := range table.Align(rows) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// remoteRows returns id, age, team, messages, state and title of each session.
func remoteRows(all []replica.Status, now time.Time) (rows [][]string) {
	for _, s := range all {
		rows = append(rows, []string{
			s.Session.ID, app.Age(s.Row.UpdatedAt, now), tty.SafeLine(s.Row.TeamID), strconv.Itoa(s.Row.Messages),
			remoteState(s), tty.SafeLine(s.Row.Title),
		})
	}
	return rows
}

// remoteState says where a session is, and who writes it.
func remoteState(s replica.Status) string {
	switch {
	case s.Held() && s.Relation == replica.OnlyHub:
		return "hub, live on " + tty.SafeLine(s.Remote.Claim.Host)
	case s.Held():
		return "live on " + tty.SafeLine(s.Remote.Claim.Host)
	}
	return "hub"
}

func newRemoteJSON(s replica.Status) SessionJSON {
	var j SessionJSON
	if s.Local != nil {
		j = NewSessionJSON(*s.Local)
	} else {
		j = SessionJSON{
			ID: s.Session.ID, Team: s.Row.TeamID, Title: s.Row.Title, CreatedAt: projection.FormatTime(s.Row.CreatedAt),
			UpdatedAt: projection.FormatTime(s.Row.UpdatedAt), MessageCount: s.Row.Messages, Remote: true,
		}
	}
	if s.Held() {
		j.ClaimedBy = s.Remote.Claim.Host
	}
	return j
}

// notSearchedText is for sessions of which the hub has events that are not here.
func notSearchedText(n int) app.Message {
	if n == 0 {
		return app.Message{}
	}
	return app.Text("Not searched: %s with events that are only on the hub.", app.Count(n, "session")).
		With(app.To("fetch them", "hub", "pull", "--all"))
}
