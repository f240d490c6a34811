package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// The bounds of a search.
const (
	maxFound       = 1000 // that are sent; then the search ends
	maxSessionHits = 20   // that are sent of a session; the others are counted
	maxBefore      = 120  // bytes of a line that are sent before the first match
	maxMatch       = 400  // bytes of the first match that are sent
	maxAfter       = 400  // bytes that are sent after it
)

// A foundJSON is a line of the answer to a search: the hits in a session, an error, or the end.
type foundJSON struct {
	Session *sessionJSON  `json:"session,omitempty"`
	Count   int           `json:"count,omitempty"` // hits in the session
	Hits    []excerptJSON `json:"hits,omitempty"`  // the first ones

	Error string `json:"error,omitempty"` // hits may be missing

	End      bool `json:"end,omitempty"`
	Total    int  `json:"total,omitempty"`    // hits in all sessions
	Searched int  `json:"searched,omitempty"` // sessions; fewer if Limited
	Limited  bool `json:"limited,omitempty"`  // the search has ended after maxFound
	OnHub    int  `json:"onHub,omitempty"`    // sessions that were not searched: they are only on the hub
}

// An excerptJSON is a message that has the text.
type excerptJSON struct {
	Seq     uint64    `json:"seq"`
	Speaker string    `json:"speaker"`
	Time    time.Time `json:"time,omitzero"`
	Partial bool      `json:"partial,omitempty"` // of an unfinished turn
	Line    []string  `json:"line"`              // the line around the match; every second part matches
}

// search sends the messages of the sessions of a query that have a text, as lines of JSON, while it finds them.
func (d *Server) search(w http.ResponseWriter, r *http.Request) {
	q, err := queryOf(r)
	text := q.Text
	if err == nil && text == "" {
		err = &requestError{"text takes the text to search for."}
	}
	if err != nil {
		d.refuse(w, err)
		return
	}
	ctx, cancel := d.untilEnd(r)
	defer cancel()
	q.Text = ""
	q.Elsewhere = d.hub.sessions()
	list, err := d.listed(ctx, q)
	if err != nil {
		d.refuse(w, err)
		return
	}
	hits, err := search.In(ctx, d.app.Catalog, list.Matches, search.Query{Text: text})
	if err != nil {
		d.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := json.NewEncoder(patientWriter(w))
	f := &finding{desk: d, secrets: d.redactors(), send: func(line foundJSON) bool { return out.Encode(line) == nil }}
	for hit, err := range hits {
		if !f.add(hit, err) {
			break
		}
	}
	if f.flush(); ctx.Err() == nil {
		onHub := countRemote(list.Matches)
		f.send(foundJSON{
			End: true, Total: f.total, Searched: len(list.Matches) - onHub, Limited: f.limited, OnHub: onHub,
		})
	}
}

// A finding groups hits by their session and sends them.
type finding struct {
	desk    *Server
	secrets func(*projection.Source) *redact.Redactor
	send    func(foundJSON) bool

	group foundJSON // the hits in the last session
	key   catalog.Key
	sent  int // hits
	total int

	limited bool // there may be more
}

// add takes a hit or an error of a session. It reports whether more are wanted.
func (f *finding) add(hit search.Hit, err error) bool {
	if err != nil {
		return f.flush() && f.send(foundJSON{Error: f.desk.rendered(sessions.IncompleteText(err))})
	}
	if hit.Session.Key() != f.key {
		if !f.flush() {
			return false
		}
		if f.limited = f.sent == maxFound; f.limited {
			return false
		}
	}
	secrets := f.secrets(hit.Session.Source)
	hit, ok := hit.With(contentWithout(secrets, hit))
	if !ok {
		return true
	}
	if f.group.Session == nil {
		described := f.desk.described(hit.Session, secrets)
		f.key, f.group.Session = hit.Session.Key(), &described
	}
	f.group.Count, f.total = f.group.Count+1, f.total+1
	if len(f.group.Hits) < maxSessionHits && f.sent < maxFound {
		f.group.Hits = append(f.group.Hits, excerptJSON{
			Seq: hit.Seq, Speaker: tty.SafeLine(secrets.Text(hit.Speaker.DisplayName)), Time: hit.Time,
			Partial: hit.Partial, Line: excerpt(hit),
		})
		f.sent++
	}
	return true
}

// flush sends the hits in the last session. It reports whether the client takes them.
func (f *finding) flush() (ok bool) {
	ok = f.group.Session == nil || f.send(f.group)
	f.group, f.key = foundJSON{}, catalog.Key{}
	return ok
}

// contentWithout returns the content of a message without secrets. That of an unfinished turn may end in one.
func contentWithout(secrets *redact.Redactor, h search.Hit) string {
	if !h.Partial {
		return secrets.Text(h.Content)
	}
	s := secrets.Stream()
	return s.Next(h.Content) + s.Truncated()
}

// excerpt returns what is shown of the line of a hit. Every second part matches.
func excerpt(h search.Hit) []string {
	before := runecut.Suffix(h.Line[:h.Start], maxBefore)
	if len(before) < h.Start {
		before = "…" + before
	}
	match := runecut.Prefix(h.Line[h.Start:h.End], maxMatch)
	parts := []string{tty.SafeLine(before), tty.SafeLine(match)}
	rest := h.Line[h.Start+len(match):]
	after, at := runecut.Prefix(rest, maxAfter), 0
	for _, place := range h.Matches(after) {
		parts = append(parts, tty.SafeLine(after[at:place[0]]), tty.SafeLine(after[place[0]:place[1]]))
		at = place[1]
	}
	last := after[at:]
	if len(after) < len(rest) {
		last += "…"
	}
	return append(parts, tty.SafeLine(last))
}
