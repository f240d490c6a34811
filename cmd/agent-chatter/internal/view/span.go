package view

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// place is a point of a session as people name it: an event's number, a time,
// or turn:N.
type Place struct {
	Seq  uint64
	time time.Time
	turn int
}

func parsePlace(flag, text string) (Place, error) {
	if number, ok := strings.CutPrefix(text, "turn:"); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			return Place{turn: n}, nil
		}
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		return Place{Seq: n}, nil
	}
	if t, ok := ParseTime(text); ok {
		return Place{time: t}, nil
	}
	return Place{}, app.UsageError("--%s %s: expected the number of an event, a time such as 2026-11-21T14:30:00Z, or turn:3.", flag, tty.SafeLine(text))
}

// parseTime reads a time as people write it, which is their own unless it says
// otherwise.
func ParseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// span is a part of a session; nil ends are open.
type Span struct{ From, To *Place }

// bySeq reports whether it is from one event to another, or to the end, so that
// nothing needs to be counted.
func (s Span) bySeq() bool {
	return s.From != nil && s.From.Seq > 0 && (s.To == nil || s.To.Seq > 0)
}

// parseSpan reads --from, --to and --at, where --at is another word for --to.
func ParseSpan(from, to, at string) (Span, error) {
	if to != "" && at != "" {
		return Span{}, app.UsageError("--at and --to say the same thing: give one of them.")
	}
	last := "to"
	if at != "" {
		last, to = "at", at
	}
	var s Span
	for _, end := range []struct {
		flag, text string
		place      **Place
	}{{"from", from, &s.From}, {last, to, &s.To}} {
		if end.text == "" {
			continue
		}
		p, err := parsePlace(end.flag, end.text)
		if err != nil {
			return Span{}, err
		}
		*end.place = &p
	}
	if s.From != nil && s.To != nil && s.To.before(*s.From) {
		return Span{}, app.UsageError("--to precedes --from.")
	}
	return s, nil
}

// before compares places that are named in the same way; others it does not know.
func (p Place) before(q Place) bool {
	switch {
	case p.Seq > 0 && q.Seq > 0:
		return p.Seq < q.Seq
	case p.turn > 0 && q.turn > 0:
		return p.turn < q.turn
	}
	return !p.time.IsZero() && !q.time.IsZero() && p.time.Before(q.time)
}

// locator tells, event by event, whether a place is reached. Turns are counted
// as they start.
type locator struct {
	turns  int
	turnID string // of the turn that is looked for, once it started
	ended  bool   // and whether it is over
}

// upTo yields the events up to the end of the span.
func (s Span) UpTo(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		var l locator
		for e, err := range events {
			if err == nil && s.To != nil && l.beyond(*s.To, e) {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// beyond reports whether an event comes after the place.
func (l *locator) beyond(p Place, e journal.Event) bool {
	switch {
	case p.Seq > 0:
		return e.Seq > p.Seq
	case p.turn > 0:
		over := l.ended
		l.count(p, e)
		return over
	}
	return e.Time.After(p.time)
}

// reached reports whether an event is at the place or after it.
func (l *locator) reached(p Place, e journal.Event) bool {
	switch {
	case p.Seq > 0:
		return e.Seq >= p.Seq
	case p.turn > 0:
		l.count(p, e)
		return l.turnID != ""
	}
	return !e.Time.Before(p.time)
}

// count follows the turns.
func (l *locator) count(p Place, e journal.Event) {
	payload, err := projection.Decode(e)
	if err != nil {
		return
	}
	switch turn := payload.(type) {
	case projection.TurnStarted:
		if l.turns++; l.turns == p.turn {
			l.turnID = turn.TurnID
		}
	case projection.TurnEnded:
		l.ended = l.ended || l.turnID != "" && turn.TurnID == l.turnID
	}
}

// firstSeq returns the number of the first event of the span; 1 when it is
// open, 0 when nothing reaches it.
func (s Span) FirstSeq(events iter.Seq2[journal.Event, error]) (uint64, error) {
	if s.From == nil {
		return 1, nil
	}
	if s.From.Seq > 0 {
		return s.From.Seq, nil
	}
	var l locator
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		if l.reached(*s.From, e) {
			return e.Seq, nil
		}
	}
	return 0, nil
}
