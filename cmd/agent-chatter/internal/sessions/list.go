package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// List prints the sessions, one per line.
type List struct {
	Team   string `complete:"team-id" help:"Only sessions of this team." placeholder:"ID"`
	Limit  int    `help:"Maximum number of sessions, 0 for all (default: ${default})." default:"20" placeholder:"N"`
	All    bool   `help:"List all sessions."`
	Sort   string `help:"Order: ${enum}." enum:"updated,created,messages,title" default:"updated"`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (List) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions --team demo --all --output json | jq -r .title`
}

// SessionJSON is the JSON output of a session. Scripts rely on it: fields are only added.
type SessionJSON struct {
	ID           string `json:"id"`
	Team         string `json:"team"`
	Title        string `json:"title"`
	CreatedAt    string `json:"createdAt"`
	UpdatedAt    string `json:"updatedAt"`
	MessageCount int    `json:"messageCount"`
	LastSpeaker  string `json:"lastSpeaker"`
	Summary      string `json:"summary"`
	CWD          string `json:"cwd"`
	Pinned       bool   `json:"pinned"`
	Archived     bool   `json:"archived"`
	Damaged      bool   `json:"damaged"`
	Bytes        int64  `json:"bytes"`
	Unreadable   bool   `json:"unreadable,omitempty"` // its file cannot be read; whether it is damaged is unknown
	Remote       bool   `json:"remote,omitempty"`     // it is only on the hub
	ClaimedBy    string `json:"claimedBy,omitempty"`  // the host of another machine that writes it

	InvalidEvents     int    `json:"invalidEvents,omitempty"`     // that do not match their schema
	FirstInvalidEvent uint64 `json:"firstInvalidEvent,omitempty"` // the seq of the first of them
	// The names that earlier versions gave the two fields.
	UnreadableEvents     int    `json:"unreadableEvents,omitempty"`
	FirstUnreadableEvent uint64 `json:"firstUnreadableEvent,omitempty"`
}

// NewSessionJSON returns the JSON output of s.
func NewSessionJSON(s catalog.Session) SessionJSON {
	return SessionJSON{
		ID: s.ID, Team: s.TeamID, Title: s.Title,
		CreatedAt: projection.FormatTime(s.CreatedAt), UpdatedAt: projection.FormatTime(s.UpdatedAt),
		MessageCount: s.MessageCount, LastSpeaker: s.LastSpeaker, Summary: s.Summary(), CWD: s.CWD,
		Pinned: s.Pinned, Archived: s.Archived, Damaged: s.Damaged != "" && s.ReadErr == nil,
		Bytes: s.Bytes, Unreadable: s.ReadErr != nil, Remote: s.Remote, ClaimedBy: s.ClaimedBy,
		InvalidEvents: s.Invalid, FirstInvalidEvent: s.FirstInvalid,
		UnreadableEvents: s.Invalid, FirstUnreadableEvent: s.FirstInvalid,
	}
}

// orders are the values of --sort.
var orders = map[string]catalog.Sort{
	"updated": catalog.ByUpdated, "created": catalog.ByCreated,
	"messages": catalog.ByMessages, "title": catalog.ByTitle,
}

// Run implements the command.
func (cmd *List) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	return cmd.Print(ctx, a, a.Stdout)
}

// Print prints the list to out, and notices to Stderr.
func (cmd *List) Print(ctx context.Context, a *app.App, out io.Writer) error {
	if cmd.Limit < 0 {
		return app.UsageError("--limit takes a number of sessions, 0 for all.")
	}
	q := catalog.Query{Team: cmd.Team, Sort: orders[cmd.Sort]}
	if !cmd.All {
		q.Limit = cmd.Limit
	}
	list, err := a.Catalog.List(ctx, q)
	if err != nil {
		return err
	}
	shown := list.Sessions
	if err := cmd.print(a, out, shown, catalog.ShortIDs(shown, list.Matches...)); err != nil {
		return err
	}
	remote, err := cmd.printRemote(ctx, a, out)
	if err != nil {
		return err
	}
	for _, s := range shown {
		if s.Invalid > 0 {
			a.Show(app.InvalidEventsText(s.ID, s.Invalid, s.FirstInvalid))
		}
	}
	if len(list.Matches) == 0 && remote == 0 && cmd.Output == "text" {
		a.Show(noSessionsText(cmd.Team))
	}
	cmd.printNotices(a, list.Matches, len(shown))
	for _, path := range list.Lost {
		a.Show(lostText(path))
	}
	return nil
}

func (cmd *List) print(a *app.App, w io.Writer, sessions []catalog.Session, short map[string]string) error {
	if cmd.Output == "json" {
		return WriteJSON(w, sessions)
	}
	out := bufio.NewWriter(w)
	now := time.Now()
	if tty.IsTerminal(w) {
		style := view.StyleOn(a, w)
		return terminalList(a, sessions, short, now).Write(w, style.Width, style.Profile)
	}
	rows := make([][]string, len(sessions))
	for i, s := range sessions {
		rows[i] = []string{
			short[s.ID], app.Age(s.UpdatedAt, now), tty.SafeLine(s.TeamID), strconv.Itoa(s.MessageCount),
			tty.SafeLine(s.LastSpeaker), marks(s) + tty.SafeLine(s.Title),
		}
	}
	for _, line := range ansi.Align(rows) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

var (
	dim     = ansi.Style{Dim: true}
	literal = ansi.Style{Color: ansi.Cyan} // what can be copied into a command
)

// terminalList returns the list as a terminal shows it.
func terminalList(a *app.App, sessions []catalog.Session, short map[string]string, now time.Time) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "TITLE", Least: 24}, {Name: "STATE"}, {Name: "TEAM", Least: 10, Rank: 3},
		{Name: "MESSAGES", Right: true, Rank: 2}, {Name: "LAST SPEAKER", Least: 12, Rank: 4}, {Name: "AGE", Rank: 1},
		{Name: "ID"},
	}}
	for _, s := range sessions {
		title := ansi.Text(s.Title, ansi.Style{})
		switch {
		case s.Title == "" && s.Damaged != "":
			title = ansi.Text("title unknown", dim)
		case s.Title == "":
			title = ansi.Text(s.Summary(), dim)
		}
		live := a.Catalog.At(s.Dir()).Journals().Writer(s.ID) != (journal.Holder{})
		t.Add(title, state(s, live), ansi.Text(s.TeamID, ansi.Style{}),
			ansi.Text(strconv.Itoa(s.MessageCount), ansi.Style{}), ansi.Text(s.LastSpeaker, ansi.Style{}),
			ansi.Text(app.Age(s.UpdatedAt, now), dim), ansi.Text(short[s.ID], literal))
	}
	return t
}

// state returns what a list on a terminal says of a session: whether a process has it open for writing, and its marks.
func state(s catalog.Session, live bool) (line ansi.Line) {
	if live {
		line = append(line, ansi.Span{Text: "live ", Style: ansi.Style{Color: ansi.Green}})
	}
	for _, mark := range markNames(s) {
		style := ansi.Style{Color: ansi.Red}
		switch mark {
		case "pinned":
			style = ansi.Style{Color: ansi.Yellow}
		case "archived":
			style = dim
		}
		line = append(line, ansi.Span{Text: mark + " ", Style: style})
	}
	if n := len(line); n > 0 {
		line[n-1].Text = strings.TrimSuffix(line[n-1].Text, " ")
	}
	return line
}

// WriteJSON writes the JSON output of sessions.
func WriteJSON(w io.Writer, sessions []catalog.Session) error {
	out := bufio.NewWriter(w)
	for _, s := range sessions {
		if err := app.WriteJSON(out, NewSessionJSON(s)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// printNotices prints what the list does not show, and how many sessions have a problem.
func (cmd *List) printNotices(a *app.App, matches []*catalog.Entry, shown int) {
	if hidden := len(matches) - shown; hidden > 0 && cmd.Output == "text" {
		a.Notice(fmt.Sprintf("%d more.", hidden), app.To("list all", "sessions", "--all"))
	}
	damaged, unreadable := 0, 0
	for _, m := range matches {
		switch {
		case m.Unreadable:
			unreadable++
		case m.Damaged:
			damaged++
		}
		if m.Truncated {
			a.Notice(app.TruncatedText(m.Session()))
		}
	}
	if damaged > 0 {
		a.Notice(fmt.Sprintf("%d damaged.", damaged), app.To("locate the damage", "verify"))
	}
	if unreadable > 0 {
		a.Notice(fmt.Sprintf("%d unreadable.", unreadable), app.To("diagnose this", "doctor"))
	}
}

// lostText is for a journal that the index knows and that is missing.
func lostText(path string) app.Message {
	return app.Text("⚠️  A journal is missing: %s\n   Restore it from a backup.", tty.SafeLine(path)).
		With(app.To("forget it", "sessions", "reindex"))
}

// noSessionsText is for an empty list; team is "" for all teams.
func noSessionsText(team string) app.Message {
	if team != "" {
		return app.Text("The team '%s' has no sessions.", tty.SafeLine(team)).With(app.To("list all", "sessions"))
	}
	return app.Text("There are no sessions yet.").With(app.To("start one", "chat"))
}

// marks returns the marks of a session in a list, such as "[pinned] ".
func marks(s catalog.Session) string {
	var all string
	for _, mark := range markNames(s) {
		all += "[" + mark + "] "
	}
	return all
}

// markNames returns the marks of a session, such as "pinned".
func markNames(s catalog.Session) (names []string) {
	if s.Pinned {
		names = append(names, "pinned")
	}
	if s.Archived {
		names = append(names, "archived")
	}
	switch {
	case s.ReadErr != nil:
		names = append(names, "unreadable")
	case s.Damaged != "":
		names = append(names, "damaged")
	case s.Invalid > 0:
		names = append(names, "invalid")
	}
	return names
}
