package view

import (
	"context"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// NotReachedText is for a place that a session does not have.
func NotReachedText(id, place string) app.Message {
	return app.Text("Session %s has no event at %s.", id, tty.SafeLine(place)).With(app.To("see its last events", "tail", id))
}

// behind yields the conversation behind an event.
func (r *Replay) Behind(seq uint64) iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for entry, err := range projection.Replay(r.Events()) {
			if (err != nil || entry.Seq > seq) && !yield(entry, err) {
				return
			}
		}
	}
}

// lastSeq is the number of the last event of a span; 0 when it has no end, or
// ends before the session begins or behind its last turn.
func (r *Replay) LastSeq(part Span) (seq uint64, err error) {
	switch {
	case part.To == nil:
		return 0, nil
	case part.To.Seq > 0:
		return part.To.Seq, nil
	}
	var l locator
	for e, err := range r.Events() {
		if err != nil {
			return 0, err
		}
		if l.beyond(*part.To, e) {
			return seq, nil
		}
		seq = e.Seq
	}
	if part.To.turn > l.turns {
		return 0, nil
	}
	return seq, nil
}

// replay is a session that is read again.
type Replay struct {
	app  *app.App
	Team *catalog.Dir
	ID   string
	last uint64 // its last event; 0: nobody knows what a damaged one has

	torn     journal.Torn // what was said of its end; many read it more than once
	headless error        // what is wrong with a session whose lines check; nil: nothing
}

func OpenReplay(a *app.App, name string) (*Replay, error) {
	c := a.Catalog
	session, err := a.FindOrOpen(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return ReplayOf(a, c, session), nil
}

func ReplayOf(a *app.App, c *catalog.Catalog, session catalog.Session) *Replay {
	if session.Truncated {
		a.Notice(app.TruncatedText(session))
	}
	r := &Replay{app: a, Team: c.At(session.Dir()), ID: session.ID}
	if session.Damaged == "" {
		r.last = session.LastSeq
	}
	if session.MissingHeader {
		r.headless = &catalog.MissingHeaderError{ID: session.ID, Reason: session.Damaged}
	}
	return r
}

// reaches refuses a span that begins or ends where the session has nothing; a
// damaged one is refused by whoever reads it. The session is read only to count
// its turns.
func (r *Replay) Reaches(part Span) error {
	for _, p := range []*Place{part.From, part.To} {
		switch {
		case p == nil:
		case r.last > 0 && p.Seq > r.last:
			return r.notReached(fmt.Sprint(p.Seq))
		case p.turn > 0:
			state, _, err := r.Team.Load(context.Background(), r.ID)
			if err == nil && p.turn > state.Stats.Turns+len(state.OpenTurns) {
				return r.notReached(fmt.Sprintf("turn:%d", p.turn))
			}
		}
	}
	return nil
}

func (r *Replay) notReached(place string) error {
	return app.Exit(app.ExitFailed, NotReachedText(r.ID, place))
}

// events reads the journal from its beginning. A torn tail is said.
func (r *Replay) Events() iter.Seq2[journal.Event, error] {
	return r.read(func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		r.pass(reader, journal.Position{}, yield)
	})
}

func (r *Replay) read(read func(*journal.Reader, func(journal.Event, error) bool)) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		reader, err := r.Team.Journals().Reader(r.ID, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer reader.Close()
		read(reader, yield)
	}
}

// pass yields the events behind a position.
func (r *Replay) pass(reader *journal.Reader, p journal.Position, yield func(journal.Event, error) bool) {
	for e, err := range reader.ScanAfter(p) {
		if !yield(e, err) {
			return
		}
	}
	if torn := reader.Torn(); torn.Bytes > 0 && torn != r.torn {
		r.torn = torn
		r.app.Notice(TornText(r.ID, torn))
	}
	if r.headless != nil {
		yield(journal.Event{}, r.headless)
	}
}

// eventsOf reads what a span needs: when it begins at the number of an event,
// the first event, which says who the members are, and then from the beginning
// of the turn in which the span begins. What lies between is not read.
func (r *Replay) EventsOf(part Span) iter.Seq2[journal.Event, error] {
	if !part.bySeq() {
		return r.Events()
	}
	return r.read(func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		p, err := beginOf(reader, part.From.Seq)
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		if p.Seq > 0 {
			for e, err := range reader.All() {
				if !yield(e, err) || err != nil {
					return
				}
				break
			}
		}
		r.pass(reader, p, yield)
	})
}

// mostOfATurn bounds how far the beginning of a turn is looked for, in events.
const mostOfATurn = 1 << 14

// beginOf is the position in front of an event, or of the turn that goes on
// there.
func beginOf(reader *journal.Reader, seq uint64) (journal.Position, error) {
	p, err := reader.Find(seq)
	if err != nil {
		return p, err
	}
	for e, err := range reader.Before(p) {
		if err != nil || p.Seq-e.Seq > mostOfATurn {
			break
		}
		payload, err := projection.Decode(e)
		if err != nil {
			continue
		}
		switch event := payload.(type) {
		case projection.TurnStarted:
			return reader.Find(e.Seq)
		case projection.TurnEnded:
			return p, nil
		case projection.MessageAppended:
			if event.Message.Speaker.Type == projection.TypeHuman { // nobody's turn goes on behind it
				return p, nil
			}
		}
	}
	return p, nil
}

// tornText says what a crash left behind.
func TornText(id string, t journal.Torn) string {
	readable := ""
	if t.FirstSeq > 0 {
		readable = fmt.Sprintf(", in which events up to %d can be read and do not check", t.LastSeq)
	}
	return fmt.Sprintf("Session %s has %d bytes of an unfinished write at its end (byte %d)%s, as a crash leaves them: they are set aside by the next message.", id, t.Bytes, t.Offset, readable)
}
