package projection_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The bounds of a State.

const (
	mostRecent      = 200
	mostRecentBytes = 1 << 20
	mostTextBytes   = 1 << 20
)

func TestFoldContinuesFromACheckpoint(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		whole := fold(events...)
		resumed := throughJSON(t, fold(events[:cut]...))
		apply(resumed, events[cut:]...)
		same(t, resumed, whole)
	})
}

func TestStateStaysWithinItsBounds(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		var s projection.State
		for _, e := range session(t, anyRecords(t)...) {
			s.Apply(e)
			checkBounds(t, &s)
		}
	})
}

func TestCloneIsIndependentOfTheOriginal(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		original := fold(events[:cut]...)
		before := marshal(t, original)
		clone := original.Clone()
		same(t, clone, original)
		apply(clone, events[cut:]...)
		if diff := cmp.Diff(string(before), string(marshal(t, original))); diff != "" {
			t.Fatalf("the original changed with its clone:\n%s", diff)
		}
		same(t, clone, fold(events...))
	})
}

func TestCloneHasItsOwnToolsAndMembers(t *testing.T) {
	original := fold(session(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u2"}),
	)...)
	before := string(marshal(t, original))
	clone := original.Clone()
	apply(clone, numbered(t,
		record(projection.ToolCompleted{TurnID: "t1", ToolID: "u1"}),
		record(projection.SessionResumed{Changed: []projection.MemberChange{{
			MemberRef: projection.MemberRef{ID: "ada"}, Model: &projection.Change{To: "haiku"},
		}}}),
	)...)
	if diff := cmp.Diff(before, string(marshal(t, original))); diff != "" {
		t.Errorf("the original changed with its clone:\n%s", diff)
	}
	if len(clone.OpenTurns[0].Tools) != 1 || clone.Team.Members[1].Model != "haiku" {
		t.Errorf("the clone has %+v", clone)
	}
}

func TestRecentKeepsTheNewestMessagesThatFit(t *testing.T) {
	for _, test := range []struct {
		name  string
		sizes []int
		want  int // how many of the last messages are kept
	}{
		{"one message of exactly the bound", []int{1 << 20}, 1},
		{"one message over the bound", []int{1<<20 + 1}, 0},
		{"two messages of exactly the bound together", []int{1 << 19, 1 << 19}, 2},
		{"two messages one byte over the bound together", []int{1 << 19, 1<<19 + 1}, 1},
		{"a message of exactly the bound replaces all others", []int{1, 1, 1 << 20}, 1},
		{"a message over the bound replaces all others", []int{1, 1, 1<<20 + 1}, 0},
		{"messages after one over the bound", []int{1, 1<<20 + 1, 1, 1}, 2},
		{"200 messages", sizes(200, 1), 200},
		{"201 messages", sizes(201, 1), 200},
		{"an older short message is not kept after a long one", []int{10, 1 << 20, 10}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var records []journal.Record
			for i, size := range test.sizes {
				records = append(records, said(mia, fmt.Sprint("m", i), strings.Repeat("x", size)))
			}
			s := fold(session(t, records...)...)
			if len(s.Recent) != test.want {
				t.Fatalf("%d messages are kept, not %d", len(s.Recent), test.want)
			}
			for i, entry := range s.Recent {
				if want := fmt.Sprint("m", len(test.sizes)-test.want+i); entry.ID != want {
					t.Errorf("message %d is %s, not %s", i, entry.ID, want)
				}
			}
			if s.Row.MessageCount != len(test.sizes) || s.Stats.Messages != len(test.sizes) {
				t.Errorf("counted %d and %d messages, not %d", s.Row.MessageCount, s.Stats.Messages, len(test.sizes))
			}
		})
	}
}

func TestOpenTurnTextHasNoGaps(t *testing.T) {
	s := fold(session(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: strings.Repeat("x", mostTextBytes-1)}),
		record(projection.TurnText{TurnID: "t1", Text: "壶"}), // does not fit
		record(projection.TurnText{TurnID: "t1", Text: "y"}), // would fit, but would leave a gap
	)...)
	if text := s.OpenTurns[0].Text; strings.HasSuffix(text, "y") || len(text) != mostTextBytes-1 {
		t.Errorf("the text has %d bytes and ends in %q", len(text), text[len(text)-1:])
	}
}

// checkBounds fails if the state exceeds its bounds.

func checkBounds(t rapid.TB, s *projection.State) {
	t.Helper()
	size := 0
	for _, entry := range s.Recent {
		size += len(entry.Content)
	}
	if len(s.Recent) > mostRecent || size > mostRecentBytes {
		t.Fatalf("%d messages with %d bytes are kept", len(s.Recent), size)
	}
	for _, turn := range s.OpenTurns {
		if len(turn.Text) > mostTextBytes {
			t.Fatalf("an open turn keeps %d bytes of text", len(turn.Text))
		}
		if len(turn.Tools) > 100 {
			t.Fatalf("an open turn keeps %d tools", len(turn.Tools))
		}
	}
	if len(s.Unfinished) > 100 {
		t.Fatalf("%d unfinished turns are kept", len(s.Unfinished))
	}
	if len(s.Unknown) > 101 {
		t.Fatalf("%d unknown types are counted", len(s.Unknown))
	}
	if !s.Row.Renamed && utf8.RuneCountInString(s.Row.Title) > 51 {
		t.Fatalf("the title is %s", s.Row.Title)
	}
	if utf8.RuneCountInString(s.Row.Preview) > 53 {
		t.Fatalf("the preview is %s", s.Row.Preview)
	}
}

// anyRecords draws records that may follow session.created, in any order, valid or not.

func anyRecords(t *rapid.T) []journal.Record {
	var records []journal.Record
	large := rapid.IntRange(0, 2).Draw(t, "large texts")
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		text := anyText(t)
		if large > 0 && rapid.IntRange(0, 15).Draw(t, "large") == 0 {
			text, large = largeText(t), large-1
		}
		r, n := anyRecord(t, text), 1
		if len(text) < 100 && rapid.IntRange(0, 30).Draw(t, "burst") == 0 {
			n = rapid.IntRange(2, 250).Draw(t, "burst of")
		}
		for range n {
			records = append(records, r)
		}
	}
	return records
}

func anyRecord(t *rapid.T, text string) journal.Record {
	at := created.Add(time.Duration(rapid.Int64Range(-1e6, 1e9).Draw(t, "µs")) * time.Microsecond)
	turn := rapid.SampledFrom([]string{"t1", "t2", "t3", "t4", "unknown"}).Draw(t, "turn")
	tool := rapid.SampledFrom([]string{"u1", "u2", "u3"}).Draw(t, "tool")
	var p projection.Payload
	switch rapid.IntRange(0, 20).Draw(t, "type") {
	case 0:
		p = projection.SessionResumed{
			CWD:    text,
			Source: rapid.SampledFrom([]*projection.Source{nil, {Path: "/t.json"}}).Draw(t, "source"),
		}
	case 1:
		p = projection.SessionRenamed{Title: text}
	case 2:
		p = projection.SessionPinned{Pinned: rapid.Bool().Draw(t, "pinned")}
	case 3:
		p = projection.SessionEnded{Reason: text}
	case 4:
		p = projection.SessionImported{Source: "x", Taken: 1}
	case 5:
		p = projection.TaskSet{Task: rapid.SampledFrom([]*string{nil, &text}).Draw(t, "task")}
	case 6, 7, 8, 9:
		by := rapid.SampledFrom([]projection.Speaker{mia, ada, bo, {ID: "", Name: "unknown"}}).Draw(t, "by")
		p = projection.NewMessage(
			"m",
			at,
			by,
			text,
			rapid.SampledFrom([]*projection.Routing{nil, {}, to("ada", "carol")}).Draw(t, "to"),
		)
	case 10:
		p = projection.TurnStarted{TurnID: turn, MemberID: "ada", AgentType: "demo", TriggerMessageID: text}
	case 11, 12:
		p = projection.TurnText{TurnID: turn, Text: text}
	case 13:
		p = projection.ToolStarted{TurnID: turn, ToolID: tool, Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
	case 14:
		p = projection.ToolCompleted{TurnID: turn, ToolID: tool, Output: text}
	case 15:
		p = projection.TurnEnded{
			TurnID: turn, MemberID: "ada", FinishReason: rapid.SampledFrom(reasons).Draw(t, "reason"), Partial: text,
			Error: text,
			Usage: rapid.SampledFrom([]*projection.Usage{
				nil, {Input: 3, Output: 4}, {CachedRead: 5, Cost: &projection.Cost{Amount: 0.1, Currency: "USD"}},
			}).Draw(t, "usage"),
		}
	case 16, 17:
		p = projection.PlanUpdated{TurnID: turn, Entries: rapid.SampledFrom([][]projection.PlanEntry{
			{}, {{Content: text, Status: projection.Pending}}, {{Content: "a"}, {Content: "b"}},
		}).Draw(t, "plan")}
	case 18:
		p = projection.JournalRecovered{Recovered: journal.Recovered{Reason: text, Bytes: 5}}
	default:
		return odd(t, at)
	}
	return projection.Record(at, p)
}

// odd draws an event that cannot be decoded or has an unusual payload.

func odd(t *rapid.T, at time.Time) journal.Record {
	r := rapid.SampledFrom([]journal.Record{
		{Type: "water.poured", Data: json.RawMessage(`{"litres":1.5}`)},
		{Type: "kettle.started", Data: json.RawMessage(`{"v":3}`)},
		{Type: "message.appended", Data: json.RawMessage(`{"v":2,"message":{"text":"new"}}`)},
		{Type: "turn.ended", Data: json.RawMessage(`{"v":9}`)},
		{Type: "message.appended", Data: json.RawMessage(`{"message":5}`)},
		{Type: "message.appended", Data: json.RawMessage(`{}`)},
		{Type: "turn.started", Data: json.RawMessage(`{"turnId":[]}`)},
		{Type: "turn.text", Data: json.RawMessage(`{"turnId":null,"text":null}`)},
		{Type: "tool.completed", Data: json.RawMessage(`{"turnId":"t1","toolId":5}`)},
		{Type: "task.set", Data: json.RawMessage(`{"task":{}}`)},
		{Type: "session.created", Data: json.RawMessage(`{"format":2,"sessionId":"again"}`)},
		{Type: "session.created", Data: json.RawMessage(`{"team":{"members":[]}}`)},
		{
			Type: "message.appended",
			Data: json.RawMessage(
				`{"message":{"id":"m","speaker":{"roleId":"r","roleName":"R","type":"human"},` +
					`"routing":{"resolvedAddressees":null}}}`,
			),
		},
	}).Draw(t, "odd")
	if rapid.IntRange(0, 5).Draw(t, "own type") == 0 {
		r = journal.Record{
			Type: "thing." + rapid.StringMatching(`[a-z]{1,2}`).Draw(t, "verb"),
			Data: json.RawMessage(`{}`),
		}
	}
	r.Time = at
	return r
}

var reasons = []projection.FinishReason{
	projection.Done, projection.Failed, projection.Cancelled, projection.TimedOut, projection.Interrupted, "new",
}

func anyText(t *rapid.T) string {
	switch rapid.IntRange(0, 12).Draw(t, "kind of text") {
	case 0:
		return "" // also in titles and partial replies
	case 1:
		return string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
	}
	return rapid.StringN(0, 60, -1).Draw(t, "text")
}

// largeText draws a text about as long as one of the bounds.

func largeText(t *rapid.T) string {
	off := rapid.IntRange(-1, 1).Draw(t, "off")
	switch rapid.IntRange(0, 2).Draw(t, "bound") {
	case 0:
		return strings.Repeat("x", mostRecentBytes+off)
	case 1:
		return strings.Repeat("壶", rapid.SampledFrom([]int{1 << 17, 1 << 18, 1<<20/3 + 1}).Draw(t, "runes"))
	}
	return strings.Repeat("y", 4<<10+off)
}

// The members of the tests, and the time at which their sessions begin.

var (
	created = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	mia     = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada     = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo      = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
	kitchen = projection.Team{ID: "kitchen", Name: "Kitchen", Members: []projection.Member{
		{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI, AgentType: "claude", Model: "opus"},
		{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI, AgentType: "codex"},
	}}
)

// record is an event a minute after the start of the session.

func record(p projection.Payload) journal.Record {
	return projection.Record(created.Add(time.Minute), p)
}

func said(by projection.Speaker, id, content string) journal.Record {
	return record(projection.NewMessage(id, created, by, content, nil))
}

// to is a routing to members, of whom only mia, ada and bo exist.

func to(names ...string) *projection.Routing {
	r := &projection.Routing{RawNextMarkers: names}
	for _, name := range names {
		a := projection.Addressee{Identifier: name}
		if name == "mia" || name == "ada" || name == "bo" {
			a.MemberID, a.MemberName = &name, &name
		}
		r.ResolvedAddressees = append(r.ResolvedAddressees, a)
	}
	return r
}

// session returns the events of a session with these records after session.created.

func session(t rapid.TB, records ...journal.Record) []journal.Event {
	t.Helper()
	first := projection.Record(created, projection.SessionCreated{
		Format: projection.Format, SessionID: "s1", Team: kitchen, CWD: "/home/mia",
		App: projection.App{Name: "test", Version: "1"},
	})
	return numbered(t, append([]journal.Record{first}, records...)...)
}

func numbered(t rapid.TB, records ...journal.Record) []journal.Event {
	t.Helper()
	var at journal.Position
	var events []journal.Event
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		events, at = append(events, e), next
	}
	return events
}

func each(events []journal.Event) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// brokenOff yields the events and then an error.

func brokenOff(events []journal.Event, err error) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e := range each(events) {
			if !yield(e, nil) {
				return
			}
		}
		yield(journal.Event{}, err)
	}
}

func fold(events ...journal.Event) *projection.State {
	s := &projection.State{}
	apply(s, events...)
	return s
}

func apply(s *projection.State, events ...journal.Event) {
	for _, e := range events {
		s.Apply(e)
	}
}

func throughJSON(t rapid.TB, s *projection.State) *projection.State {
	t.Helper()
	var read projection.State
	if err := json.Unmarshal(marshal(t, s), &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

func marshal(t rapid.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same fails if two states differ as JSON.

func same(t rapid.TB, got, want *projection.State) {
	t.Helper()
	if !bytes.Equal(marshal(t, got), marshal(t, want)) {
		t.Fatalf("the states differ (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func sizes(n, size int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = size
	}
	return all
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

func TestCloneHasItsOwnSums(t *testing.T) {
	ended := func(turn, currency string) journal.Record {
		return record(projection.TurnEnded{
			TurnID: turn, MemberID: "ada", FinishReason: projection.Failed, Partial: "of " + turn,
			Usage:        &projection.Usage{Input: 1, Cost: &projection.Cost{Amount: 1, Currency: currency}},
			Instructions: strings.Repeat(turn[1:], 64),
		})
	}
	original := fold(session(t, ended("t1", "USD"), ended("t2", "USD"))...)
	before := string(marshal(t, original))
	first, second := original.Clone(), original.Clone()
	apply(first, numbered(t, ended("t3", "USD"), ended("t4", "EUR"))...)
	want := string(marshal(t, first))
	apply(second, numbered(t, ended("t5", "USD"), ended("t6", "EUR"))...)
	if diff := cmp.Diff(before, string(marshal(t, original))); diff != "" {
		t.Errorf("the original changed with its clone:\n%s", diff)
	}
	if diff := cmp.Diff(want, string(marshal(t, first))); diff != "" {
		t.Errorf("a clone changed with another:\n%s", diff)
	}
}

// The bytes of Recent include the routing.

// Events about the file or the program do not make copies diverge.

func TestPinnedOrSealedCopyDoesNotDiverge(t *testing.T) {
	one, two := said(mia, "m1", "one"), said(ada, "m2", "two")
	original := session(t, one, two)
	for _, p := range everyPayload() {
		r := record(p)
		about := strings.HasPrefix(r.Type, "session.") || strings.HasPrefix(r.Type, "journal.")
		d, err := projection.Diverge(each(original), each(session(t, one, r, two)))
		if same := d.Messages == 2; err != nil || same != about {
			t.Errorf("%s: %d common messages, %v", r.Type, d.Messages, err)
		}
	}
}
