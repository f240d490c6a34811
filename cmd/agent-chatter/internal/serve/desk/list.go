package desk

import (
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A listJSON is a page of the list of sessions.
type listJSON struct {
	Sessions []sessionJSON `json:"sessions"`
	Total    int           `json:"total"`
	Next     string        `json:"next,omitempty"` // of the next page
	Lost     []string      `json:"lost,omitempty"`
}

// A sessionJSON is a session in the list.
type sessionJSON struct {
	Key         string    `json:"key"` // TEAM/ID
	ID          string    `json:"id"`
	Team        string    `json:"team"`
	Title       string    `json:"title"`
	Preview     string    `json:"preview,omitempty"`
	CWD         string    `json:"cwd,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Messages    int       `json:"messages"`
	LastSpeaker string    `json:"lastSpeaker,omitempty"`
	LastSeq     uint64    `json:"lastSeq"`
	Bytes       int64     `json:"bytes"`
	Pinned      bool      `json:"pinned,omitempty"`
	Archived    bool      `json:"archived,omitempty"`
	Live        bool      `json:"live,omitempty"`
	Damaged     string    `json:"damaged,omitempty"`
	Newer       string    `json:"newer,omitempty"`
	Resume      string    `json:"resume"` // the command
}

// sorts are the orders of the list.
var sorts = map[string]catalog.Sort{
	"": catalog.ByUpdated, "updated": catalog.ByUpdated, "created": catalog.ByCreated,
	"messages": catalog.ByMessages, "title": catalog.ByTitle,
}

// filters are the values of a filter.
var filters = map[string]catalog.Filter{"": catalog.Any, "only": catalog.Only, "without": catalog.Without}

// maxPage is the number of sessions in a page.
const maxPage = 100

// queryOf returns the query of a request.
func queryOf(r *http.Request) (q catalog.Query, err error) {
	q = catalog.Query{
		Team: r.FormValue("team"), CWD: r.FormValue("cwd"), Text: r.FormValue("text"),
		After: r.FormValue("after"), Limit: maxPage,
	}
	ok := true
	pick := func(name string, filter *catalog.Filter) {
		var known bool
		*filter, known = filters[r.FormValue(name)]
		ok = ok && known
	}
	pick("archived", &q.Archived)
	pick("damaged", &q.Damaged)
	pick("live", &q.Live)
	var known bool
	if q.Sort, known = sorts[r.FormValue("sort")]; !known || !ok {
		return q, &requestError{"The filters are only and without, the orders updated, created, messages and title."}
	}
	if limit := r.FormValue("limit"); limit != "" {
		if q.Limit, err = strconv.Atoi(limit); err != nil || q.Limit < 1 || q.Limit > maxPage {
			return q, &requestError{"limit takes a number from 1 to 100."}
		}
	}
	return q, nil
}

func (d *Desk) list(r *http.Request) (listJSON, error) {
	q, err := queryOf(r)
	if err != nil {
		return listJSON{}, err
	}
	result, err := d.app.Catalog.List(r.Context(), q)
	if err != nil {
		return listJSON{}, err
	}
	answer := listJSON{Sessions: []sessionJSON{}, Total: len(result.Matches), Next: result.Next, Lost: result.Lost}
	redactors := map[string]*redact.Redactor{} // by the path of the team's configuration
	for _, s := range result.Sessions {
		path := ""
		if s.Source != nil {
			path = s.Source.Path
		}
		if redactors[path] == nil {
			redactors[path] = d.redactor(s.Source)
		}
		answer.Sessions = append(answer.Sessions, d.described(s, redactors[path]))
	}
	return answer, nil
}

// session describes one session.
func (d *Desk) session(r *http.Request) (sessionJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return sessionJSON{}, err
	}
	s, err := d.app.Catalog.At(key.Dir).Session(r.Context(), key.ID)
	return d.described(s, d.redactor(s.Source)), err
}

func (d *Desk) described(s catalog.Session, secrets *redact.Redactor) sessionJSON {
	writer := d.app.Catalog.At(s.Dir()).Journals().Writer(s.ID)
	safe := func(text string) string { return tty.SafeLine(secrets.Text(text)) }
	return sessionJSON{
		Key: filepath.Base(s.Dir()) + "/" + s.ID, ID: s.ID, Team: tty.SafeLine(s.TeamID),
		Title: safe(s.Title), Preview: safe(s.Preview), CWD: tty.SafeLine(s.CWD),
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Messages: s.MessageCount,
		LastSpeaker: tty.SafeLine(s.LastSpeaker), LastSeq: s.LastSeq,
		Bytes: s.Bytes, Pinned: s.Pinned, Archived: s.Archived, Live: writer != (journal.Holder{}),
		Damaged: tty.SafeLine(s.Damaged), Newer: tty.SafeLine(s.Newer),
		Resume: "agent-chatter chat --resume " + s.ID,
	}
}
