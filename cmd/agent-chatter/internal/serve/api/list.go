package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// A listJSON is a part of the list of sessions.
type listJSON struct {
	Sessions []sessionJSON `json:"sessions"`
	From     int           `json:"from"` // the place of the first one
	Total    int           `json:"total"`
	Groups   []groupJSON   `json:"groups,omitempty"` // of all sessions of the list, if the request wants them
	Place    *int          `json:"place,omitempty"`  // of the session that the request names; nil: it is not there
	Lost     []string      `json:"lost,omitempty"`
	Hub      string        `json:"hub,omitempty"` // why the hub does not answer
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
	Live        bool      `json:"live,omitempty"`      // a process here, or another machine, writes it
	Remote      bool      `json:"remote,omitempty"`    // it is only on the hub
	ClaimedBy   string    `json:"claimedBy,omitempty"` // the host of another machine that writes it
	Damaged     string    `json:"damaged,omitempty"`
	Newer       string    `json:"newer,omitempty"`
	Retention   string    `json:"retention,omitempty"` // what retention will do to it
	Trashed     time.Time `json:"trashed,omitzero"`    // since when it is in the trash
	Resume      string    `json:"resume"`              // the command
}

// sorts are the orders of the list.
var sorts = map[string]catalog.Sort{
	"": catalog.ByUpdated, "updated": catalog.ByUpdated, "created": catalog.ByCreated,
	"messages": catalog.ByMessages, "title": catalog.ByTitle,
}

// filters are the values of a filter.
var filters = map[string]catalog.Filter{"": catalog.Any, "only": catalog.Only, "without": catalog.Without}

// maxPage is the number of sessions in a part of the list.
const maxPage = 100

// queryOf returns the query of a request.
func queryOf(r *http.Request) (q catalog.Query, err error) {
	q = catalog.Query{Team: r.FormValue("team"), CWD: r.FormValue("cwd"), Text: r.FormValue("text"), Limit: 1}
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
	q.MatchCase = search.MatchesCase(q.Text)
	return q, nil
}

// partOf returns the part that a request wants of a list with so many elements.
func partOf(r *http.Request, of int) (from, to int, err error) {
	limit := maxPage
	for name, value := range map[string]*int{"from": &from, "limit": &limit} {
		if text := r.FormValue(name); text != "" {
			if *value, err = strconv.Atoi(text); err != nil || *value < 0 {
				return 0, 0, &requestError{name + " takes a number."}
			}
		}
	}
	if limit < 1 || limit > maxPage {
		return 0, 0, &requestError{fmt.Sprintf("limit takes a number from 1 to %d.", maxPage)}
	}
	from = min(from, of)
	return from, min(from+limit, of), nil
}

func (d *Server) list(r *http.Request) (listJSON, error) {
	q, err := queryOf(r)
	if err != nil {
		return listJSON{}, err
	}
	grouping, err := groupingOf(r)
	if err != nil {
		return listJSON{}, err
	}
	every := catalog.Query{Limit: 1, Elsewhere: d.hub.sessions()}
	found := q
	found.Elsewhere, found.ReadRows = every.Elsewhere, grouping
	result, err := d.listed(r.Context(), found)
	if err != nil {
		return listJSON{}, err
	}
	all := result.Matches
	if q != (catalog.Query{Limit: 1}) {
		whole, err := d.listed(r.Context(), every)
		if err != nil {
			return listJSON{}, err
		}
		all = whole.Matches
	}
	matches, groups := liveFirst(result.Matches, running(all)), []groupJSON(nil)
	if grouping {
		matches, groups = byDirectory(matches)
	}
	from, to, err := partOf(r, len(matches))
	if err != nil {
		return listJSON{}, err
	}
	answer := listJSON{
		Sessions: []sessionJSON{}, From: from, Total: len(matches), Groups: groups, Lost: result.Lost,
		Place: placeIn(matches, r.FormValue("find")), Hub: d.hub.problem(),
	}
	keeping, secrets := d.retention(all), d.redactors()
	for s := range catalog.Sessions(matches[from:to]) {
		row := d.described(s, secrets(s.Source))
		if !row.Live {
			row.Retention = keeping.words(s)
		}
		answer.Sessions = append(answer.Sessions, row)
	}
	return answer, nil
}

// placeIn returns the place of a session, TEAM/ID, in a list; nil: it has none.
func placeIn(list []*catalog.Entry, name string) *int {
	for i, e := range list {
		if name != "" && e.Key().Name() == name {
			return &i
		}
	}
	return nil
}

func (d *Server) redactors() func(source *projection.Source) *redact.Redactor {
	of := map[string]*redact.Redactor{} // by the path of the team's configuration
	return func(source *projection.Source) *redact.Redactor {
		path := ""
		if source != nil {
			path = source.Path
		}
		if of[path] == nil {
			of[path] = d.redactor(source)
		}
		return of[path]
	}
}

// A retention knows what happens to old sessions.
type retention struct {
	policy catalog.Policy
	newest map[catalog.Key]bool // are not touched
	now    time.Time
}

// retention returns what happens to the sessions of a list of all, the most recently updated first. The zero
// retention: nothing, unless the user asks for it.
func (d *Server) retention(all []*catalog.Entry) retention {
	configured, err := d.app.Config()
	if err != nil || !configured.Auto() {
		return retention{}
	}
	r := retention{configured.Policy(), map[catalog.Key]bool{}, time.Now()}
	kept := map[string]int{}
	for _, e := range all {
		if e.Remote() {
			continue
		}
		if key := e.Key(); kept[key.Dir] < r.policy.Keep {
			r.newest[key] = true
			kept[key.Dir]++
		}
	}
	return r
}

// words says what will happen to a session that is not updated any more; "": nothing.
func (r retention) words(s catalog.Session) string {
	if r.newest == nil || s.Remote || r.newest[s.Key()] {
		return ""
	}
	next, idle := r.policy.Next(s, r.policy.Keep)
	what := "will be archived"
	switch next {
	case catalog.Keep:
		return ""
	case catalog.Trash:
		what = "will be moved to the trash"
	}
	left := s.UpdatedAt.Add(idle).Sub(r.now)
	if left <= 0 {
		return what + " at the end of the next chat"
	}
	const day = 24 * time.Hour
	return what + " in " + app.Count(int((left+day-1)/day), "day")
}

// A headJSON is a session and what is to be known of it.
type headJSON struct {
	sessionJSON
	Members []memberJSON `json:"members"`
	Figures []string     `json:"figures,omitempty"` // what all members used
	Notices []string     `json:"notices,omitempty"`
}

// session describes one session. LastSeq is that of the journal as it is now.
func (d *Server) session(r *http.Request) (headJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return headJSON{}, err
	}
	dir := d.app.Catalog.At(key.Dir)
	s, err := dir.Session(r.Context(), key.ID)
	if there := d.onHub(key, err); there != nil {
		return headJSON{sessionJSON: d.described(there.Session(), d.redactor(nil)), Members: []memberJSON{}}, nil
	}
	if err != nil {
		return headJSON{}, err
	}
	if there := d.hub.entry(key.Name()); there != nil {
		s.ClaimedBy = there.Session().ClaimedBy
	}
	head := headJSON{sessionJSON: d.described(s, d.redactor(s.Source))}
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if err != nil {
		return headJSON{}, err
	}
	defer reader.Close()
	head.Members = members(firstWithout(r.Context(), reader, d.redactor(s.Source)))
	end, torn, err := conversation.End(reader, s.End)
	if head.LastSeq = end.Seq; head.Live {
		torn = journal.Torn{}
	}
	d.addFigures(r.Context(), &head, s, reader, end)
	for _, fault := range view.Faults(s, torn, err) {
		head.Notices = append(head.Notices, d.app.Render(fault))
	}
	return head, nil
}

func (d *Server) described(s catalog.Session, secrets *redact.Redactor) sessionJSON {
	live := s.ClaimedBy != "" || !s.Remote && d.app.Catalog.At(s.Dir()).Journals().Writer(s.ID) != (journal.Holder{})
	safe := func(text string) string { return tty.SafeLine(textWithout(secrets, text)) }
	return sessionJSON{
		Key: s.Key().Name(), ID: s.ID, Team: tty.SafeLine(s.TeamID),
		Title: safe(s.Title), Preview: safe(s.Preview), CWD: tty.SafeLine(s.CWD),
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Messages: s.MessageCount,
		LastSpeaker: tty.SafeLine(s.LastSpeaker), LastSeq: s.LastSeq,
		Bytes: s.Bytes, Pinned: s.Pinned, Archived: s.Archived, Live: live,
		Remote: s.Remote, ClaimedBy: tty.SafeLine(s.ClaimedBy),
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
