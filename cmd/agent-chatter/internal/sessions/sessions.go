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

// age is how long ago something was, as lists show it.
func Age(t, now time.Time) string {
	if n, unit := app.Elapsed(t, now); n > 0 {
		return fmt.Sprintf("%d%c ago", n, unit[0])
	}
	return "now"
}

type List struct {
	Team   string `complete:"team-id" help:"Only those of this team." placeholder:"ID"`
	Limit  int    `help:"Show at most so many." default:"20" placeholder:"N"`
	All    bool   `help:"Show all."`
	Sort   string `help:"The order: ${enum}." enum:"updated,created,messages,title" default:"updated"`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (List) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions --team demo --all --output json | jq -r .title`
}

// sessionJSON is a session in JSON output.
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
	Unreadable   bool   `json:"unreadable,omitempty"` // nobody knows whether it is damaged
}

func NewSessionJSON(s catalog.Session) SessionJSON {
	return SessionJSON{
		ID: s.ID, Team: s.TeamID, Title: s.Title,
		CreatedAt: projection.FormatTime(s.CreatedAt), UpdatedAt: projection.FormatTime(s.UpdatedAt),
		MessageCount: s.MessageCount, LastSpeaker: s.LastSpeaker, Summary: s.Summary(), CWD: s.CWD,
		Pinned: s.Pinned, Archived: s.Archived, Damaged: s.Damaged != "" && s.ReadErr == nil, Unreadable: s.ReadErr != nil, Bytes: s.Bytes,
	}
}

// Run implements the command.
func (cmd *List) Run(a *app.App) error { return cmd.Print(a, a.Stdout) }

// Print prints the list to out and notices to Stderr.
func (cmd *List) Print(a *app.App, out io.Writer) error {
	if cmd.Limit < 0 {
		return app.UsageError("--limit takes a number of sessions.")
	}
	q := catalog.Query{Team: cmd.Team, Sort: sorts[cmd.Sort]}
	if !cmd.All {
		q.Limit = max(1, cmd.Limit) // 0 would be all
	}
	list, err := a.Catalog.List(context.Background(), q)
	if err != nil {
		return err
	}
	shown := list.Sessions
	if !cmd.All {
		shown = shown[:min(len(shown), cmd.Limit)]
	}
	if err := cmd.print(out, shown, catalog.ShortIDs(shown, list.Matches...)); err != nil {
		return err
	}
	cmd.remark(a, list.Matches, len(shown))
	return nil
}

// sorts are the values of --sort.
var sorts = map[string]catalog.Sort{
	"updated": catalog.ByUpdated, "created": catalog.ByCreated, "messages": catalog.ByMessages, "title": catalog.ByTitle,
}

// remark says what the list does not show, and what is wrong in it.
func (cmd *List) remark(a *app.App, listed []*catalog.Entry, shown int) {
	if len(listed) == 0 && tty.Columns(a.Stdout) > 0 {
		a.Notice("There are no sessions yet.", app.To("start one", "chat"))
	}
	if hidden := len(listed) - shown; hidden > 0 && cmd.Output == "text" {
		a.Notice(fmt.Sprintf("%d more.", hidden), app.To("list all", "sessions", "--all"))
	}
	damaged, unread := 0, 0
	for _, l := range listed {
		switch {
		case l.Unreadable:
			unread++
		case l.Damaged:
			damaged++
		}
		if l.Truncated {
			a.Notice(app.TruncatedText(l.Session()))
		}
	}
	if damaged > 0 {
		a.Notice(fmt.Sprintf("%d damaged.", damaged), app.To("locate the damage", "verify"))
	}
	if unread > 0 {
		a.Notice(fmt.Sprintf("%d unreadable.", unread), app.To("diagnose this", "doctor"))
	}
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
	list := &tty.Table{Columns: tty.Columns(w)}
	at := time.Now()
	for _, s := range sessions {
		list.Add(short[s.ID], Age(s.UpdatedAt, at), tty.SafeLine(s.TeamID),
			strconv.Itoa(s.MessageCount), tty.SafeLine(s.LastSpeaker), marks(s)+tty.SafeLine(s.Title))
	}
	if err := list.Write(out); err != nil {
		return err
	}
	return out.Flush()
}

// marks is what is special about a session.
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
	}
	return all
}
