package browse

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A kind is a group of sessions that a digit selects.
type kind struct {
	key   string
	name  string
	apply func(*catalog.Query)
}

// kinds are the groups, in the order of their digits.
var kinds = []kind{
	{"1", "all", func(*catalog.Query) {}},
	{"2", "live", func(q *catalog.Query) { q.Live = catalog.Only }},
	{"3", "archived", func(q *catalog.Query) { q.Archived = catalog.Only }},
	{"4", "damaged", func(q *catalog.Query) { q.Damaged = catalog.Only }},
}

// A listFilter selects and orders the sessions of the list. The zero listFilter selects all, the most recently updated
// first.
type listFilter struct {
	kind int    // index in kinds
	team string // id; "": any
	cwd  string // "": any
	sort catalog.Sort
}

// sortNames are the orders, as Names returns them.
var sortNames = []string{
	catalog.ByUpdated: "updated", catalog.ByCreated: "created",
	catalog.ByMessages: "messages", catalog.ByTitle: "title",
}

// filterOf returns the filter that a query stands for.
func filterOf(q catalog.Query) listFilter {
	f := listFilter{team: q.Team, cwd: q.CWD, sort: q.Sort}
	switch catalog.Only {
	case q.Live:
		f.kind = 1
	case q.Archived:
		f.kind = 2
	case q.Damaged:
		f.kind = 3
	}
	return f
}

// Query returns the query of the sessions.
func (f listFilter) Query() catalog.Query {
	q := catalog.Query{Team: f.team, CWD: f.cwd, Sort: f.sort}
	kinds[f.kind].apply(&q)
	return q
}

// Press changes the filter by a key: 1 to 4, s, T or a full stop. s is the selected session, if there is one.
func (f *listFilter) Press(key string, s catalog.Session, selected bool) (changed bool) {
	before := *f
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.key == key }); i >= 0 {
		f.kind = i
	}
	switch {
	case key == "s":
		f.sort = (f.sort + 1) % catalog.Sort(len(sortNames))
	case key == "T" && f.team != "":
		f.team = ""
	case key == "T" && selected:
		f.team = s.TeamID
	case key == "." && f.cwd != "":
		f.cwd = ""
	case key == "." && selected:
		f.cwd = s.CWD
	}
	return *f != before
}

// Clear removes what restricts the list.
func (f *listFilter) Clear() (changed bool) {
	before := *f
	f.kind, f.team, f.cwd = 0, "", ""
	return *f != before
}

// Restricts reports whether the filter leaves sessions out.
func (f listFilter) Restricts() bool { return f != listFilter{sort: f.sort} }

// Names describes the filter, a part for each restriction and one for an order other than the first. They are safe for
// a terminal.
func (f listFilter) Names() (names []string) {
	if f.kind > 0 {
		names = append(names, kinds[f.kind].name)
	}
	if f.team != "" {
		names = append(names, "team "+tty.SafeLine(f.team))
	}
	if f.cwd != "" {
		names = append(names, "in "+tty.SafeLine(f.cwd))
	}
	if f.sort != catalog.ByUpdated {
		names = append(names, "by "+sortNames[f.sort])
	}
	return names
}
