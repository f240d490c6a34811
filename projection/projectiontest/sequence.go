package projectiontest

import (
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Sequence yields events, and then an error if it is not nil.
func Sequence(events []journal.Event, err error) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(journal.Event{}, err)
		}
	}
}
