package catalog

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/letters"
)

// Query selects and orders sessions. The zero Query selects all of them, the
// most recently updated first. A session is selected if every field matches.
// Pages are stable: a session that is updated or removed between two of them
// neither repeats nor hides another one.
type Query struct {
	Team     string // id of the team; "": any
	CWD      string // directory in which the session was created; "": any
	Text     string // text in the title, the id, the team's id or the directory, in any case; "": any
	Archived Filter // is compressed in the archive
	Damaged  Filter // Session.Damaged is set: it is damaged or cannot be read
	Live     Filter // a process has the session open for writing, here or on another machine

	ReadRows bool // Session is going to be called for most of Result.Matches: keep what they need in memory

	MatchCase bool // Text matches only in its case, except in the id

	Elsewhere *Elsewhere // is listed, too, by Catalog.List; nil: only what is here

	Sort  Sort
	Limit int    // sessions in a page; 0: all
	After string // Result.Next of the page before; "": the first page
}

// Filter selects sessions by a property.
type Filter int

// The values of a Filter.
const (
	Any     Filter = iota // with or without the property
	Only                  // with it
	Without               // without it
)

func (f Filter) match(has bool) bool { return f == Any || has == (f == Only) }

// Sort is an order of sessions. Sessions that are equal in it are ordered by
// their last update.
type Sort int

// The values of a Sort.
const (
	ByUpdated  Sort = iota // most recently updated first
	ByCreated              // most recently created first
	ByMessages             // most messages first
	ByTitle                // by the bytes of the title
)

// Result is the answer to a Query.
type Result struct {
	Sessions []Session // the page
	Next     string    // After of the next page; "": this is the last one

	// Lost has the paths of the journals that are missing although the index has a
	// row for them and no command of this program removed them: those of the team, or
	// of all teams, regardless of the rest of the query. Reindex removes their rows.
	Lost []string

	// Matches are the selected sessions of all pages, in order. Their rows are not decoded.
	Matches []*Entry
}

// answer selects from sessions in the order ByUpdated, and reorders the slice.
func (q Query) answer(ctx context.Context, entries []*Entry, lost []string) (*Result, error) {
	matches := q.filter(ctx, entries)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.Sort != ByUpdated {
		slices.SortFunc(matches, q.Sort.compare)
	}
	from := 0
	if q.After != "" {
		last, err := parseKey(q.After)
		if err != nil {
			return nil, err
		}
		from, _ = slices.BinarySearchFunc(matches, last, func(e *Entry, last sortKey) int {
			return cmp.Or(q.Sort.key(e).compare(last), -1) // finds the first one after last
		})
	}
	page := matches[from:]
	r := &Result{Matches: matches, Lost: lost}
	if q.Limit > 0 && len(page) > q.Limit {
		page = page[:q.Limit]
		r.Next = q.Sort.key(page[q.Limit-1]).String()
	}
	r.Sessions = make([]Session, len(page))
	decodeEach(ctx, page, func(i int, row *row) { r.Sessions[i] = page[i].dir.session(row) })
	return r, ctx.Err()
}

// Select returns those of the entries that the query selects, in their order. Sort, Limit and After
// are ignored. The error is ctx.Err().
func (q Query) Select(ctx context.Context, entries []*Entry) ([]*Entry, error) {
	q.Sort = ByUpdated
	return q.filter(ctx, slices.Clone(entries)), ctx.Err()
}

// filter returns the entries that the query selects, in the same slice. It gives them the
// values that Sort compares. When ctx is done, it returns too few.
func (q Query) filter(ctx context.Context, entries []*Entry) []*Entry {
	if q.MatchCase {
		q.Text = letters.Compose(q.Text)
	} else {
		q.Text = letters.Fold(q.Text)
	}
	var selected []bool
	if q.Team != "" || q.CWD != "" || q.Text != "" || q.Sort != ByUpdated {
		selected = make([]bool, len(entries))
		decodeEach(ctx, entries, func(i int, r *row) {
			if selected[i] = q.matchRow(r); q.Sort != ByUpdated {
				entries[i].order = &order{r.CreatedAt, r.MessageCount, r.Title}
			}
		})
	}
	matches := entries[:0]
	for i, e := range entries {
		if ctx.Err() == nil && (selected == nil || selected[i]) && q.match(e) {
			matches = append(matches, e)
		}
	}
	clear(entries[len(matches):])
	return matches
}

// match reports whether the query selects a session, if it selects its row.
func (q Query) match(e *Entry) bool {
	return q.Archived.match(e.archived) && q.Damaged.match(e.Damaged) &&
		(q.Live == Any || q.Live.match(e.Live()))
}

// matchRow reports whether the query, whose Text is as it is compared, selects a row.
func (q Query) matchRow(r *row) bool {
	return (q.Team == "" || r.TeamID == q.Team) && (q.CWD == "" || r.CWD == q.CWD) && (q.Text == "" || q.matchText(r))
}

// matchText reports whether the text is in what a list shows of the session.
func (q Query) matchText(r *row) bool {
	if strings.Contains(strings.ToLower(r.ID), strings.ToLower(q.Text)) {
		return true
	}
	form := letters.Fold
	if q.MatchCase {
		form = letters.Compose
	}
	for _, shown := range []string{r.Title, r.TeamID, r.CWD} {
		shown = form(shown)
		if strings.Contains(shown, q.Text) {
			return true
		}
	}
	return false
}

// order has the values of a session that the orders other than ByUpdated compare.
type order struct {
	createdAt time.Time
	messages  int
	title     string
}

// compare compares the places of two sessions, whose order is set.
func (s Sort) compare(a, b *Entry) int {
	c := 0
	switch s {
	case ByCreated:
		c = b.order.createdAt.Compare(a.order.createdAt)
	case ByMessages:
		c = cmp.Compare(b.order.messages, a.order.messages)
	case ByTitle:
		c = strings.Compare(a.order.title, b.order.title)
	}
	if c != 0 {
		return c
	}
	return newestFirst(a, b)
}

// sortKey is the place of a session in an order, as Result.Next encodes it. The
// fields that the order does not compare are zero.
type sortKey struct {
	CreatedAt time.Time `json:"createdAt,omitzero"`
	Messages  int       `json:"messages,omitempty"`
	Title     string    `json:"title,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"`
	ID        string    `json:"id"`
	Dir       string    `json:"dir"` // name of the team's directory
}

// key returns the place of a session, whose order is set unless s is ByUpdated.
func (s Sort) key(e *Entry) sortKey {
	k := sortKey{UpdatedAt: e.updatedAt, ID: e.id, Dir: filepath.Base(e.dir.journals.Path())}
	switch s {
	case ByCreated:
		k.CreatedAt = e.order.createdAt
	case ByMessages:
		k.Messages = e.order.messages
	case ByTitle:
		k.Title = e.order.title
	}
	return k
}

// compare gives the same order as Sort.compare.
func (a sortKey) compare(b sortKey) int {
	return cmp.Or(
		b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.Messages, a.Messages), strings.Compare(a.Title, b.Title),
		b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(b.ID, a.ID), strings.Compare(a.Dir, b.Dir),
	)
}

// String encodes the key as Result.Next.
func (k sortKey) String() string {
	data, _ := json.Marshal(k) // cannot fail: it has strings, numbers, and times from an index
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseKey(text string) (k sortKey, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		err = fmt.Errorf("page %q: %w", text, err)
	}
	return k, err
}
