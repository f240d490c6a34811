package projection_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
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
	task := "Repair it"
	ended := projection.TurnEnded{
		TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 7,
		Usage: &projection.Usage{Input: 5, Output: 6},
	}
	at := created.Add(time.Minute)
	for _, test := range []struct {
		name    string
		records []journal.Record // the first one has Seq 2
		want    []projection.TimelineRow
	}{
		{"a message of a person", []journal.Record{said(mia, "m1", " [NEXT: ada] Why\n\nnot? ")},
			[]projection.TimelineRow{{Seq: 2, End: 2, Message: 2, Member: mia, Text: "Why  not?"}}},
		{"a turn with a message", []journal.Record{
			record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
			record(projection.TurnText{TurnID: "t1", Text: "Half"}),
			said(ada, "m1", "Because"), record(ended),
		}, []projection.TimelineRow{{
			Seq: 2, End: 5, Message: 4, TurnID: "t1", Member: ada, Text: "Because",
			DurationMS: 7, FinishReason: projection.Done, Usage: projection.Usage{Input: 5, Output: 6},
		}}},
		{"a message without a turn", []journal.Record{
			said(ada, "m1", "Hello"),
			record(projection.TurnStarted{TurnID: "t1", MemberID: "bo"}),
			said(ada, "m2", "Bye"),
		},
			[]projection.TimelineRow{
				{Seq: 2, End: 2, Message: 2, Member: ada, Text: "Hello"}, {Seq: 3, End: 3, TurnID: "t1", Member: bo},
				{Seq: 4, End: 4, Message: 4, Member: ada, Text: "Bye"},
			}},
		{"an open turn", []journal.Record{
			record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
			record(projection.TurnText{TurnID: "t1", Text: "\nIt "}),
			record(projection.TurnText{TurnID: "t1", Text: "is"}),
		}, []projection.TimelineRow{{Seq: 2, End: 4, TurnID: "t1", Member: ada, Text: "It is"}}},
		{"a failed turn", []journal.Record{
			record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
			record(
				projection.TurnEnded{
					TurnID: "t1", MemberID: "ada", FinishReason: projection.Failed, Partial: "It is", Error: "lost",
				},
			),
		}, []projection.TimelineRow{{
			Seq: 2, End: 3, TurnID: "t1", Member: ada, Text: "It is", FinishReason: projection.Failed,
		}}},
		{"an end without a start", []journal.Record{record(ended), record(projection.ToolStarted{TurnID: "t9"})},
			[]projection.TimelineRow{{
				Seq: 2, End: 2, TurnID: "t1", Member: ada,
				DurationMS: 7, FinishReason: projection.Done, Usage: projection.Usage{Input: 5, Output: 6},
			}}},
		{"tasks", []journal.Record{
			record(projection.TaskSet{Task: &task}), said(mia, "m1", "a"), record(projection.TaskSet{}),
			said(mia, "m2", "b"),
		}, []projection.TimelineRow{
			{Seq: 3, End: 3, Message: 3, Member: mia, Text: "a", Task: 2},
			{Seq: 5, End: 5, Message: 5, Member: mia, Text: "b"},
		}},
		{"an unknown member", []journal.Record{record(projection.TurnStarted{TurnID: "t1", MemberID: "dan"})},
			[]projection.TimelineRow{{
				Seq: 2, End: 2, TurnID: "t1",
				Member: projection.Speaker{ID: "dan", Name: "dan", DisplayName: "dan", Type: projection.TypeAI},
			}}},
		{
			"unreadable events",
			[]journal.Record{
				{Type: "turn.started", Data: json.RawMessage(`{"turnId":5}`)},
				{Type: "water.poured", Data: json.RawMessage(`{}`)},
			},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := timelineOf(session(t, test.records...)...).Rows
			for i := range test.want {
				test.want[i].Time = at
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
	rapid.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		var continued projection.Timeline
		if err := json.Unmarshal(marshal(t, timelineOf(events[:cut]...)), &continued); err != nil {
			t.Fatal(err)
		}
		for _, e := range events[cut:] {
			continued.Apply(e)
		}
		if diff := cmp.Diff(string(marshal(t, timelineOf(events...))), string(marshal(t, &continued))); diff != "" {
			t.Fatalf("(-at once +in two parts):\n%s", diff)
		}
	})
}

func TestTimelineAgreesWithTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := session(t, anyRecords(t)...)
		state, timeline := fold(events...), timelineOf(events...)
		var got projection.Stats
		for _, r := range timeline.Rows {
			if r.Message > 0 {
				got.Messages++
			}
			if r.FinishReason != "" {
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
	rapid.Check(t, func(t *rapid.T) {
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
		if size := len(marshal(t, r)); size > 20_000 || utf8.RuneCountInString(r.Text) != 80 || len(r.Waiting) > 50 {
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
