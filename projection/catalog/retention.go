package catalog

import (
	"context"
	"errors"
	"fmt"
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

// Reason says why a policy asks for an action.
func (p Policy) Reason(a Action) string {
	after := p.ArchiveAfter
	if a == Trash {
		after = p.DeleteAfter
	}
	return fmt.Sprintf("idle for %s, and not among the newest %d", FormatDays(after), p.Keep)
}

// FormatDays is a span of time as people write it: 30d.
func FormatDays(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return d.String()
}

// Budget is how much a Tidy does at most. The zero Budget knows no bound.
type Budget struct {
	Sessions int
	Bytes    int64 // of their files
}

// allows reports whether there is effort left for some more sessions.
func (e Budget) allows(sessions int, bytes int64) bool {
	return e == (Budget{}) || sessions <= e.Sessions && bytes <= e.Bytes
}

// ApplyRetention does to a team's sessions what a policy asks for, the oldest first, until
// ctx is done: then it stops between two sessions. Sessions that somebody writes
// to, or wrote to meanwhile, are left for another time, and so is what would be
// more than an effort; other errors are joined.
func (t *Dir) ApplyRetention(ctx context.Context, p Policy, now time.Time, most Budget) error {
	sessions, err := t.List()
	if err != nil {
		return err
	}
	pass := t.BeginRetention()
	var failures []error
	var done int
	var bytes int64
	for rank, s := range slices.Backward(sessions) {
		action := p.Action(s, rank, now)
		if action == Keep || !most.allows(done+1, bytes+s.Bytes) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		done, bytes = done+1, bytes+s.Bytes
		if err := pass.Do(action, s, p.Reason(action)); err != nil && !Busy(err) {
			failures = append(failures, err)
		}
	}
	return errors.Join(append(failures, pass.Close())...)
}

// Do is Archive or Trash.
func (p *RetentionPass) Do(a Action, s Session, reason string) error {
	switch a {
	case Archive:
		_, err := p.Archive(s, reason)
		return err
	case Trash:
		return p.Trash(s, reason)
	}
	return nil
}

// Busy reports whether retention left a session alone because somebody works on
// it.
func Busy(err error) bool {
	return errors.Is(err, journal.ErrLocked) || errors.Is(err, journal.ErrChanged) || errors.Is(err, journal.ErrNotFound)
}
