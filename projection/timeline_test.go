package projection_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
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

func ExampleTimeline() {
	at := time.Date(2026, time.November, 21, 2, 30, 0, 0, time.UTC)
	mia := projection.Speaker{ID: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada := projection.Speaker{ID: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	toAda := &projection.Routing{ResolvedAddressees: []projection.Addressee{{Identifier: "ada", MemberID: &ada.ID}}}
	var timeline projection.Timeline
	for i, p := range []projection.Payload{
		projection.NewMessage("m1", at, mia, "[NEXT: ada] Why does the kettle not boil?", toAda),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"},
		projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"},
		projection.ToolCompleted{TurnID: "t1", ToolID: "u1", Error: "exit status 1"},
		projection.NewMessage("m2", at, ada, "It is not\nplugged in.", nil),
		projection.TurnEnded{
			TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 12_000,
			Usage: &projection.Usage{Input: 900, Output: 40},
		},
	} {
		record := projection.Record(at, p)
		timeline.Apply(journal.Event{Seq: uint64(i + 1), Time: at, Type: record.Type, Data: record.Data})
	}
	for _, r := range timeline.Rows {
		fmt.Printf("%d-%d %s: %s (tools %d, %d failed; %d tokens; %s) waiting %v\n",
			r.Seq, r.End, r.Member.ID, r.Text, r.Tools, r.FailedTools, r.Usage.Output, r.FinishReason, r.Waiting)
	}
	// Output:
	// 1-1 mia: Why does the kettle not boil? (tools 0, 0 failed; 0 tokens; ) waiting [ada]
	// 2-6 ada: It is not plugged in. (tools 1, 1 failed; 40 tokens; done) waiting []
}

func timelineOf(events ...journal.Event) *projection.Timeline {
	t := &projection.Timeline{}
	for _, e := range events {
		t.Apply(e)
	}
	return t
}

func TestTimelineRows(t *testing.T) {
	task := "# Repair *it*"
	ended := projection.TurnEnded{
		TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 7,
		Usage: &projection.Usage{Input: 5, Output: 6, Cost: &projection.Cost{Amount: 0.5, Currency: "USD"}},
	}
	started := record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	at := func(seconds int, p projection.Payload) journal.Record {
		return projection.Record(created.Add(time.Minute+time.Duration(seconds)*time.Second), p)
	}
	imported := projection.SessionImported{Source: "claude", Path: "/old.jsonl", Taken: 1}
	turn, message := projection.RowTurn, projection.RowMessage
	for _, test := range []struct {
		name    string
		records []journal.Record // the first one has Seq 2
		want    []projection.TimelineRow
	}{
		{"a message of a person", []journal.Record{said(mia, "m1", " [NEXT: ada] Why\n\n*not*? ")},
			[]projection.TimelineRow{{Kind: message, Seq: 2, End: 2, Message: 2, Member: mia, Text: "Why not?"}}},
		{"a turn with a message", []journal.Record{
			started, record(projection.TurnText{TurnID: "t1", Text: "Half"}), said(ada, "m1", "Because"), record(ended),
		}, []projection.TimelineRow{{
			Kind: turn, Seq: 2, End: 5, Message: 4, TurnID: "t1", Member: ada, Text: "Because",
			DurationMS: 7, FinishReason: projection.Done, Usage: *ended.Usage,
		}}},
		{"a message without a turn", []journal.Record{
			said(ada, "m1", "Hello"), record(projection.TurnStarted{TurnID: "t1", MemberID: "bo"}),
			said(ada, "m2", "Bye"),
		}, []projection.TimelineRow{
			{Kind: message, Seq: 2, End: 2, Message: 2, Member: ada, Text: "Hello"},
			{Kind: turn, Seq: 3, End: 3, TurnID: "t1", Member: bo},
			{Kind: message, Seq: 4, End: 4, Message: 4, Member: ada, Text: "Bye"},
		}},
		{"a turn that runs", []journal.Record{
			started, record(projection.TurnText{TurnID: "t1", Text: "\nIt "}),
			at(3, projection.TurnText{TurnID: "t1", Text: "*is*"}),
		}, []projection.TimelineRow{{Kind: turn, Seq: 2, End: 4, TurnID: "t1", Member: ada, Text: "It is", DurationMS: 3000}}},
		{"a clock that was set back", []journal.Record{started, at(-3, projection.TurnText{TurnID: "t1"})},
			[]projection.TimelineRow{{Kind: turn, Seq: 2, End: 3, TurnID: "t1", Member: ada}}},
		{"tools, a plan and a permission", []journal.Record{
			started,
			record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"}),
			record(projection.PermissionAnswered{TurnID: "t1", ToolID: "u1", Name: "Bash", By: projection.ByPolicy}),
			record(projection.ToolCompleted{TurnID: "t1", ToolID: "u1", Error: "denied"}),
			record(projection.ToolStarted{TurnID: "t1", ToolID: "u2", Name: "Bash"}),
			record(projection.ToolCompleted{TurnID: "t1", ToolID: "u2", Output: "done"}),
			record(projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{{Content: "a"}}}),
			record(projection.ToolStarted{TurnID: "t9", ToolID: "u3", Name: "Bash"}),
		}, []projection.TimelineRow{{Kind: turn, Seq: 2, End: 8, TurnID: "t1", Member: ada, Tools: 2, FailedTools: 1}}},
		{"two turns of a member at once", []journal.Record{
			started,
			record(projection.TurnStarted{TurnID: "t2", MemberID: "ada"}),
			record(projection.TurnText{TurnID: "t2", Text: "Second"}),
			record(projection.MessageAppended{TurnID: "t1", Message: projection.Message{Speaker: ada, Content: "First"}}),
			record(projection.MessageAppended{TurnID: "t9", Message: projection.Message{Speaker: ada, Content: "Third"}}),
		}, []projection.TimelineRow{
			{Kind: turn, Seq: 2, End: 5, Message: 5, TurnID: "t1", Member: ada, Text: "First"},
			{Kind: turn, Seq: 3, End: 4, TurnID: "t2", Member: ada, Text: "Second"},
			{Kind: message, Seq: 6, End: 6, Message: 6, Member: ada, Text: "Third"},
		}},
		{"waits for a person", []journal.Record{
			started,
			at(5, projection.PermissionAnswered{TurnID: "t1", ToolID: "u1", By: projection.ByPerson, WaitedMS: 3000}),
			at(6, projection.PermissionAnswered{TurnID: "t1", ToolID: "u2", By: projection.ByPerson, WaitedMS: 4000}),
			at(9, projection.PermissionAnswered{TurnID: "t1", ToolID: "u3", By: projection.ByPerson, WaitedMS: 2000}),
			at(11, projection.TurnText{TurnID: "t1", Text: "It"}),
		}, []projection.TimelineRow{{
			Kind: turn, Seq: 2, End: 6, TurnID: "t1", Member: ada, Text: "It", DurationMS: 5000,
		}}},
		{"an end without a start", []journal.Record{record(ended), record(projection.ToolStarted{TurnID: "t1"})},
			[]projection.TimelineRow{{
				Kind: turn, Seq: 2, End: 2, TurnID: "t1", Member: ada,
				DurationMS: 7, FinishReason: projection.Done, Usage: *ended.Usage,
			}}},
		{"tasks", []journal.Record{
			record(projection.TaskSet{Task: &task}), said(mia, "m1", "a"), record(projection.TaskSet{}),
			said(mia, "m2", "b"),
		}, []projection.TimelineRow{
			{Kind: projection.RowTask, Seq: 2, End: 2, Text: "Repair it", Task: 2},
			{Kind: message, Seq: 3, End: 3, Message: 3, Member: mia, Text: "a", Task: 2},
			{Kind: projection.RowTask, Seq: 4, End: 4},
			{Kind: message, Seq: 5, End: 5, Message: 5, Member: mia, Text: "b"},
		}},
		{"a title", []journal.Record{record(projection.SessionRenamed{Title: "The *kettle*\nagain"})},
			[]projection.TimelineRow{{Kind: projection.RowTitle, Seq: 2, End: 2, Text: "The *kettle* again"}}},
		{"an imported session", []journal.Record{said(mia, "m1", "a"), record(imported), said(mia, "m2", "b")},
			[]projection.TimelineRow{
				{Kind: message, Seq: 2, End: 2, Message: 2, Member: mia, Text: "a"},
				{Kind: projection.RowImport, Seq: 3, End: 3, Import: &imported},
				{Kind: message, Seq: 4, End: 4, Message: 4, Member: mia, Text: "b"},
			}},
		{"a fork", []journal.Record{record(projection.SessionCreated{Parent: &projection.Parent{SessionID: "s0", Seq: 7}})},
			[]projection.TimelineRow{{
				Kind: projection.RowFork, Seq: 2, End: 2, Parent: &projection.Parent{SessionID: "s0", Seq: 7},
			}}},
		{"an unknown member", []journal.Record{record(projection.TurnStarted{TurnID: "t1", MemberID: "dan"})},
			[]projection.TimelineRow{{
				Kind: turn, Seq: 2, End: 2, TurnID: "t1",
				Member: projection.Speaker{ID: "dan", Name: "dan", DisplayName: "dan", Type: projection.TypeAI},
			}}},
		{"unreadable events", []journal.Record{
			{Type: "turn.started", Data: json.RawMessage(`{"turnId":5}`)},
			{Type: "water.poured", Data: json.RawMessage(`{}`)},
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := timelineOf(session(t, test.records...)...).Rows
			for i := range test.want {
				test.want[i].Time = created.Add(time.Minute)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimelineHasEveryFinishReason(t *testing.T) {
	for _, reason := range reasons {
		for _, message := range []bool{false, true} {
			records := []journal.Record{
				record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
				record(projection.TurnText{TurnID: "t1", Text: "It"}),
			}
			want := projection.TimelineRow{
				Kind: projection.RowTurn, Seq: 2, End: 4, TurnID: "t1", Member: ada, Time: created.Add(time.Minute),
				Text: "It is", DurationMS: 7, FinishReason: reason,
			}
			if message {
				records = append(records, said(ada, "m1", "It boils"))
				want.End, want.Message, want.Text = 5, 4, "It boils"
			}
			got := timelineOf(session(t, append(records, record(projection.TurnEnded{
				TurnID: "t1", MemberID: "ada", FinishReason: reason, DurationMS: 7, Partial: "It is", Error: "lost",
			}))...)...)
			if diff := cmp.Diff([]projection.TimelineRow{want}, got.Rows); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reason, diff)
			}
			if len(got.Open) > 0 {
				t.Errorf("%s: %+v is open", reason, got.Open)
			}
		}
	}
}

func TestTimelineDerivesTheQueue(t *testing.T) {
	ask := func(by projection.Speaker, names ...string) journal.Record {
		return record(projection.NewMessage("m", created, by, "x", to(names...)))
	}
	start := func(id string) journal.Record {
		return record(projection.TurnStarted{TurnID: "t-" + id, MemberID: id})
	}
	for _, test := range []struct {
		name    string
		records []journal.Record
		want    []string
	}{
		{"addressees wait", []journal.Record{ask(mia, "ada", "bo", "carol")}, []string{"ada", "bo"}},
		{"a turn starts", []journal.Record{ask(mia, "ada", "bo"), start("ada")}, []string{"bo"}},
		{
			"a reply adds to the queue", []journal.Record{ask(mia, "ada", "bo"), start("ada"), ask(ada, "mia")},
			[]string{"bo", "mia"},
		},
		{
			"a person who was next speaks",
			[]journal.Record{ask(mia, "ada"), start("ada"), ask(ada, "mia", "bo"), ask(mia)}, []string{"bo"},
		},
		{"the last one again", []journal.Record{ask(mia, "ada"), ask(mia, "ada")}, []string{"ada"}},
		{
			"a recorded decision",
			[]journal.Record{ask(mia, "ada", "bo"), record(projection.QueueChanged{Waiting: []string{"bo", "ada"}})},
			[]string{"bo", "ada"},
		},
		{
			"an emptied queue",
			[]journal.Record{ask(mia, "ada", "bo"), record(projection.QueueChanged{Waiting: []string{}})}, nil,
		},
		{"a restart", []journal.Record{ask(mia, "ada", "bo"), record(projection.SessionResumed{})}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := timelineOf(session(t, test.records...)...).Waiting
			if strings.Join(got, " ") != strings.Join(test.want, " ") {
				t.Errorf("waiting: %v, want %v", got, test.want)
			}
		})
	}
}

func TestTimelineContinuesAfterAnyEvent(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		original := timelineOf(events[:cut]...)
		before := marshal(t, original)
		stored, clone := &projection.Timeline{}, original.Clone()
		if err := json.Unmarshal(before, stored); err != nil {
			t.Fatal(err)
		}
		for _, e := range events[cut:] {
			stored.Apply(e)
			clone.Apply(e)
		}
		want := string(marshal(t, timelineOf(events...)))
		for name, continued := range map[string]*projection.Timeline{"stored": stored, "clone": clone} {
			if diff := cmp.Diff(want, string(marshal(t, continued))); diff != "" {
				t.Fatalf("(-at once +%s):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff(string(before), string(marshal(t, original))); diff != "" {
			t.Fatalf("the original changed with its clone:\n%s", diff)
		}
	})
}

func TestTimelineThatForgetsHasTheSameRows(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		every := rapid.IntRange(1, 20).Draw(t, "every")
		want, got := timelineOf(events...), &projection.Timeline{}
		var rows []projection.TimelineRow
		for i, e := range events {
			got.Apply(e)
			if i%every == 0 {
				rows = append(rows, got.Rows[:got.Final()]...)
				before := got.Clone()
				got.Forget()
				if len(before.Rows)-before.Final() != len(got.Rows) || got.Final() != 0 || got.First != len(rows) {
					t.Fatalf("%d of %d rows are final, and %d remain after %d",
						before.Final(), len(before.Rows), len(got.Rows), got.First)
				}
			}
		}
		if diff := cmp.Diff(string(marshal(t, want.Rows)), string(marshal(t, append(rows, got.Rows...)))); diff != "" {
			t.Fatalf("(-all +in parts):\n%s", diff)
		}
	})
}

// A turn that nothing ends, as in a damaged journal, does not keep the rows after it from being forgotten.
func TestTimelineForgetsTurnsWithoutAnEnd(t *testing.T) {
	records := []journal.Record{record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})}
	for range 1000 {
		records = append(records, said(mia, "m", "x"))
	}
	timeline := timelineOf(session(t, records...)...)
	if n := timeline.Final(); n != 1001 {
		t.Errorf("%d rows of %d are final", n, len(timeline.Rows))
	}
	if timeline = timelineOf(session(t, records[:1000]...)...); timeline.Final() != 0 {
		t.Errorf("%d rows of %d are final", timeline.Final(), len(timeline.Rows))
	}
}

func TestTimelineRowTakesAFewHundredBytes(t *testing.T) {
	racetest.SkipSequential(t)
	const turns = 5000
	text := strings.Repeat("Nothing boils. ", 50)
	e := func(seq uint64, p projection.Payload) journal.Event {
		r := projection.Record(created, p)
		return journal.Event{Seq: seq, Time: created, Type: r.Type, Data: r.Data}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var timeline projection.Timeline
	for n := range uint64(turns) {
		id := fmt.Sprintf("01KAHAM61B9SDF4W7TZ3%06d", n)
		timeline.Apply(e(5*n+1, projection.NewMessage(id, created, mia, text, to("ada"))))
		timeline.Apply(e(5*n+2, projection.TurnStarted{TurnID: id, MemberID: "ada"}))
		timeline.Apply(e(5*n+3, projection.TurnText{TurnID: id, Text: text}))
		timeline.Apply(e(5*n+4, projection.NewMessage(id, created, ada, text, nil)))
		timeline.Apply(e(5*n+5, projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done}))
	}
	if size := (heap() - before) / uint64(len(timeline.Rows)); len(timeline.Rows) != 2*turns || size > 800 {
		t.Errorf("%d rows take %d bytes each", len(timeline.Rows), size)
	}
	runtime.KeepAlive(&timeline)
}

func TestTimelineAgreesWithTheState(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		state, timeline := fold(events...), timelineOf(events...)
		var got projection.Stats
		for _, r := range timeline.Rows {
			if r.Message > 0 {
				got.Messages++
			}
			if r.Kind == projection.RowTurn && r.FinishReason != "" {
				got.Turns++
			}
			got.Usage.Input += r.Usage.Input
			got.Usage.Output += r.Usage.Output
		}
		want := projection.Stats{
			Messages: state.Stats.Messages,
			Turns:    state.Stats.Turns,
			Usage:    projection.Totals{Input: state.Stats.Usage.Input, Output: state.Stats.Usage.Output},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-state +timeline):\n%s", diff)
		}
		if (state.Task != nil) != (timeline.Task != 0) {
			t.Fatalf("the task is %v, and its event is %d", state.Task, timeline.Task)
		}
	})
}

func TestTimelineRowsDescribeTheirEvents(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		rows := timelineOf(events...).Rows
		var last uint64
		for _, r := range rows {
			if r.Seq <= last || r.End < r.Seq || r.End > uint64(len(events)) ||
				r.Message > 0 && (r.Message < r.Seq || r.Message > r.End) {
				t.Fatalf("row %+v after an event %d", r, last)
			}
			if r.Message > 0 && events[r.Message-1].Type != "message.appended" {
				t.Fatalf("event %d is not a message", r.Message)
			}
			last = r.Seq
		}
		if len(rows) == 0 {
			return
		}
		r := rapid.SampledFrom(rows).Draw(t, "row")
		at := timelineOf(events[:r.End]...)
		if at.Task != r.Task || !reflect.DeepEqual(at.Waiting, r.Waiting) {
			t.Fatalf("at %d the task is %d, waiting %v; the row has %+v", r.End, at.Task, at.Waiting, r)
		}
		if task := fold(events[:r.End]...).Task; r.Task > 0 {
			p, err := projection.Decode(events[r.Task-1])
			if err != nil || *p.(projection.TaskSet).Task != *task {
				t.Fatalf("event %d is not the task %q: %+v, %v", r.Task, *task, p, err)
			}
		}
	})
}

func TestTimelineRowIsBounded(t *testing.T) {
	long := strings.Repeat("壶", 1<<10)
	speaker := projection.Speaker{ID: long, Name: long, DisplayName: long, Type: long}
	everyone := &projection.Routing{}
	for i := range 100 {
		id := fmt.Sprint(long, i%60)
		everyone.ResolvedAddressees = append(
			everyone.ResolvedAddressees,
			projection.Addressee{MemberID: &id},
			projection.Addressee{MemberID: &speaker.ID},
		)
	}
	timeline := timelineOf(session(
		t,
		record(projection.NewMessage(long, created, speaker, long, everyone)),
		record(projection.TurnStarted{TurnID: long, MemberID: long}),
		record(projection.TurnText{TurnID: long, Text: long}),
		record(
			projection.TurnEnded{
				TurnID:       long,
				MemberID:     long,
				FinishReason: projection.FinishReason(long),
				Partial:      long,
				Error:        long,
			},
		),
	)...)
	if len(timeline.Rows) != 2 {
		t.Fatalf("%d rows", len(timeline.Rows))
	}
	for _, r := range timeline.Rows {
		if size := len(marshal(t, r)); size > 20_000 || utf8.RuneCountInString(r.Text) != 160 || len(r.Waiting) > 50 {
			t.Errorf(
				"the row has %d bytes, %d of %d bytes waiting, a text of %d",
				size,
				len(r.Waiting),
				len(fmt.Sprint(r.Waiting)),
				len(r.Text),
			)
		}
	}
	for _, m := range timeline.Members {
		for _, field := range []string{m.ID, m.Name, m.DisplayName, m.Type} {
			if len(field) > 200 {
				t.Errorf("a member has a field of %d bytes", len(field))
			}
		}
	}
}
