package catalog

import (
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// sessionCreated is the type of the first event of every session, but for what is
// said of the file.
var sessionCreated = projection.Record(time.Time{}, projection.SessionCreated{}).Type

// events reads a session from its beginning, as journal.Reader.Scan does. A journal
// that is none of a session has no events, but a *HeadlessError.
func (t *Dir) events(id string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		r, err := t.journals.Reader(id, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer r.Close()
		begun := false
		for e, err := range r.Scan() {
			begun = begun || e.Type == sessionCreated
			if err == nil && !begun && e.Type != journal.TypeRecovered {
				e, err = journal.Event{}, &MissingHeaderError{id, errNotSession.Error()}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
