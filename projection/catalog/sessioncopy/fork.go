package sessioncopy

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Fork copies a session, which may be open elsewhere or archived, into a new
// one that records its parent, and returns the id of the new session. It copies
// the events up to the sequence number upTo, or all if upTo is 0. If event upTo
// is the reply of a turn, the end of that turn is copied with it. Damage before
// that event is an error; damage after it is not.
func Fork(ctx context.Context, dir *catalog.Dir, id string, upTo uint64) (string, error) {
	upTo, err := lastToCopy(ctx, dir, id, upTo)
	if err != nil {
		return "", err
	}
	f := fork{id: dir.Journals().NewID(), parent: projection.Parent{SessionID: id, Seq: upTo}}
	if err := f.write(ctx, dir, upTo); err != nil {
		return "", err
	}
	return f.id, nil
}

// write writes the fork with the events of the parent up to a sequence number.
func (f fork) write(ctx context.Context, dir *catalog.Dir, upTo uint64) error {
	return f.writeFrom(ctx, dir, dir, upTo)
}

// writeFrom writes the fork with the events of its parent in another directory.
func (f fork) writeFrom(ctx context.Context, dir, source *catalog.Dir, upTo uint64) error {
	if err := markCopy(dir, f.id, f.parent.SessionID); err != nil {
		return err
	}
	return create(ctx, dir, f.id, func(w *writer) error {
		if err := w.from(dir, f.parent.SessionID); err != nil {
			return err
		}
		for e, err := range source.Events(ctx, f.parent.SessionID) {
			if err != nil {
				return err
			}
			if err := f.copy(e, w); err != nil {
				return err
			}
			if e.Seq >= upTo {
				break
			}
		}
		return nil
	})
}

// lastToCopy returns the sequence number of the last event of a fork. It reads
// every event before it, so that damage is reported before a copy is begun.
//
// A reply is followed by the task that it sets and the end of its turn. Without
// those the turn would look interrupted.
func lastToCopy(ctx context.Context, dir *catalog.Dir, id string, upTo uint64) (uint64, error) {
	last := uint64(0)
	for e, err := range dir.Events(ctx, id) {
		if upTo == 0 || last < upTo {
			if err != nil {
				return 0, err
			}
			last = e.Seq
			continue
		}
		if err != nil {
			return upTo, nil
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.TaskSet:
		case projection.TurnEnded:
			if p.FinishReason == projection.Done {
				return e.Seq, nil
			}
			return upTo, nil
		default:
			return upTo, nil
		}
	}
	if last < max(1, upTo) {
		return 0, &NoEventError{id, upTo, last}
	}
	return last, nil
}

// fork is the identity of a new session that begins as a copy of its parent.
type fork struct {
	id     string
	parent projection.Parent
}

// copy adds an event of the parent. Events about the parent's file are left
// out, and session.created gets the identity of the fork.
func (f fork) copy(e journal.Event, w *writer) error {
	if isAboutFile(e) {
		return nil
	}
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.SessionCreated:
		p.SessionID, p.Parent = f.id, &f.parent
		return w.add(projection.Record(e.Time, p))
	}
	return w.add(journal.Record{Type: e.Type, Data: slices.Clone(e.Data), Time: e.Time})
}

// isAboutFile reports whether an event describes the file of a journal, so that it is
// not copied to another one.
func isAboutFile(e journal.Event) bool {
	return e.Type == journal.TypeRecovered || e.Type == journal.TypeSealed
}

// NoEventError reports a fork at an event that a session does not have.
type NoEventError struct {
	ID        string
	Seq, Last uint64
}

func (e *NoEventError) Error() string {
	return fmt.Sprintf("session %s has no event %d: its last one is %d", e.ID, e.Seq, e.Last)
}
