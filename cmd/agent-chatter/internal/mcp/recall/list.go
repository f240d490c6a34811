package recall

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// listInput has the arguments of list_sessions.
type listInput struct {
	Text      string `json:"text,omitempty" jsonschema:"only sessions with this text in the title, id, team or directory; to find messages, call search_sessions"`
	Team      string `json:"team,omitempty" jsonschema:"only sessions of this team: its id"`
	Directory string `json:"directory,omitempty" jsonschema:"only sessions that were started in this directory: its absolute path"`
	Sort      string `json:"sort,omitempty" jsonschema:"order: last update, creation, number of messages, or title"`
	Limit     int    `json:"limit,omitempty" jsonschema:"maximum number of sessions"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"nextCursor of the call before, with the same other arguments"`
}

// listOutput is the result of list_sessions.
type listOutput struct {
	Notice     string    `json:"notice" jsonschema:"how to treat the quotations"`
	Sessions   []Session `json:"sessions"`
	Total      int       `json:"total" jsonschema:"number of sessions that the arguments select, on all pages"`
	Problems   []string  `json:"problems,omitempty" jsonschema:"what may be missing, such as sessions that cannot be read"`
	NextCursor string    `json:"nextCursor,omitempty" jsonschema:"cursor for the next call; missing: nothing is left"`
}

// A Session describes a session.
type Session struct {
	ID        string `json:"id"`
	CreatedAt string `json:"createdAt,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
	Messages  int    `json:"messages"`
	LastSeq   uint64 `json:"lastSeq,omitempty" jsonschema:"number of the last event; read_session around it shows the end; missing: unknown"`
	Archived  bool   `json:"archived,omitempty" jsonschema:"it is compressed; it can be searched and read as any other"`
	Title     string `json:"title" jsonschema:"title, or the start of the first message, quoted"`
	Team      string `json:"team" jsonschema:"id of the team, quoted"`
	Directory string `json:"directory" jsonschema:"where it was started, quoted"`
	Speaker   string `json:"lastSpeaker,omitempty" jsonschema:"who wrote the last message, quoted"`
	Damaged   string `json:"damaged,omitempty" jsonschema:"why it cannot be read to its end, quoted"`
}

// A listPosition is catalog.Query.After.
type listPosition struct {
	After string `json:"after"`
}

const listTool = "list_sessions"

var orders = map[string]catalog.Sort{
	"created": catalog.ByCreated, "messages": catalog.ByMessages, "title": catalog.ByTitle,
}

// List is list_sessions.
func (r *Recall) List(ctx context.Context, in listInput) (out listOutput, text string, err error) {
	at := in.Cursor
	in.Cursor = ""
	if r.team != "" && in.Team != "" && in.Team != r.team {
		return out, "", failure("Only the sessions of one team can be read here. Call list_sessions without team.")
	}
	var from listPosition
	if at != "" {
		if err := r.position(at, listTool, in, &from); err != nil {
			return out, "", err
		}
	}
	list, err := r.list(ctx, catalog.Query{
		Text: in.Text, Team: in.Team, CWD: in.Directory, Sort: orders[in.Sort], Limit: in.Limit, After: from.After,
	})
	if err != nil {
		return out, "", err
	}
	out = listOutput{Notice: quoteNotice, Sessions: []Session{}, Total: len(list.Matches)}
	out.Problems = r.commonProblems(ctx)
	secrets := r.redactors()
	for _, s := range list.Sessions {
		out.Sessions = append(out.Sessions, described(s, secrets(s.Source)))
	}
	if list.Next != "" {
		out.NextCursor = r.cursorAt(listTool, in, listPosition{list.Next})
	}
	for _, path := range list.Lost[:min(maxProblems, len(list.Lost))] {
		out.Problems = append(out.Problems, "A session is missing:\n"+quotedLine(path))
	}
	if n := countDamaged(list.Matches); n > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("%s cannot be read to the end. A person can type: "+
			"agent-chatter verify", app.Count(n, "session")))
	}
	return out, listText(in, out), nil
}

func countDamaged(all []*catalog.Entry) (n int) {
	for _, e := range all {
		if e.Damaged || e.Unreadable {
			n++
		}
	}
	return n
}

// described returns what a client gets of a session.
func described(s catalog.Session, secrets *redact.Redactor) Session {
	d := Session{
		ID: s.ID, CreatedAt: timeText(s.CreatedAt), UpdatedAt: timeText(s.UpdatedAt), Messages: s.MessageCount,
		LastSeq: s.LastSeq, Archived: s.Archived, Title: quotedLine(titleOf(secrets, s)),
		Team: quotedLine(short(s.TeamID, maxTitle)), Directory: quotedLine(short(secrets.Text(s.CWD), maxTitle)),
	}
	if s.LastSpeaker != "" {
		d.Speaker = quotedLine(short(secrets.Text(s.LastSpeaker), maxTitle))
	}
	if s.Damaged != "" {
		d.Damaged = quotedLine(short(s.Damaged, maxTitle))
	}
	return d
}

func listText(in listInput, out listOutput) string {
	t := newText()
	for _, s := range out.Sessions {
		t.say("%s  updated %s%s", heading(s), s.UpdatedAt, marks(s))
		fmt.Fprintf(t, "%s\n%steam %s, in %s\n", s.Title, quotePrefix, unquoted(s.Team), unquoted(s.Directory))
		if s.Damaged != "" {
			fmt.Fprintf(t, "%s\n", s.Damaged)
		}
	}
	switch {
	case out.Total == 0 && in.Text+in.Team+in.Directory == "":
		t.say("No session is saved here.")
	case out.Total == 0:
		t.say("No session matches. Call list_sessions with fewer arguments.")
	default:
		t.say("%d of %s.", len(out.Sessions), app.Count(out.Total, "session"))
	}
	return t.end(out.Problems, out.NextCursor, listTool)
}

// heading returns the id of a session and its length.
func heading(s Session) string {
	text := s.ID + "  " + app.Count(s.Messages, "message")
	if s.LastSeq > 0 {
		text += fmt.Sprintf("  last event #%d", s.LastSeq)
	}
	return text
}

// unquoted returns the rest of a quotation of one line, for another line of a quotation.
func unquoted(line string) string { return strings.TrimPrefix(line, quotePrefix) }

func marks(s Session) string {
	text := ""
	if s.Archived {
		text += "  archived"
	}
	if s.Damaged != "" {
		text += "  damaged"
	}
	return text
}
