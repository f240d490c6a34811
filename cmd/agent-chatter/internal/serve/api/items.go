package api

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A partJSON is a part of a conversation.
type partJSON struct {
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
func (d *Server) items(r *http.Request) (partJSON, error) {
	key, err := d.key(r)
	if err != nil {
		return partJSON{}, err
	}
	p, err := placeOf(r)
	if err != nil {
		return partJSON{}, err
	}
	dir := d.app.Catalog.At(key.Dir)
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if d.onHub(key, err) != nil { // the page shows it when it was fetched
		return partJSON{Started: true, Ended: true, Items: []itemJSON{}}, nil
	}
	if err != nil {
		return partJSON{}, err
	}
	defer reader.Close()
	reader.StopWith(r.Context())
	c, ended, err := p.read(r.Context(), reader, dir, key.ID)
	if len(c.Events) == 0 && err != nil {
		return partJSON{}, err
	}
	answer, failed := d.shown(r.Context(), reader, key, c)
	answer.Ended = ended
	if err != nil {
		// The session is what its row says: that has the journal's damage, too.
		session, _ := dir.Session(r.Context(), key.ID)
		session.ID = key.ID
		answer.Notice = d.app.Render(view.ReadFailure(session, err))
	}
	return answer, failed
}

// shown returns a chunk as the page shows it.
func (d *Server) shown(
	ctx context.Context, reader *journal.Reader, key catalog.Key, c conversation.Chunk,
) (partJSON, error) {
	answer := partJSON{From: c.From.Seq, To: c.To.Seq, Started: c.From.Seq == 0, Items: []itemJSON{}}
	members, items, err := d.itemsOf(ctx, reader, key, c)
	if err != nil {
		return answer, err
	}
	for _, item := range items {
		var html bytes.Buffer
		if err := members.HTML(&html, item, maxText); err != nil {
			return answer, err
		}
		shown := itemJSON{Seq: item.First, End: item.Last, Open: item.Open, HTML: html.String()}
		if _, said := item.Entry(); said && len(item.Text) <= maxText {
			shown.Markdown = page.Markdown(item)
		}
		answer.Items = append(answer.Items, shown)
	}
	return answer, nil
}

// itemsOf returns the items of a chunk. Their texts have no secrets.
func (d *Server) itemsOf(
	ctx context.Context, reader *journal.Reader, key catalog.Key, c conversation.Chunk,
) (*page.Members, []*conversation.Item, error) {
	c.FollowOpen(ctx, reader)
	secrets := d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
	without := secrets.Session()
	for i, e := range c.Events {
		c.Events[i] = without(e)
	}
	first := c.All()
	if c.From.Seq > 0 {
		first = firstWithout(ctx, reader, secrets)
	}
	team, err := conversation.Team(first)
	if err != nil {
		return nil, nil, err
	}
	members := page.NewMembers(team)
	return members, c.Items(members.Speakers()), nil
}

// firstWithout yields the events of a session from the first one on, without secrets.
func firstWithout(
	ctx context.Context, r *journal.Reader, secrets *redact.Redactor,
) iter.Seq2[projection.Event, error] {
	events := conversation.Until(ctx, r.ScanAfter(journal.Position{}))
	return secrets.Decoded(events)
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
) (c conversation.Chunk, ended bool, err error) {
	switch {
	case p.before > 0:
		at, err := r.Find(p.before)
		if err != nil {
			return c, false, err
		}
		c, err := conversation.Before(ctx, r, at, conversation.Enough)
		return c, false, err
	case p.around > 0:
		// One that cannot be reached is shown as the end, which is near the damage.
		c, next, err := conversation.Around(ctx, r, p.around, conversation.Enough, 0)
		if len(c.Events) > 0 {
			return c, next.Seq == 0, err
		}
	case p.after > 0:
		at, err := r.Find(p.after)
		if err != nil {
			return c, false, err
		}
		c, next, err := conversation.After(ctx, r, at, conversation.Enough, 0)
		return c, next.Seq == 0, err
	}
	session, err := dir.Session(ctx, id)
	if err != nil {
		return c, false, err
	}
	end, _, err := conversation.End(r, session.End)
	if end.Seq == 0 {
		return c, true, err
	}
	c, failed := conversation.Before(ctx, r, end, conversation.Enough)
	if err == nil {
		err = failed
	}
	return c, true, err
}
