package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// Policy determines what happens to old sessions. Sessions that are locked,
// pinned, damaged or written by a newer version are never touched.
type Policy struct {
	Keep         int           // most recently updated sessions of a team that are not touched
	ArchiveAfter time.Duration // idle time after which a session is archived; 0: at once
	DeleteAfter  time.Duration // idle time after which a session is moved to the trash; 0: never
}

// DefaultPolicy archives and never deletes.
var DefaultPolicy = Policy{Keep: 10, ArchiveAfter: 30 * 24 * time.Hour}

// Action is what a Policy does to a session.
type Action int

// The values of an Action.
const (
	Keep Action = iota
	Archive
	Trash
)

// Action returns what to do with a session. rank is the number of sessions of
// its team that were updated more recently.
func (p Policy) Action(s Session, rank int, now time.Time) Action {
	idle := now.Sub(s.UpdatedAt)
	switch {
	case p.protects(s, rank):
		return Keep
	case p.DeleteAfter > 0 && idle >= p.DeleteAfter:
		return Trash
	case !s.Archived && idle >= p.ArchiveAfter:
		return Archive
	}
	return Keep
}

// Next returns the first thing that the policy will do to a session that is not updated any more, and the idle time
// after which. If that is Keep, it will do nothing. rank is as in Action.
func (p Policy) Next(s Session, rank int) (a Action, idle time.Duration) {
	switch {
	case p.protects(s, rank):
		return Keep, 0
	case !s.Archived && (p.DeleteAfter == 0 || p.ArchiveAfter < p.DeleteAfter):
		return Archive, p.ArchiveAfter
	case p.DeleteAfter > 0:
		return Trash, p.DeleteAfter
	}
	return Keep, 0
}

// protects reports whether the policy does not touch a session, however old it is.
func (p Policy) protects(s Session, rank int) bool {
	return rank < p.Keep || s.Pinned || s.Damaged != "" || s.Newer != ""
}

// Ranks returns, by id, how many sessions of its team were updated more recently
// than a session. The sessions are in the order ByUpdated.
func Ranks(sessions []Session) map[string]int {
	rank, seen := make(map[string]int, len(sessions)), map[string]int{}
	for _, s := range sessions {
		rank[s.ID] = seen[s.dir]
		seen[s.dir]++
	}
	return rank
}

// Reason returns the reason for an action, as retention.jsonl records it.
func (p Policy) Reason(a Action) string {
	after := p.ArchiveAfter
	if a == Trash {
		after = p.DeleteAfter
	}
	return fmt.Sprintf("idle for %s, and not among the newest %d", FormatDays(after), p.Keep)
}

// FormatDays formats a duration of whole days as 30d, others as Duration.String.
func FormatDays(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return d.String()
}

// Budget limits the work of ApplyRetention. The zero Budget is no limit.
type Budget struct {
	Sessions int
	Bytes    int64 // of their files
}

// ApplyRetention applies a policy to the sessions of the team, least recently
// updated first. It leaves sessions that are Busy or would exceed the budget to
// a later call. When ctx is done, it stops and returns nil.
// Other errors are joined.
func (d *Dir) ApplyRetention(ctx context.Context, p Policy, now time.Time, limit Budget) error {
	list, err := d.List(ctx, Query{})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	pass := d.BeginRetention()
	var failures []error
	var done int
	var bytes int64
	for rank, s := range slices.Backward(list.Sessions) {
		action := p.Action(s, rank, now)
		exceeded := limit != (Budget{}) && (done == limit.Sessions || bytes+s.Bytes > limit.Bytes)
		if action == Keep || exceeded {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		done, bytes = done+1, bytes+s.Bytes
		if err := pass.do(ctx, action, s, p.Reason(action)); err != nil && !Busy(err) && ctx.Err() == nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(append(failures, pass.Close())...)
}

// Busy reports whether err means that retention left a session alone because it is
// open, was appended to, is gone, or is a link to another place.
func Busy(err error) bool {
	var link *regularfile.KindError
	return errors.As(err, &link) || errors.Is(err, journal.ErrLocked) || errors.Is(err, ErrChanged) ||
		errors.Is(err, journal.ErrNotFound)
}
