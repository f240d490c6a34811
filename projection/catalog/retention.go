package catalog

import (
	"errors"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Policy says what becomes of old sessions. Locked, pinned and unreadable ones,
// and those of a newer version, are never touched.
type Policy struct {
	Keep         int           // never the newest so many of a team
	ArchiveAfter time.Duration // archive what has been idle for that long; 0 archives at once
	DeleteAfter  time.Duration // move to the trash what has been idle for that long; 0: never
}

// DefaultPolicy archives and never deletes.
var DefaultPolicy = Policy{Keep: 10, ArchiveAfter: 30 * 24 * time.Hour}

// Action is what a Policy asks for.
type Action int

// The actions there are.
const (
	Keep Action = iota
	Archive
	Trash
)

// Action decides about one session. Rank is how many sessions of its team are
// newer.
func (p Policy) Action(s Session, rank int, now time.Time) Action {
	idle := now.Sub(s.UpdatedAt)
	switch {
	case rank < p.Keep || s.Pinned || s.Damaged != "" || s.Newer != "":
		return Keep
	case p.DeleteAfter > 0 && idle >= p.DeleteAfter:
		return Trash
	case !s.Archived && idle >= p.ArchiveAfter:
		return Archive
	}
	return Keep
}

// Ranks says of each session how many of its team are newer. The sessions come
// newest first, as lists have them.
func Ranks(sessions []Session) map[string]int {
	rank, seen := make(map[string]int, len(sessions)), map[string]int{}
	for _, s := range sessions {
		rank[s.ID] = seen[s.dir]
		seen[s.dir]++
	}
	return rank
}

// Tidy does to a team's sessions what a policy asks for. Sessions that somebody
// writes to are left for another time; other errors are joined.
func (t *Team) Tidy(p Policy, now time.Time) error {
	sessions, err := t.List()
	if err != nil {
		return err
	}
	rank := Ranks(sessions)
	var failures []error
	for _, s := range slices.Backward(sessions) {
		var err error
		switch p.Action(s, rank[s.ID], now) {
		case Archive:
			err = t.Archive(s.ID)
		case Trash:
			err = t.Delete(s.ID)
		}
		if err != nil && !errors.Is(err, journal.ErrLocked) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
