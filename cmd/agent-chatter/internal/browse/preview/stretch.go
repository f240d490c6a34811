package preview

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The bounds of a stretch. After enough bytes, it ends where another one can begin; after mostBytes or mostEvents, also
// between two tool calls; after twice as many, anywhere.
const (
	enough     = 32 << 10
	mostBytes  = 4 << 20
	mostEvents = 4096
)

// A stretch is a run of events.
type stretch struct {
	from, to journal.Position // before the first event and after the last one
	events   []journal.Event
	bytes    int // of their data
}

// endsAt reports whether a stretch of at least some bytes ends before an event, or begins with it.
func (s *stretch) endsAt(e journal.Event, least int) bool {
	size := max(s.bytes/mostBytes, len(s.events)/mostEvents)
	return size >= 2 || size == 1 && e.Type == toolStarted || s.bytes >= least && begins(e)
}

func (s *stretch) add(e journal.Event) {
	s.events = append(s.events, e)
	s.bytes += len(e.Data)
}

// divided reports whether a stretch begins where a turn may be open.
func (s *stretch) divided() bool { return s.from.Seq > 0 && len(s.events) > 0 && !begins(s.events[0]) }

// join appends the stretch that follows.
func (s stretch) join(next stretch) stretch {
	return stretch{s.from, next.to, slices.Concat(s.events, next.events), s.bytes + next.bytes}
}

var (
	turnText        = projection.TypeOf(projection.TurnText{})
	turnEnded       = projection.TypeOf(projection.TurnEnded{})
	toolStarted     = projection.TypeOf(projection.ToolStarted{})
	turnStarted     = projection.TypeOf(projection.TurnStarted{})
	messageAppended = projection.TypeOf(projection.MessageAppended{})
)

// begins reports whether an event can begin a stretch: it starts a turn or is a message of a person, which both end the
// turn that is open before.
func begins(e journal.Event) bool {
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

// before returns the events before a position, back to one at which a stretch begins after least bytes. An error of
// reading ends it early.
func before(ctx context.Context, r *journal.Reader, to journal.Position, least int) (stretch, error) {
	s := stretch{from: to, to: to}
	var err error
	for e, failed := range until(ctx, r.Before(to)) {
		if err = failed; err != nil {
			break
		}
		s.add(e)
		s.from = r.Position()
		if s.endsAt(s.events[len(s.events)-1], least) {
			break
		}
	}
	slices.Reverse(s.events)
	return s, err
}

// after returns the events after a position, up to one that begins another stretch after least bytes. next is that
// event; its Seq is 0 if the journal ends before, or the events up to last unless that is 0. An error of reading ends
// it early.
func after(
	ctx context.Context, r *journal.Reader, from journal.Position, least int, last uint64,
) (s stretch, next journal.Event, err error) {
	s = stretch{from: from, to: from}
	for e, err := range until(ctx, r.ScanAfter(from)) {
		if err != nil {
			return s, next, err
		}
		if last > 0 && e.Seq > last {
			break
		}
		if len(s.events) > 0 && s.endsAt(e, least) {
			return s, e, nil
		}
		e.Data = bytes.Clone(e.Data)
		s.add(e)
		s.to = r.Position()
	}
	return s, next, nil
}

// until yields events until ctx is done, and then its error.
func until(ctx context.Context, events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
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
