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
		Bytes: s.Bytes, Unreadable: s.ReadErr != nil,
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
	if err := cmd.print(out, shown, catalog.ShortIDs(shown, list.Matches...)); err != nil {
		return err
	}
	for _, s := range shown {
		if s.Invalid > 0 {
			a.Show(app.InvalidEventsText(s.ID, s.Invalid, s.FirstInvalid))
		}
	}
	cmd.printNotices(a, list.Matches, len(shown))
	for _, path := range list.Lost {
		a.Show(lostText(path))
	}
	return nil
}

func (cmd *List) print(w io.Writer, sessions []catalog.Session, short map[string]string) error {
	out := bufio.NewWriter(w)
	if cmd.Output == "json" {
		for _, s := range sessions {
			if err := app.WriteJSON(out, NewSessionJSON(s)); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	table := &tty.Table{Columns: tty.Columns(w)}
	now := time.Now()
	if table.Columns > 0 && len(sessions) > 0 {
		table.Add("ID", "AGE", "TEAM", "MESSAGES", "LAST SPEAKER", "TITLE")
	}
	for _, s := range sessions {
		table.Add(short[s.ID], Age(s.UpdatedAt, now), tty.SafeLine(s.TeamID),
			strconv.Itoa(s.MessageCount), tty.SafeLine(s.LastSpeaker), marks(s)+tty.SafeLine(s.Title))
	}
	if err := table.Write(out); err != nil {
		return err
	}
	return out.Flush()
}

// printNotices prints what the list does not show, and how many sessions have a problem.
func (cmd *List) printNotices(a *app.App, matches []*catalog.Entry, shown int) {
	if len(matches) == 0 && cmd.Output == "text" {
		a.Show(noSessionsText(cmd.Team))
	}
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
	if s.Pinned {
		all += "[pinned] "
	}
	if s.Archived {
		all += "[archived] "
	}
	switch {
	case s.ReadErr != nil:
		all += "[unreadable] "
	case s.Damaged != "":
		all += "[damaged] "
	case s.Invalid > 0:
		all += "[invalid] "
	}
	return all
}

// Age returns the time from t to now as lists show it, such as "2h ago".
func Age(t, now time.Time) string {
	if n, unit := app.Elapsed(t, now); n > 0 {
		return fmt.Sprintf("%d%c ago", n, unit[0])
	}
	return "now"
}

// LongAge returns how long ago t was, such as "2 hours ago".
func LongAge(t, now time.Time) string {
	if n, unit := app.Elapsed(t, now); n > 0 {
		return app.Count(n, unit) + " ago"
	}
	return "just now"
}
