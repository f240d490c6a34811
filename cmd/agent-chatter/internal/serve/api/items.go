package api

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/stretch"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A stretchJSON is a part of a conversation.
type stretchJSON struct {
	From    uint64     `json:"from"`    // the event before the first one
	To      uint64     `json:"to"`      // the last event
	Started bool       `json:"started"` // nothing precedes the part
	Ended   bool       `json:"ended"`   // nothing follows it yet
	Items   []itemJSON `json:"items"`
	Notice  string     `json:"notice,omitempty"` // why the rest of the session cannot be read
}

// An itemJSON is a turn, a message or a change of the session.
type itemJSON struct {
	Seq      uint64 `json:"seq"`
	End      uint64 `json:"end"`
	Open     bool   `json:"open,omitempty"` // it may change
	HTML     string `json:"html"`
	Markdown string `json:"markdown,omitempty"` // "": the message is long, or there is none
}

// maxText is the length in bytes at which a text is cut on the page.
const maxText = 64 << 10

// items returns the part of a session around an event, before one, after one, or at its end.
func (d *Server) items(r *http.Request) (stretchJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return stretchJSON{}, err
	}
	p, err := placeOf(r)
	if err != nil {
		return stretchJSON{}, err
	}
	dir := d.app.Catalog.At(key.Dir)
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if d.onHub(key, err) != nil { // the page shows it when it was fetched
		return stretchJSON{Started: true, Ended: true, Items: []itemJSON{}}, nil
	}
	if err != nil {
		return stretchJSON{}, err
	}
	defer reader.Close()
	reader.StopWith(r.Context())
	s, ended, err := p.read(r.Context(), reader, dir, key.ID)
	if len(s.Events) == 0 && err != nil {
		return stretchJSON{}, err
	}
	answer, failed := d.shown(r.Context(), reader, key, s)
	answer.Ended = ended
	if err != nil {
		// The session is what its row says: that has the journal's damage, too.
		session, _ := dir.Session(r.Context(), key.ID)
		session.ID = key.ID
		answer.Notice = d.app.Render(view.ReadFailure(session, err))
	}
	return answer, failed
}

// shown returns a stretch as the page shows it.
func (d *Server) shown(
	ctx context.Context, reader *journal.Reader, key catalog.Key, s stretch.Stretch,
) (stretchJSON, error) {
	answer := stretchJSON{From: s.From.Seq, To: s.To.Seq, Started: s.From.Seq == 0, Items: []itemJSON{}}
	f, items, err := d.folded(ctx, reader, key, s)
	if err != nil {
		return answer, err
	}
	for _, item := range items {
		var html bytes.Buffer
		if err := f.HTML(&html, &item, maxText); err != nil {
			return answer, err
		}
		shown := itemJSON{Seq: item.Seq, End: item.End, Open: item.Open(), HTML: html.String()}
		if item.Entry.Seq > 0 && len(item.Entry.Content) <= maxText {
			shown.Markdown = item.Markdown()
		}
		answer.Items = append(answer.Items, shown)
	}
	return answer, nil
}

// folded divides a stretch into items. Their texts have no secrets.
func (d *Server) folded(
	ctx context.Context, reader *journal.Reader, key catalog.Key, s stretch.Stretch,
) (*page.Fold, []page.Item, error) {
	secrets := d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
	var f page.Fold
	if s.From.Seq > 0 {
		first := stretch.Until(ctx, reader.ScanAfter(journal.Position{}))
		if err := f.Begin(app.EventsWithout(secrets, first)); err != nil {
			return nil, nil, err
		}
	}
	var events []journal.Event
	for e, err := range app.EventsWithout(secrets, s.All()) {
		if err != nil {
			return nil, nil, err
		}
		events = append(events, e)
	}
	return &f, f.Items(events), nil
}

// A place is a place in a session; the zero place is its end.
type place struct{ around, before, after uint64 }

// placeOf returns the place that a request names.
func placeOf(r *http.Request) (p place, err error) {
	for name, seq := range map[string]*uint64{"around": &p.around, "before": &p.before, "after": &p.after} {
		if text := r.FormValue(name); text != "" {
			if *seq, err = strconv.ParseUint(text, 10, 63); err != nil {
				return p, &requestError{name + " takes the number of an event."}
			}
		}
	}
	if r.Form.Has("after") {
		p.after++ // the first event that is read
	}
	return p, nil
}

// read reads the events at a place. ended reports whether they are the last ones.
func (p place) read(
	ctx context.Context, r *journal.Reader, dir *catalog.Dir, id string,
) (s stretch.Stretch, ended bool, err error) {
	switch {
	case p.before > 0:
		at, err := r.Find(p.before)
		if err != nil {
			return s, false, err
		}
		s, err := stretch.Before(ctx, r, at, stretch.Enough)
		return s, false, err
	case p.around > 0, p.after > 0:
		at, err := r.Find(max(p.around, p.after))
		if err != nil && p.around > 0 {
			break // it cannot be reached; the end is near the damage
		}
		if err != nil {
			return s, false, err
		}
		s, next, err := stretch.After(ctx, r, at, stretch.Enough, 0)
		if s.Divided() && p.around > 0 {
			earlier, err := stretch.Before(ctx, r, at, 0)
			if err != nil {
				return s, false, err
			}
			s = earlier.Join(s)
		}
		if len(s.Events) > 0 || p.after > 0 || err != nil {
			return s, next.Seq == 0, err
		}
	}
	session, err := dir.Session(ctx, id)
	if err != nil {
		return s, false, err
	}
	end, _, err := stretch.End(r, session.End)
	if end.Seq == 0 {
		return s, true, err
	}
	s, failed := stretch.Before(ctx, r, end, stretch.Enough)
	if err == nil {
		err = failed
	}
	return s, true, err
}
