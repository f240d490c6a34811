package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// A memberJSON is a member of a session's team.
type memberJSON struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Class   string   `json:"class"` // of its colour
	Human   bool     `json:"human,omitempty"`
	Figures []string `json:"figures,omitempty"` // its context and its cost
}

// members returns the members that the first events of a session name.
func members(first iter.Seq2[projection.Event, error]) []memberJSON {
	team, _ := conversation.Team(first) // the parts of the conversation report errors
	return membersOf(team)
}

// membersOf describes the members of a team.
func membersOf(team []projection.Member) []memberJSON {
	members := page.NewMembers(team)
	var all []memberJSON
	for _, m := range team {
		all = append(all, memberJSON{
			ID: tty.SafeLine(m.ID), Name: tty.SafeLine(cmp.Or(m.DisplayName, m.ID)), Class: members.ColorClass(m.ID),
			Human: m.Type == projection.TypeHuman,
		})
	}
	return all
}

// A textJSON is a part of a text that the page has cut.
type textJSON struct {
	Text string `json:"text"`
	Next int    `json:"next,omitempty"` // where the rest begins; 0: there is none
}

// maxRest is the length in bytes of a textJSON.
const maxRest = 1 << 20

// whole returns a part of a text of an item: of its message, or of what a tool call was given or returned.
func (d *Server) whole(r *http.Request) (textJSON, error) {
	seq, err := strconv.ParseUint(r.FormValue("seq"), 10, 63)
	from, failed := number(r, "from", 0)
	to, failedTo := number(r, "to", -1)
	if err = errors.Join(err, failed, failedTo); err != nil || seq == 0 {
		return textJSON{}, &requestError{"seq, from and to take numbers."}
	}
	item, err := d.item(r, seq)
	if err != nil {
		return textJSON{}, err
	}
	var whole string
	switch of := r.FormValue("of"); of {
	case "markdown":
		whole = page.Markdown(item)
	default:
		whole = page.Whole(item, of, seq)
	}
	if to < 0 || to > len(whole) {
		to = len(whole)
	}
	rest := whole[min(from, to):to]
	part := runecut.Prefix(rest, maxRest)
	answer := textJSON{Text: tty.Safe(part)}
	if len(part) < len(rest) {
		answer.Next = from + len(part)
	}
	return answer, nil
}

// number returns a number that is not negative.
func number(r *http.Request, name string, missing int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}

// item returns the item that an event belongs to.
func (d *Server) item(r *http.Request, seq uint64) (*conversation.Item, error) {
	key, err := d.key(r)
	if err != nil {
		return nil, err
	}
	dir := d.app.Catalog.At(key.Dir)
	reader, err := dir.Journals().Reader(key.ID, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	reader.StopWith(r.Context())
	c, _, err := place{around: seq}.read(r.Context(), reader, dir, key.ID)
	if len(c.Events) == 0 && err != nil {
		return nil, err
	}
	_, items, err := d.itemsOf(r.Context(), reader, key, c)
	if err != nil {
		return nil, err
	}
	if i := conversation.ItemOf(items, seq); i != nil {
		return i, nil
	}
	return nil, &catalog.NotFoundError{Name: key.ID + "#" + strconv.FormatUint(seq, 10)}
}

// A hitJSON is a message that a search found, or the end of the search.
type hitJSON struct {
	Seq   uint64 `json:"seq,omitempty"`
	Ended bool   `json:"ended,omitempty"`
	More  bool   `json:"more,omitempty"` // there are more messages than the page takes
	Error string `json:"error,omitempty"`
}

const (
	maxHits   = 100_000
	hitsPause = 50 * time.Millisecond // between two writes
)

// find sends the messages of a session that have a text, as lines of JSON, as it finds them: first those from an event
// on, then those before it.
func (d *Server) find(w http.ResponseWriter, r *http.Request) {
	key, err := d.key(r)
	text := r.FormValue("text")
	from, failed := number(r, "from", 1)
	switch {
	case err != nil:
	case text == "":
		err = &requestError{"text takes what to search for."}
	case failed != nil || from < 1:
		err = &requestError{"from takes the number of an event."}
	}
	if err != nil {
		d.refuse(w, err)
		return
	}
	s, err := d.app.Catalog.At(key.Dir).Session(r.Context(), key.ID)
	if err != nil {
		d.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	f := finder{desk: d, out: http.NewResponseController(w), lines: json.NewEncoder(w)}
	f.secrets = d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
	query := search.Query{Text: text}
	if f.search(r.Context(), s, uint64(from), math.MaxUint64, query) && from > 1 {
		f.search(r.Context(), s, 1, uint64(from), query)
	}
	f.end.Ended = true
	f.send(f.end)
}

// A finder sends what a search finds.
type finder struct {
	desk    *Server
	secrets *redact.Redactor
	out     *http.ResponseController
	lines   *json.Encoder
	found   int
	flushed time.Time
	end     hitJSON
}

// search sends the messages from an event up to, and without, another; false: no more can be sent.
func (f *finder) search(ctx context.Context, s catalog.Session, from, to uint64, q search.Query) bool {
	hits, err := search.After(ctx, f.desk.app.Catalog, s, from-1, q)
	if err != nil {
		f.end.Error = f.desk.text(err)
		return false
	}
	for hit, err := range hits {
		if err != nil {
			f.end.Error = f.desk.text(err)
			continue
		}
		if hit.Seq >= to {
			return true
		}
		if _, ok := hit.With(contentWithout(f.secrets, hit)); !ok {
			continue // only a secret has the text
		}
		if f.found++; f.found > maxHits {
			f.end.More = true
			return false
		}
		if !f.send(hitJSON{Seq: hit.Seq}) {
			return false
		}
	}
	return true
}

// send sends a line, at once if none was sent for some time.
func (f *finder) send(line hitJSON) bool {
	_ = f.out.SetWriteDeadline(time.Now().Add(2 * keepAlive))
	if f.lines.Encode(line) != nil {
		return false
	}
	if time.Since(f.flushed) > hitsPause {
		_ = f.out.Flush()
		f.flushed = time.Now()
	}
	return true
}
