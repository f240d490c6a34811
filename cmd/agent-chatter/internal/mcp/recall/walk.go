package recall

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// A walk looks for something in the events of sessions, the most recently updated session first. It ends when a result
// is full, or after softTime, and continues from there.
type walk struct {
	*Recall
	tool     string
	args     any
	from     *walkPosition // nil: the start
	deadline time.Time
	secrets  func(*projection.Source) *redact.Redactor

	last     walkPosition // of what was added last to the result
	next     string       // cursor; "": everything was looked at
	problems []string
	wrong    int // sessions with a problem
}

func (r *Recall) newWalk(tool string, args any) *walk {
	return &walk{Recall: r, tool: tool, args: args, secrets: r.redactors(), deadline: time.Now().Add(softTime)}
}

// start reads the cursor of a call; "" is none.
func (w *walk) start(cursor string) error {
	if cursor == "" {
		return nil
	}
	w.from = &walkPosition{}
	return w.position(cursor, w.tool, w.args, w.from)
}

// A walkPosition is the place after an event, or after a session.
type walkPosition struct {
	Updated time.Time `json:"updated"` // of the session
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`           // name of the team's directory
	Seq     uint64    `json:"seq,omitempty"` // of the event; 0: the end of the session
}

func positionAfter(s catalog.Session, seq uint64) walkPosition {
	return walkPosition{s.UpdatedAt, s.ID, filepath.Base(s.Dir()), seq}
}

func (p walkPosition) is(k catalog.Key) bool { return p.ID == k.ID && p.Dir == filepath.Base(k.Dir) }

// precedes reports whether the session of an entry comes after the position in a list.
func (p walkPosition) precedes(e *catalog.Entry) bool {
	k := e.Key()
	if !e.UpdatedAt().Equal(p.Updated) {
		return e.UpdatedAt().Before(p.Updated)
	}
	return k.ID < p.ID || k.ID == p.ID && filepath.Base(k.Dir) > p.Dir
}

// sessionsAtOnce are looked at between two looks at the clock.
const sessionsAtOnce = 64

// run calls in for some sessions at a time, and after for the rest of the session of the position, until one of them
// reports that the result is full.
func (w *walk) run(
	ctx context.Context, entries []*catalog.Entry, in func([]*catalog.Entry) (full bool, err error),
	after func(s catalog.Session, seq uint64) (full bool, err error),
) error {
	if w.from != nil {
		for _, e := range entries {
			if w.from.Seq == 0 || !w.from.is(e.Key()) {
				continue
			}
			if full, err := after(e.Session(), w.from.Seq); full || err != nil {
				return err
			}
		}
		entries = slices.DeleteFunc(entries, func(e *catalog.Entry) bool { return !w.from.precedes(e) })
	}
	for n := 0; n < len(entries); n += sessionsAtOnce {
		some := entries[n:min(n+sessionsAtOnce, len(entries))]
		if full, err := in(some); full || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if rest := len(entries) - n - len(some); rest > 0 && time.Now().After(w.deadline) {
			end := some[len(some)-1]
			w.stopAt(walkPosition{Updated: end.UpdatedAt(), ID: end.Key().ID, Dir: filepath.Base(end.Key().Dir)})
			w.problems = append(w.problems, fmt.Sprintf(
				"The search was interrupted after %v: %d sessions are not searched yet.", softTime, rest))
			return nil
		}
	}
	return ctx.Err()
}

// stopAt makes a position the end of the result.
func (w *walk) stopAt(p walkPosition) { w.next = w.cursorAt(w.tool, w.args, p) }

// report adds a problem of a session.
func (w *walk) report(err error) {
	if w.wrong++; w.wrong > maxProblems {
		return
	}
	said := "A session was not searched to its end."
	if of, ok := errors.AsType[*search.Error](err); ok {
		said = fmt.Sprintf("Session %s is damaged and was not searched to its end.", of.Session.ID)
		if errors.As(err, new(*catalog.MissingHeaderError)) {
			said = fmt.Sprintf("Session %s was searched, but has no header.", of.Session.ID)
		}
		err = of.Err
	}
	w.problems = append(w.problems, damage(said, err))
}

// allProblems returns what the walk could not look at.
func (w *walk) allProblems(ctx context.Context) []string {
	all := append(w.commonProblems(ctx), w.problems...)
	if more := w.wrong - maxProblems; more > 0 {
		all = append(all, fmt.Sprintf("%d more sessions are damaged.", more))
	}
	return all
}
