package stretch

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The bounds of a stretch. After Enough bytes, it ends where another one can begin; after MostBytes or MostEvents, also
// between two tool calls; after twice as many, anywhere.
const (
	Enough     = 32 << 10
	MostBytes  = 4 << 20
	MostEvents = 4096
)

// A Stretch is a run of events.
type Stretch struct {
	From, To journal.Position // before the first event and after the last one
	Events   []journal.Event
	Bytes    int // of their data
}

// EndsAt reports whether a stretch of at least some bytes ends before an event, or begins with it.
func (s *Stretch) EndsAt(e journal.Event, least int) bool {
	size := max(s.Bytes/MostBytes, len(s.Events)/MostEvents)
	return size >= 2 || size == 1 && e.Type == toolStarted || s.Bytes >= least && Begins(e)
}

// Add appends an event.
func (s *Stretch) Add(e journal.Event) {
	s.Events = append(s.Events, e)
	s.Bytes += len(e.Data)
}

// Divided reports whether a stretch begins where a turn may be open.
func (s *Stretch) Divided() bool { return s.From.Seq > 0 && len(s.Events) > 0 && !Begins(s.Events[0]) }

// Join appends the stretch that follows.
func (s Stretch) Join(next Stretch) Stretch {
	return Stretch{s.From, next.To, slices.Concat(s.Events, next.Events), s.Bytes + next.Bytes}
}

var (
	toolStarted     = projection.TypeOf(projection.ToolStarted{})
	turnStarted     = projection.TypeOf(projection.TurnStarted{})
	messageAppended = projection.TypeOf(projection.MessageAppended{})
)

// Begins reports whether an event can begin a stretch: it starts a turn or is a message of a person, which both end the
// turn that is open before.
func Begins(e journal.Event) bool {
	if e.Type != turnStarted && e.Type != messageAppended {
		return false
	}
	payload, err := projection.Decode(e)
	if err != nil {
		return false
	}
	p, said := payload.(projection.MessageAppended)
	return !said || p.Message.Speaker.Type == projection.TypeHuman
}

// Before returns the events before a position, back to one at which a stretch begins after least bytes. An error of
// reading ends it early.
func Before(ctx context.Context, r *journal.Reader, to journal.Position, least int) (Stretch, error) {
	s := Stretch{From: to, To: to}
	var err error
	for e, failed := range Until(ctx, r.Before(to)) {
		if err = failed; err != nil {
			break
		}
		s.Add(e)
		s.From = r.Position()
		if s.EndsAt(s.Events[len(s.Events)-1], least) {
			break
		}
	}
	slices.Reverse(s.Events)
	return s, err
}

// After returns the events after a position, up to one that begins another stretch after least bytes. next is that
// event; its Seq is 0 if the journal ends before, or the events up to last unless that is 0. An error of reading ends
// it early.
func After(
	ctx context.Context, r *journal.Reader, from journal.Position, least int, last uint64,
) (s Stretch, next journal.Event, err error) {
	s = Stretch{From: from, To: from}
	for e, err := range Until(ctx, r.ScanAfter(from)) {
		if err != nil {
			return s, next, err
		}
		if last > 0 && e.Seq > last {
			break
		}
		if len(s.Events) > 0 && s.EndsAt(e, least) {
			return s, e, nil
		}
		e.Data = bytes.Clone(e.Data)
		s.Add(e)
		s.To = r.Position()
	}
	return s, next, nil
}

// End returns the position after the last event that can be read, the torn tail, and why no more can be read. known is
// a position that may be near it; zero: none is known.
func End(r *journal.Reader, known journal.Position) (end journal.Position, torn journal.Torn, err error) {
	if end = known; end.Seq > 0 && r.Holds(end) {
		bytes := 0
		for e, err := range r.ScanAfter(end) {
			if err != nil {
				return end, torn, err
			}
			if bytes += len(e.Data); bytes > MostBytes {
				break
			}
			end = r.Position()
		}
		if bytes <= MostBytes {
			return end, r.Torn(), nil
		}
	}
	if end, err = r.End(); err == nil {
		return end, r.Torn(), nil
	}
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		if end, failed := r.Find(uint64(corrupt.Line)); failed == nil {
			return end, torn, err
		}
	}
	return journal.Position{}, torn, err
}

// Until yields events until ctx is done, and then its error.
func Until(ctx context.Context, events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// All yields the events. Their Data remains valid.
func (s Stretch) All() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range s.Events {
			if !yield(e, nil) {
				return
			}
		}
	}
}
