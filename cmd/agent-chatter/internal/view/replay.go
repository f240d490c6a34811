package view

import (
	"context"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Replay reads the events of a session from its journal, as often as needed. It prints
// a notice about a torn tail, once.
type Replay struct {
	Dir *catalog.Dir
	ID  string

	app     *app.App
	lastSeq uint64 // 0: unknown, the session is damaged
	invalid error  // a *catalog.MissingHeaderError if the journal is intact but not a session
	torn    journal.Torn
}

// OpenReplay returns the Replay of the session with a name, or of the journal at a path.
// It prints a notice if a part of the session may be missing.
func OpenReplay(ctx context.Context, a *app.App, name string) (*Replay, error) {
	s, err := a.FindOrOpen(ctx, name)
	if err != nil {
		return nil, err
	}
	return NewReplay(a, s), nil
}

// NewReplay is OpenReplay for a session that was found already.
func NewReplay(a *app.App, s catalog.Session) *Replay {
	a.ReportFaults(s)
	r := &Replay{Dir: a.Catalog.At(s.Dir()), ID: s.ID, app: a}
	if s.Damaged == "" {
		r.lastSeq = s.LastSeq
	}
	if s.MissingHeader {
		r.invalid = s.HeaderError()
	}
	return r
}

// CheckSpan returns an error if an end of the span is an event or a turn that the session
// does not have. It accepts any event of a damaged session: reading that fails later. Only
// a turn requires reading.
func (r *Replay) CheckSpan(ctx context.Context, s Span) error {
	for _, p := range []*Point{s.From, s.To} {
		point := ""
		switch {
		case p == nil:
		case r.lastSeq > 0 && p.Seq > r.lastSeq:
			point = fmt.Sprint(p.Seq)
		case p.turn > 0:
			state, _, err := r.Dir.Load(ctx, r.ID)
			if err == nil && p.turn > state.Stats.Turns+len(state.OpenTurns) {
				point = fmt.Sprintf("turn:%d", p.turn)
			}
		}
		if point != "" {
			return app.Exit(app.ExitFailed, NotReachedText(r.ID, point))
		}
	}
	return nil
}

// Torn returns the torn tail that was found at the end of the session, if it was read to its end.
func (r *Replay) Torn() journal.Torn { return r.torn }

// Events yields the events of the session. Their Data is valid only until the next event.
// After the events of an intact journal that is not a session, it yields a
// *catalog.MissingHeaderError. When ctx is done, its error ends the sequence.
func (r *Replay) Events(ctx context.Context) iter.Seq2[journal.Event, error] {
	return r.read(ctx, func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		r.scan(reader, journal.Position{}, yield)
	})
}

// EventsFor yields the events that a replay of a span needs. If an event starts the span,
// and an event or nothing ends it, these are the first event, which describes the members,
// and everything from the start of the turn that is open at the span; the events in between
// are not read. Otherwise they are all events.
func (r *Replay) EventsFor(ctx context.Context, s Span) iter.Seq2[journal.Event, error] {
	byEvent := s.From != nil && s.From.Seq > 0 && (s.To == nil || s.To.Seq > 0)
	if !byEvent {
		return r.Events(ctx)
	}
	return r.read(ctx, func(reader *journal.Reader, yield func(journal.Event, error) bool) {
		start, err := reader.Find(s.From.Seq)
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		start = conversation.OpenAt(reader, start)
		if start.Seq > 0 {
			for e, err := range reader.All() {
				if !yield(e, err) || err != nil {
					return
				}
				break
			}
		}
		r.scan(reader, start, yield)
	})
}

func (r *Replay) read(
	ctx context.Context, read func(*journal.Reader, func(journal.Event, error) bool),
) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		reader, err := r.Dir.Journals().Reader(r.ID, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer reader.Close()
		read(reader, func(e journal.Event, err error) bool {
			if err == nil && ctx.Err() != nil {
				yield(journal.Event{}, ctx.Err())
				return false
			}
			return yield(e, err)
		})
	}
}

// scan yields the events after a position and prints a notice about a torn tail.
func (r *Replay) scan(reader *journal.Reader, p journal.Position, yield func(journal.Event, error) bool) {
	for e, err := range reader.ScanAfter(p) {
		if !yield(e, err) {
			return
		}
	}
	if torn := reader.Torn(); torn.Bytes > 0 && torn != r.torn {
		r.torn = torn
		r.app.Notice(TornText(r.ID, torn))
	}
	if r.invalid != nil {
		yield(journal.Event{}, r.invalid)
	}
}

// NotReachedText is for a point that a session does not have.
func NotReachedText(id, point string) app.Message {
	return app.Text("Session %s has no event at %s.", id, tty.SafeLine(point)).
		With(app.To("see its last events", "tail", id))
}

// TornText is for the torn tail of a session.
func TornText(id string, t journal.Torn) string {
	what, meaning := DescribeTorn(t)
	return fmt.Sprintf("Session %s has %s.\n%s", id, what, meaning)
}

// DescribeTorn returns what the torn tail of a session is, without a full stop, and what it means.
func DescribeTorn(t journal.Torn) (what, meaning string) {
	what = fmt.Sprintf("%s of an unfinished write at its end (byte %d)", app.Count(int(t.Bytes), "byte"), t.Offset)
	cause := "A crash leaves such bytes."
	if t.FirstSeq > 0 {
		what += fmt.Sprintf("; events up to %d in them can be read, but are not valid", t.LastSeq)
		cause = "They are left by a crash, or damaged events after the last sync mark."
	}
	return what, cause + " The next message sets them aside."
}
