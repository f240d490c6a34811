package view

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

func TestSpansOfFlags(t *testing.T) {
	const early, late = "2026-11-21T14:30:00Z", "2026-11-21T14:31:00Z"
	for _, tt := range []struct {
		from, to, at string
		valid        bool
	}{
		{"", "", "", true},
		{"5", "5", "", true}, {"5", "", "6", true}, {"5", "4", "", false}, {"5", "", "4", false},
		{"turn:2", "turn:2", "", true}, {"turn:2", "turn:3", "", true}, {"turn:2", "turn:1", "", false},
		{early, early, "", true}, {early, late, "", true}, {late, early, "", false},
		// Two kinds cannot be compared.
		{"5", "turn:2", "", true}, {"turn:5", "2", "", true}, {"turn:2", "5", "", true},
		{"5", early, "", true}, {early, "5", "", true}, {"turn:5", early, "", true}, {early, "turn:5", "", true},
		{"", "5", "5", false},
		{"0", "", "", false}, {"turn:0", "", "", false}, {"turn:-1", "", "", false}, {"turn:x", "", "", false},
		{"", "yesterday", "", false}, {"-1", "", "", false},
	} {
		if s, err := ParseSpan(tt.from, tt.to, tt.at); (err == nil) != tt.valid {
			t.Errorf("from %q to %q at %q: %+v, %v", tt.from, tt.to, tt.at, s, err)
		}
	}
}

// spanEvents are the events of three turns, a second apart: 3 to 6, 8 to 10, and 11, which does not end.
func spanEvents() []journal.Event {
	var s session
	s.create()
	s.say(mia, "one")
	s.add(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	s.add(projection.TurnText{TurnID: "t1", Text: "reply"})
	s.say(ada, "reply")
	s.add(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done})
	s.say(mia, "two")
	s.add(projection.TurnStarted{TurnID: "t2", MemberID: "ada"})
	s.add(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done}) // of another turn
	s.add(projection.TurnEnded{TurnID: "t2", MemberID: "ada", FinishReason: projection.Done})
	s.add(projection.TurnStarted{TurnID: "t3", MemberID: "ada"})
	return s.events
}

func TestEventsOfSpans(t *testing.T) {
	for _, tt := range []struct {
		from, to    string
		first, last uint64
		events      int // of UpTo
	}{
		{"", "", 1, 0, 11},
		{"1", "1", 1, 1, 1},
		{"3", "5", 3, 5, 5},
		{"11", "12", 11, 12, 11},
		{"turn:1", "turn:1", 3, 6, 6},
		{"turn:2", "turn:2", 8, 10, 10},
		{"turn:3", "turn:3", 11, 11, 11},
		{"turn:4", "turn:4", 0, 0, 11},
		{"2026-11-22T12:00:04Z", "2026-11-22T12:00:04Z", 5, 5, 5},
		{"2026-11-22T12:00:04.5Z", "2026-11-22T12:00:04.5Z", 6, 5, 5},
		{"2026-11-22T12:01:00Z", "2026-11-22T12:01:00Z", 0, 11, 11},
		{"2026-11-22T11:00:00Z", "2026-11-22T11:00:00Z", 1, 0, 0},
	} {
		span, err := ParseSpan(tt.from, tt.to, "")
		if err != nil {
			t.Fatal(err)
		}
		all := projectiontest.Sequence(spanEvents(), nil)
		first, err1 := span.FirstSeq(all)
		last, err2 := span.LastSeq(all)
		events := 0
		for range span.UpTo(all) {
			events++
		}
		if err := errors.Join(err1, err2); err != nil || first != tt.first || last != tt.last || events != tt.events {
			t.Errorf("from %q to %q: %d, %d, %d events, %v, want %d, %d, %d", tt.from, tt.to, first, last, events, err,
				tt.first, tt.last, tt.events)
		}
	}
}

func TestSpanOfEventsThatCannotBeRead(t *testing.T) {
	damaged := errors.New("damaged")
	span, err := ParseSpan("turn:2", "turn:2", "")
	if err != nil {
		t.Fatal(err)
	}
	events := projectiontest.Sequence(spanEvents()[:5], damaged)
	if _, err := span.FirstSeq(events); err != damaged {
		t.Errorf("FirstSeq: %v", err)
	}
	if _, err := span.LastSeq(events); err != damaged {
		t.Errorf("LastSeq: %v", err)
	}
	n := 0
	for _, err = range span.UpTo(events) {
		n++
	}
	if n != 6 || err != damaged {
		t.Errorf("UpTo yields %d events, %v", n, err)
	}
}
