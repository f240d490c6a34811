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
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Span is a part of a session, both ends included. A nil end is open: the zero Span
// is the whole session.
type Span struct{ From, To *Point }

// A Point is a place in a session: an event, a time or a turn.
type Point struct {
	Seq  uint64 // of the event; 0: a time or a turn
	time time.Time
	turn int // 1 is the first turn of an agent
}

// ParseSpan reads the flags --from, --to and --at; "" is a missing flag. --at is another
// name of --to.
func ParseSpan(from, to, at string) (Span, error) {
	if to != "" && at != "" {
		return Span{}, app.UsageError("--at and --to mean the same: use one of them.")
	}
	toFlag := "to"
	if at != "" {
		toFlag, to = "at", at
	}
	var s Span
	for _, end := range []struct {
		flag, text string
		point      **Point
	}{{"from", from, &s.From}, {toFlag, to, &s.To}} {
		if end.text == "" {
			continue
		}
		p, ok := parsePoint(end.text)
		if !ok {
			return Span{}, app.UsageError(
				"--%s %s: expected the number of an event, a time such as 2026-11-21T14:30:00Z, or turn:3.",
				end.flag, tty.SafeLine(end.text))
		}
		*end.point = &p
	}
	if s.From != nil && s.To != nil && s.To.before(*s.From) {
		return Span{}, app.UsageError("--to precedes --from.")
	}
	return s, nil
}

// UpToPoint returns the part of a session up to a point: the number of an event, a time or a turn. ok is false if the
// text is none.
func UpToPoint(text string) (s Span, ok bool) {
	p, ok := parsePoint(text)
	return Span{To: &p}, ok
}

func parsePoint(text string) (Point, bool) {
	if number, ok := strings.CutPrefix(text, "turn:"); ok {
		n, err := strconv.Atoi(number)
		return Point{turn: n}, err == nil && n > 0
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
		return Point{Seq: n}, true
	}
	t, ok := ParseTime(text)
	return Point{time: t}, ok
}

// ParseTime reads a date or a time. It is local unless it has an offset.
func ParseTime(text string) (t time.Time, ok bool) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// before reports whether p precedes q. Points of two kinds cannot be compared: then it is
// false, as nothing precedes the zero value that the other kind has.
func (p Point) before(q Point) bool {
	switch {
	case p.Seq > 0:
		return p.Seq < q.Seq
	case p.turn > 0:
		return p.turn < q.turn
	}
	return p.time.Before(q.time)
}

// FirstSeq returns the number of the first event in the span, and 0 if the events end
// before it. An open start is event 1.
func (s Span) FirstSeq(events iter.Seq2[journal.Event, error]) (uint64, error) {
	if s.From == nil {
		return 1, nil
	}
	if s.From.Seq > 0 {
		return s.From.Seq, nil
	}
	l := locator{point: *s.From}
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		if l.reached(e) {
			return e.Seq, nil
		}
	}
	return 0, nil
}

// LastSeq returns the number of the last event in the span. It returns 0 if the end is
// open, if it precedes the first event, or if it is a turn that the session does not have.
func (s Span) LastSeq(events iter.Seq2[journal.Event, error]) (uint64, error) {
	if s.To == nil {
		return 0, nil
	}
	if s.To.Seq > 0 {
		return s.To.Seq, nil
	}
	l := locator{point: *s.To}
	var last uint64
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		if l.passed(e) {
			return last, nil
		}
		last = e.Seq
	}
	if s.To.turn > l.turns {
		return 0, nil
	}
	return last, nil
}

// UpTo yields the events up to the end of the span, and nothing after an error. It does
// not skip the events before the span.
func (s Span) UpTo(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	if s.To == nil {
		return events
	}
	return func(yield func(journal.Event, error) bool) {
		l := locator{point: *s.To}
		for e, err := range events {
			if err == nil && l.passed(e) || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// A locator finds a point in a sequence of events. Each event is passed to one of its
// methods, once and in order.
type locator struct {
	point  Point
	turns  int    // started so far
	turnID string // of the turn at the point, once it has started
	ended  bool   // that turn
}

// reached reports whether an event is at the point or after it.
func (l *locator) reached(e journal.Event) bool {
	switch {
	case l.point.Seq > 0:
		return e.Seq >= l.point.Seq
	case l.point.turn > 0:
		l.countTurns(e)
		return l.turnID != ""
	}
	return !e.Time.Before(l.point.time)
}

// passed reports whether an event is after the point. A turn ends with its turn.ended, or with what its agent changed
// in files, which follows that.
func (l *locator) passed(e journal.Event) bool {
	switch {
	case l.point.Seq > 0:
		return e.Seq > l.point.Seq
	case l.point.turn > 0:
		passed := l.ended && !l.isFiles(e)
		l.countTurns(e)
		return passed
	}
	return e.Time.After(l.point.time)
}

// isFiles reports whether an event has the files after the turn at the point.
func (l *locator) isFiles(e journal.Event) bool {
	switch e.Type {
	case filesCaptured, filesChanged:
		switch p := projection.DecodeEvent(e).Payload.(type) {
		case projection.FilesCaptured:
			return p.TurnID == l.turnID
		case projection.FilesChanged:
			return p.TurnID == l.turnID
		}
	}
	return false
}

func (l *locator) countTurns(e journal.Event) {
	if e.Type != turnStarted && e.Type != turnEnded {
		return
	}
	switch d := conversation.Alone(projection.DecodeEvent(e)).(type) {
	case conversation.Began:
		if l.turns++; l.turns == l.point.turn {
			l.turnID = d.Turn.ID
		}
	case conversation.Ended:
		l.ended = l.ended || l.turnID != "" && d.Turn.ID == l.turnID
	}
}

var (
	turnStarted = projection.TypeOf(projection.TurnStarted{})
	turnEnded   = projection.TypeOf(projection.TurnEnded{})

	filesCaptured = projection.TypeOf(projection.FilesCaptured{})
	filesChanged  = projection.TypeOf(projection.FilesChanged{})
)
