package replica

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Relation is how a session here compares with the hub, as far as the hub's rows tell.
type Relation string

// The relations.
const (
	Equal    Relation = "equal"
	Ahead    Relation = "ahead"    // there are events here that the hub lacks
	Behind   Relation = "behind"   // the hub has more events
	Diverged Relation = "diverged" // both have events that the other one lacks
	OnlyHere Relation = "only here"
	OnlyHub  Relation = "only on the hub"
	Purged   Relation = "purged" // from the hub
	Unknown  Relation = "unknown"
)

// Status is a session here, on the hub, or in both places.
type Status struct {
	Session  hub.Session
	Local    *catalog.Session // nil: it is not here
	Remote   *hub.Row         // nil: it is not on the hub
	Row      Row              // that of Remote, decoded; the zero Row if it has none that can be read
	Relation Relation
	Mine     bool // the claim is one of this machine
	Deleted  bool // it is only on the hub, because it was deleted here
}

// Held reports whether another machine has claimed the session.
func (s Status) Held() bool {
	return s.Remote != nil && s.Remote.Claim != nil && !s.Remote.Claim.Released && !s.Mine
}

// List returns the sessions of the teams whose directories ships selects, those that are here and those that are on
// the hub, in the order of their teams and ids. It reads the hub's rows, not its lines: Behind may turn
// out to be Diverged.
func List(ctx context.Context, h *hub.Hub, c *catalog.Catalog, ships func(directory string) bool) ([]Status, error) {
	remote := map[hub.Session]hub.Row{}
	err := h.Rows(ctx, "", func(r hub.Row) {
		if ships(r.Session.Team) {
			remote[r.Session] = r
		}
	})
	if err != nil {
		return nil, err
	}
	teams, err := c.Teams()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, dir := range teams {
		team := filepath.Base(dir.Journals().Path())
		if !ships(team) {
			continue
		}
		list, err := dir.List(ctx, catalog.Query{})
		if err != nil {
			return nil, err
		}
		for _, s := range list.Sessions {
			status := Status{Session: hub.Session{Team: team, ID: s.ID}, Local: &s, Relation: OnlyHere}
			if row, ok := remote[status.Session]; ok {
				delete(remote, status.Session)
				status.compare(h, dir, row)
			}
			all = append(all, status)
		}
	}
	deleted := NewDeleted(c)
	for session, row := range remote {
		status := Status{Session: session, Remote: &row, Row: DecodeRow(row), Relation: OnlyHub}
		if status.Deleted, err = deleted.Has(ctx, session); err != nil {
			return nil, err
		}
		switch {
		case row.Err != nil:
			status.Relation = Unknown
		case row.Purged:
			status.Relation = Purged
		}
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b Status) int {
		if c := strings.Compare(a.Session.Team, b.Session.Team); c != 0 {
			return c
		}
		return strings.Compare(a.Session.ID, b.Session.ID)
	})
	return all, nil
}

// Deleted tells which sessions were deleted here. It reads what a team has deleted when it is asked about the team.
type Deleted struct {
	c     *catalog.Catalog
	teams map[string][]string
}

// NewDeleted returns the Deleted of a catalog.
func NewDeleted(c *catalog.Catalog) *Deleted { return &Deleted{c, map[string][]string{}} }

// Has reports whether a session is in the trash, or was purged from it.
func (d *Deleted) Has(ctx context.Context, s hub.Session) (bool, error) {
	ids, known := d.teams[s.Team]
	if !known {
		var err error
		if ids, err = d.c.At(filepath.Join(d.c.Root(), s.Team)).Deleted(ctx); err != nil {
			return false, err
		}
		slices.Sort(ids)
		d.teams[s.Team] = ids
	}
	_, deleted := slices.BinarySearch(ids, s.ID)
	return deleted, nil
}

// compare sets what a row of the hub tells.
func (s *Status) compare(h *hub.Hub, dir *catalog.Dir, row hub.Row) {
	s.Remote, s.Row = &row, DecodeRow(row)
	r := Replica{Hub: h, Dir: dir, ID: s.Session.ID}
	s.Mine = r.Mark().Has(row.Claim)
	switch {
	case row.Err != nil:
		s.Relation = Unknown
	case row.Purged:
		s.Relation = Purged
	case s.Local.End == row.Head:
		s.Relation = Equal
	case s.Local.End.Seq < row.Head.Seq:
		s.Relation = Behind
	default:
		s.Relation = Diverged
		if local, err := r.reader(); err == nil && local != nil {
			if local.Holds(row.Head) {
				s.Relation = Ahead
			}
			local.Close()
		}
	}
}
