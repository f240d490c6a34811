package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type sessionsCommand struct {
	List    sessionsList    `cmd:"" default:"withargs" help:"List the sessions, the newest first."`
	Search  sessionsSearch  `cmd:"" help:"Find messages in all sessions."`
	Show    sessionsShow    `cmd:"" help:"Show what is known of a session."`
	Rename  sessionsRename  `cmd:"" help:"Give a session a title, by which it can be named."`
	Pin     sessionsPin     `cmd:"" help:"Never archive or delete a session."`
	Unpin   sessionsUnpin   `cmd:"" help:"Treat a session as others again."`
	Delete  sessionsDelete  `cmd:"" help:"Move a session to the trash."`
	Restore sessionsRestore `cmd:"" help:"Take a session out of the trash."`
	Fork    sessionsFork    `cmd:"" help:"Make an independent copy of a session."`
	Diff    sessionsDiff    `cmd:"" help:"Show where two sessions part, and what each has alone."`
	Merge   sessionsMerge   `cmd:"" help:"Make a session of two that parted."`
	Clean   sessionsClean   `cmd:"" help:"Move old sessions to the trash, and empty it of older ones."`
	Export  sessionsExport  `cmd:"" help:"Write sessions to files for other programs."`
	Import  sessionsImport  `cmd:"" help:"Take over sessions from files."`
	Reindex sessionsReindex `cmd:"" help:"Make the index and the checkpoints anew, from the journals alone."`
}

// Help shows examples first.
func (sessionsCommand) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions search 'segmentation fault'
  agent-chatter sessions export latest --format md`
}

type sessionsList struct {
	Team   string `complete:"team-id" help:"Only those of this team." placeholder:"ID"`
	Limit  int    `help:"Show at most so many." default:"20" placeholder:"N"`
	All    bool   `help:"Show all."`
	Sort   string `help:"The order: ${enum}." enum:"updated,created,messages,title" default:"updated"`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (sessionsList) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions --team demo --all --output json | jq -r .title`
}

// sessionJSON is a session in JSON output.
type sessionJSON struct {
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

func newSessionJSON(s catalog.Session) sessionJSON {
	return sessionJSON{
		ID: s.ID, Team: s.TeamID, Title: s.Title,
		CreatedAt: projection.FormatTime(s.CreatedAt), UpdatedAt: projection.FormatTime(s.UpdatedAt),
		MessageCount: s.MessageCount, LastSpeaker: s.LastSpeaker, Summary: s.Summary(), CWD: s.CWD,
		Pinned: s.Pinned, Archived: s.Archived, Damaged: s.Damaged != "" && s.ReadErr == nil, Unreadable: s.ReadErr != nil, Bytes: s.Bytes,
	}
}

// Run implements the command.
func (cmd *sessionsList) Run(a *app) error {
	if cmd.Limit < 0 {
		return usageError("--limit takes a number of sessions.")
	}
	c := a.catalog()
	look := c.Entries
	if cmd.Team != "" {
		look = c.Team(cmd.Team).Entries
	}
	listed, err := look()
	if err != nil {
		return err
	}
	shown := cmd.shown(listed)
	if err := cmd.print(a, shown, catalog.ShortIDs(shown, listed...)); err != nil {
		return err
	}
	cmd.remark(a, listed, len(shown))
	return nil
}

// shown are the first sessions in the order that is asked for.
func (cmd *sessionsList) shown(listed []*catalog.Entry) []catalog.Session {
	limit := len(listed)
	if !cmd.All {
		limit = min(limit, cmd.Limit)
	}
	order := orders[cmd.Sort]
	if order == nil {
		return catalog.Sessions(listed[:limit])
	}
	sessions := catalog.Sessions(listed)
	slices.SortStableFunc(sessions, order)
	return sessions[:limit]
}

var orders = map[string]func(a, b catalog.Session) int{
	"updated":  nil, // as it comes
	"created":  func(a, b catalog.Session) int { return b.CreatedAt.Compare(a.CreatedAt) },
	"messages": func(a, b catalog.Session) int { return cmp.Compare(b.MessageCount, a.MessageCount) },
	"title":    func(a, b catalog.Session) int { return strings.Compare(a.Title, b.Title) },
}

// remark says what the list does not show, and what is wrong in it.
func (cmd *sessionsList) remark(a *app, listed []*catalog.Entry, shown int) {
	if len(listed) == 0 && a.columns() > 0 { // a script finds no line, and that is that
		a.notice(textNoSessionsYet)
	}
	if hidden := len(listed) - shown; hidden > 0 && cmd.Output == "text" {
		a.notice(fmt.Sprintf("%d more: agent-chatter sessions --all", hidden))
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
			a.notice(shrunkText(l.Session()))
		}
	}
	if damaged > 0 {
		a.notice(fmt.Sprintf("%d damaged: agent-chatter verify shows where", damaged))
	}
	if unread > 0 {
		a.notice(fmt.Sprintf("%d unreadable: agent-chatter doctor says what helps", unread))
	}
}

func (cmd *sessionsList) print(a *app, sessions []catalog.Session, short map[string]string) error {
	if cmd.Output == "json" {
		out := bufio.NewWriter(a.stdout)
		for _, s := range sessions {
			if err := writeJSON(out, newSessionJSON(s)); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	out := bufio.NewWriter(a.stdout)
	list := &table{columns: a.columns()}
	at := now()
	for _, s := range sessions {
		list.add(short[s.ID], age(s.UpdatedAt, at), safeLine(s.TeamID),
			strconv.Itoa(s.MessageCount), safeLine(s.LastSpeaker), marks(s)+safeLine(s.Title))
	}
	if err := list.write(out); err != nil {
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
