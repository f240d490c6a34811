package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Fork copies the events of a session up to the one of that number, with the end
// of the turn when that is its reply, or all when it is 0, into a new session that remembers where it parted, and returns the id
// of that one. Somebody may be writing to the session, or it may be archived. What
// is damaged before that event is not forked.
func (t *Dir) Fork(id string, upTo uint64) (string, error) {
	upTo, err := t.forkable(id, upTo)
	if err != nil {
		return "", err
	}
	fork := forking{id: t.journals.NewID(), parent: projection.Parent{SessionID: id, Seq: upTo}}
	err = t.fill(fork.id, func(w *writing) error { return t.copyEvents(id, w, fork) })
	if err != nil {
		return "", err
	}
	return fork.id, nil
}

// forkable is the number of the last event to copy. Everything up to it has been
// read then, so that a copy is not begun in vain.
func (t *Dir) forkable(id string, upTo uint64) (uint64, error) {
	last := uint64(0)
	for e, err := range t.events(id) {
		switch behind := upTo > 0 && last >= upTo; {
		case behind && (err != nil || !endsReply(e)):
			return upTo, nil
		case behind && e.Type == turnEnded:
			return e.Seq, nil
		case err != nil:
			return 0, err
		}
		last = e.Seq
	}
	switch {
	case last == 0 || upTo > last:
		return 0, fmt.Errorf("session %s has no event %d: its last one is %d", id, upTo, last)
	case upTo > 0:
		return upTo, nil
	}
	return last, nil
}

// turnEnded is the type of the last event of a turn.
var turnEnded = projection.Record(time.Time{}, projection.TurnEnded{}).Type

// endsReply reports whether an event stands between a reply and the next thing that
// happens: the task that the reply sets, and the end of its turn. Without them the
// turn would seem to be interrupted.
func endsReply(e journal.Event) bool {
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.TaskSet:
		return true
	case projection.TurnEnded:
		return p.FinishReason == projection.Done
	}
	return false
}

// forking is what a copy says of itself.
type forking struct {
	id     string
	parent projection.Parent
}

func (t *Dir) copyEvents(id string, w *writing, fork forking) error {
	for e, err := range t.events(id) {
		if err != nil {
			return err
		}
		if err := fork.take(e, w); err != nil {
			return err
		}
		if e.Seq >= fork.parent.Seq {
			break
		}
	}
	return nil
}

// take copies an event. What is said of the file alone stays with the file.
func (f forking) take(e journal.Event, w *writing) error {
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.JournalRecovered:
		return nil
	case projection.SessionCreated:
		p.SessionID, p.Parent = f.id, &f.parent
		return w.add(projection.Record(e.Time, p))
	}
	return w.add(journal.Record{Type: e.Type, Data: slices.Clone(e.Data), Time: e.Time})
}
