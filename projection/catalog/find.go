package catalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
)

// LatestName is the name by which Find returns the latest session.
const LatestName = "latest"

// minIDPart is the shortest part of an id that names a session, in characters.
const minIDPart = 4

// NotFoundError reports a name that no session has. It matches
// journal.ErrNotFound.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("no session %q", e.Name) }

// Is makes a NotFoundError match journal.ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == journal.ErrNotFound }

// AmbiguousError reports a name that several sessions have.
type AmbiguousError struct {
	Name       string
	Candidates []Session // the most recently updated first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q names %d sessions", e.Name, len(e.Candidates))
}

// Find returns the session with a name. The name is, in this order, a whole id,
// LatestName, a title, or the beginning or end of an id; ids in any case. If it
// is LatestName, the damaged sessions that Latest skipped are returned, too.
// Errors: *NotFoundError; *AmbiguousError; those of List.
func (c *Catalog) Find(ctx context.Context, name string) (found Session, skipped []Session, err error) {
	if id := strings.ToUpper(name); journal.ValidID(id) {
		found, err = c.findID(ctx, id)
		return found, nil, err
	}
	if name == LatestName {
		return c.findLatest(ctx)
	}
	all, err := c.List(ctx, Query{})
	if err != nil {
		return Session{}, nil, err
	}
	for _, matches := range []func(Session) bool{
		func(s Session) bool { return s.Title == name && name != "" },
		func(s Session) bool { return MatchesID(s.ID, name) },
	} {
		var candidates []Session
		for _, s := range all.Sessions {
			if matches(s) {
				candidates = append(candidates, s)
			}
		}
		switch len(candidates) {
		case 0:
		case 1:
			return candidates[0], nil, nil
		default:
			return Session{}, nil, &AmbiguousError{name, candidates}
		}
	}
	return Session{}, nil, &NotFoundError{name}
}

// findLatest is Find for LatestName. It decodes rows only up to the latest session.
func (c *Catalog) findLatest(ctx context.Context) (found Session, skipped []Session, err error) {
	list, err := c.List(ctx, Query{Limit: 1})
	if err != nil {
		return Session{}, nil, err
	}
	found, skipped, err = Latest(func(yield func(Session) bool) {
		for _, e := range list.Matches {
			if !yield(e.Session()) {
				return
			}
		}
	})
	if errors.Is(err, journal.ErrNotFound) {
		err = &NotFoundError{LatestName}
	}
	return found, skipped, err
}

// findID is Find for a whole id. It looks only for the file of that session. A
// directory that cannot be read is an error only if no other has the session.
func (c *Catalog) findID(ctx context.Context, id string) (Session, error) {
	teams, err := c.Teams()
	if err != nil {
		return Session{}, err
	}
	var unreadable error
	for _, d := range teams {
		s, err := d.Session(ctx, id)
		switch {
		case err == nil:
			return s, nil
		case unreadable == nil && !errors.Is(err, journal.ErrNotFound):
			unreadable = err
		}
	}
	if unreadable != nil {
		return Session{}, unreadable
	}
	return Session{}, &NotFoundError{id}
}

// Latest returns the first session that has messages and is not damaged, and
// the damaged ones before it. If there is none, it returns
// journal.ErrNotFound, or the ReadErr of one that could not be read.
func Latest(sessions iter.Seq[Session]) (latest Session, skipped []Session, err error) {
	err = journal.ErrNotFound
	for s := range sessions {
		if s.ReadErr != nil {
			err = s.ReadErr
		}
		switch {
		case s.Damaged != "":
			skipped = append(skipped, s)
		case s.MessageCount > 0:
			return s, skipped, nil
		}
	}
	return Session{}, skipped, err
}

// MatchesID reports whether a name is an id, or at least 4 characters of its
// beginning or end, in any case.
func MatchesID(id, name string) bool {
	part := strings.ToUpper(name)
	return len(part) >= minIDPart && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part))
}

// ShortIDs returns, by id, the shortest end of each session's id, of at least 4
// characters, that no other id in sessions and others has.
func ShortIDs(sessions []Session, others ...*Entry) map[string]string {
	length := make(map[string]int, len(sessions))
	sameEnd := map[string][]string{}
	for _, s := range sessions {
		length[s.ID] = minIDPart
		sameEnd[shortestEnd(s.ID)] = append(sameEnd[shortestEnd(s.ID)], s.ID)
	}
	distinguish := func(other string) {
		for _, id := range sameEnd[shortestEnd(other)] {
			if other != id {
				length[id] = max(length[id], commonSuffix(id, other)+1)
			}
		}
	}
	for _, s := range sessions {
		distinguish(s.ID)
	}
	for _, other := range others {
		distinguish(other.id)
	}
	short := make(map[string]string, len(sessions))
	for id, n := range length {
		short[id] = id[max(0, len(id)-n):]
	}
	return short
}

// shortestEnd returns the shortest end of an id that can name a session.
func shortestEnd(id string) string { return id[max(0, len(id)-minIDPart):] }

// commonSuffix returns how many characters two ids have in common at their ends.
func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
