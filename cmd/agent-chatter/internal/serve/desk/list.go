package desk

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/stretch"
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

// A headJSON is a session and what is to be known of it.
type headJSON struct {
	sessionJSON
	Members []memberJSON `json:"members"`
	Notices []string     `json:"notices,omitempty"`
}

// session describes one session. LastSeq is that of the journal as it is now.
func (d *Desk) session(r *http.Request) (headJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return headJSON{}, err
	}
	dir := d.app.Catalog.At(key.Dir)
	s, err := dir.Session(r.Context(), key.ID)
	if err != nil {
		return headJSON{}, err
	}
	head := headJSON{sessionJSON: d.described(s, d.redactor(s.Source))}
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if err != nil {
		return headJSON{}, err
	}
	defer reader.Close()
	head.Members = members(app.EventsWithout(d.redactor(s.Source), reader.ScanAfter(journal.Position{})))
	end, torn, err := stretch.End(reader, s.End)
	if head.LastSeq = end.Seq; head.Live {
		torn = journal.Torn{}
	}
	for _, fault := range view.Faults(s, torn, err) {
		head.Notices = append(head.Notices, d.app.Render(fault))
	}
	return head, nil
}

func (d *Desk) described(s catalog.Session, secrets *redact.Redactor) sessionJSON {
	writer := d.app.Catalog.At(s.Dir()).Journals().Writer(s.ID)
	safe := func(text string) string { return tty.SafeLine(textWithout(secrets, text)) }
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

// textWithout returns a title or a preview without secrets. One that was cut may end in the middle of a secret.
func textWithout(secrets *redact.Redactor, text string) string {
	for _, mark := range []string{"…", "..."} {
		if cut, ok := strings.CutSuffix(text, mark); ok {
			return secrets.Stream().Next(cut) + mark
		}
	}
	return secrets.Text(text)
}
