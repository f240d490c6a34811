package projection_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// line has the fields of an entry that the tests compare.
type line struct {
	Seq     uint64
	Partial bool
	ID      string
	By      projection.Speaker
	Text    string
}

func replay(t *testing.T, records ...journal.Record) []line {
	t.Helper()
	var lines []line
	for entry, err := range projection.Replay(each(session(t, records...))) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line{entry.Seq, entry.Partial, entry.ID, entry.Speaker, entry.Content})
	}
	return lines
}

func TestReplayYieldsPartialRepliesInOrder(t *testing.T) {
	got := replay(
		t,
		said(mia, "m1", "Why?"),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "Because"}),
		record(
			projection.TurnEnded{
				TurnID:       "t1",
				MemberID:     "ada",
				FinishReason: projection.Interrupted,
				Partial:      "Because of",
			},
		),
		said(mia, "m2", "Continue"),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "bo"}),
		record(projection.TurnText{TurnID: "t2", Text: "It is not "}),
		record(projection.TurnText{TurnID: "t2", Text: "plugged"}),
	)
	want := []line{
		{2, false, "m1", mia, "Why?"},
		{5, true, "t1", ada, "Because of"},
		{6, false, "m2", mia, "Continue"},
		{9, true, "t2", bo, "It is not plugged"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplayOmitsTurnsWithoutTextAndSteps(t *testing.T) {
	got := replay(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "It is"}),
		said(ada, "m1", "It is"),
		record(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done}),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "bo"}),
		record(projection.TurnEnded{TurnID: "t3", MemberID: "bo", FinishReason: projection.Cancelled}),
		record(projection.TurnStarted{TurnID: "t4", MemberID: "bo"}),
		record(projection.ToolStarted{TurnID: "t4", ToolID: "u1", Name: "Bash"}),
		record(projection.TurnEnded{TurnID: "t4", MemberID: "bo", FinishReason: projection.Cancelled}),
		record(projection.ToolStarted{TurnID: "t2", ToolID: "u1", Name: "Bash"}),
	)
	if diff := cmp.Diff([]line{{4, false, "m1", ada, "It is"}, {10, true, "t4", bo, ""}, {11, true, "t2", bo, ""}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplayNamesMembersByTeamHistoryOrID(t *testing.T) {
	partial := func(member string) journal.Record {
		return record(
			projection.TurnEnded{TurnID: "t", MemberID: member, FinishReason: projection.Failed, Partial: "x"},
		)
	}
	carol := projection.Speaker{ID: "carol", Name: "carol", DisplayName: "Carol", Type: projection.TypeAI}
	got := replay(t, said(carol, "m1", "I was here"), partial("ada"), partial("carol"), partial("dan"))
	want := []projection.Speaker{
		carol,
		ada,
		carol,
		{ID: "dan", Name: "dan", DisplayName: "dan", Type: projection.TypeAI},
	}
	for i, speaker := range want {
		if got[i].By != speaker {
			t.Errorf("entry %d is by %+v, not %+v", i, got[i].By, speaker)
		}
	}
}

func TestPartialRepliesAreNotMessages(t *testing.T) {
	events := session(
		t,
		said(mia, "m1", "Why?"),
		record(
			projection.TurnEnded{
				TurnID:       "t1",
				MemberID:     "ada",
				FinishReason: projection.Interrupted,
				Partial:      "[NEXT: bo] Because",
			},
		),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t2", Text: "It is"}),
	)
	s := fold(events...)
	if s.Stats.Messages != 1 || s.Row.MessageCount != 1 || len(s.Recent) != 1 || s.Row.LastSpeakerID != "mia" {
		t.Errorf("%+v", s)
	}
	snapshot, err := projection.ReadSnapshot(each(events))
	if err != nil || len(snapshot.Context.Messages) != 1 || snapshot.Metadata.MessageCount != 1 {
		t.Errorf("%+v, %v", snapshot, err)
	}
}

func TestPartialRepliesHaveTimes(t *testing.T) {
	at := created.Add(time.Hour)
	for entry := range projection.Replay(each(session(t,
		projection.Record(
			at, projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Failed, Partial: "x"},
		),
		projection.Record(at, projection.TurnStarted{TurnID: "t2", MemberID: "ada"}),
		projection.Record(at, projection.TurnText{TurnID: "t2", Text: "x"}),
	))) {
		if want := projection.FormatTime(at); entry.Timestamp != want {
			t.Errorf("%s is of %s, not %s", entry.ID, entry.Timestamp, want)
		}
	}
}

func TestUndecodableEventsDoNotChangeTheTimeOfReplies(t *testing.T) {
	for eventType, data := range map[string][]string{
		"turn.text":      {`{"turnId":"t1","text":5}`, `{"text":"x","turnId":5}`},
		"tool.started":   {`{"turnId":"t1","toolId":5}`},
		"tool.completed": {`{"turnId":"t1","toolId":5}`},
		"plan.updated":   {`{"turnId":"t1","entries":5}`},
	} {
		for _, data := range data {
			events := session(t,
				record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
				record(projection.TurnText{TurnID: "t1", Text: "x"}),
				journal.Record{Type: eventType, Data: []byte(data), Time: created.Add(time.Hour)},
			)
			replayed := slices.Collect(func(yield func(projection.Entry) bool) {
				for entry := range projection.Replay(each(events)) {
					yield(entry)
				}
			})
			if diff := cmp.Diff(fold(events...).Newest(), replayed); diff != "" {
				t.Errorf("%s %s (-state +replay):\n%s", eventType, data, diff)
			}
		}
	}
}

func TestReplayEndsWithAnError(t *testing.T) {
	broken := errors.New("damaged")
	events := session(t,
		said(mia, "m1", "hello"),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "x"}),
	)
	n := 0
	var last error
	for _, err := range projection.Replay(brokenOff(events, broken)) {
		n, last = n+1, err
	}
	if n != 2 || last != broken {
		t.Errorf("%d entries, the last with the error %v", n, last)
	}
}

func TestReplayCanStopAtAnyEntry(t *testing.T) {
	events := session(t,
		said(mia, "m1", "hello"),
		record(projection.TurnStarted{TurnID: "t1"}), record(projection.TurnText{TurnID: "t1", Text: "x"}),
		record(projection.TurnStarted{TurnID: "t2"}), record(projection.TurnText{TurnID: "t2", Text: "y"}),
	)
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range projection.Replay(each(events)) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("stopped after %d of %d", n, stop)
		}
	}
}

func TestReplayEndsWithTheOpenTurnsOfTheState(t *testing.T) {
	racetest.SkipSequential(t)
	rapid.Check(t, func(t *rapid.T) {
		// The last event yields no entry itself.
		events := session(t, append(anyRecords(t), record(projection.SessionPinned{Pinned: true}))...)
		state := fold(events...)
		var want, got []projection.Entry
		for _, turn := range state.OpenTurns {
			if turn.Text != "" || len(turn.Steps) > 0 && turn.Message == 0 {
				entry := projection.Entry{Seq: state.Seq, Partial: true, Message: projection.Message{
					ID: turn.TurnID, Timestamp: projection.FormatTime(state.Row.UpdatedAt),
					Speaker: state.Speaker(turn.MemberID), Content: turn.Text,
				}, Steps: turn.Steps}
				if turn.TextBytes > int64(len(turn.Text)) {
					entry.ContentBytes = turn.TextBytes
				}
				want = append(want, entry)
			}
		}
		for entry, err := range projection.Replay(each(events)) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Partial && entry.Seq == state.Seq {
				entry.Steps = entry.Steps[max(0, len(entry.Steps)-100):]
				got = append(got, entry)
			}
		}
		// The steps of a turn whose only step was a plan that the agent has emptied are empty
		// in State, not nil.
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// working returns the records of a turn that speaks, works and speaks, up to its end.
func working() []journal.Record {
	return []journal.Record{
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "I "}),
		record(projection.TurnText{TurnID: "t1", Text: "look. "}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"}),
		record(projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{{Content: "old"}}}),
		record(projection.ToolCompleted{TurnID: "t1", ToolID: "u1", Error: "exit 1"}),
		record(projection.TurnText{TurnID: "t1", Text: "I mend. "}),
		record(projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{{Content: "new"}}}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u2", Name: "Edit"}),
		record(projection.TurnText{TurnID: "t1", Text: "Do"}),
	}
}

func TestStepsKeepTheOrderOfTextAndTools(t *testing.T) {
	ended := func(why projection.FinishReason, partial string) journal.Record {
		return record(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: why, Partial: partial})
	}
	const all = "I look. I mend. Done."
	for _, test := range []struct {
		name    string
		end     []journal.Record
		content string
		at      []int64
	}{
		{"open", nil, "I look. I mend. Do", []int64{8, 16, 16}},
		{"with a message", []journal.Record{said(ada, "m1", all), ended(projection.Done, "")}, all, []int64{8, 16, 16}},
		{"with a message and no end", []journal.Record{said(ada, "m1", all)}, all, []int64{8, 16, 16}},
		{"with a message without a marker", []journal.Record{said(ada, "m1", "I mend.")}, "I mend.", []int64{2, 2, 2}},
		{"failed", []journal.Record{ended(projection.Failed, all)}, all, []int64{8, 16, 16}},
		{"failed with a short text", []journal.Record{ended(projection.Failed, "I look. I")}, "I look. I", []int64{8, 9, 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := session(t, append(working(), test.end...)...)
			var got []projection.Entry
			for entry := range projection.Replay(each(events)) {
				got = append(got, entry)
			}
			if len(got) != 1 || got[0].Content != test.content {
				t.Fatalf("replayed %+v", got)
			}
			want := []projection.Step{
				{Seq: 5, At: test.at[0], ToolID: "u1", Name: "Bash", Ended: true, Error: "exit 1"},
				{Seq: 9, At: test.at[1], Plan: []projection.PlanEntry{{Content: "new"}}},
				{Seq: 10, At: test.at[2], ToolID: "u2", Name: "Edit"},
			}
			if diff := cmp.Diff(want, got[0].Steps); diff != "" {
				t.Errorf("Replay (-want +got):\n%s", diff)
			}
			newest := fold(events...).Newest()
			if diff := cmp.Diff(want, newest[0].Steps); diff != "" {
				t.Errorf("Newest (-want +got):\n%s", diff)
			}
		})
	}
}

// Journals of earlier versions have the text of a turn after the tools that it precedes.
func TestStepsOfEarlierVersionsKeepTheirOrder(t *testing.T) {
	got := replay(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u2", Name: "Edit"}),
		record(projection.TurnText{TurnID: "t1", Text: "I look. "}),
	)
	if len(got) != 1 || got[0].Text != "I look. " {
		t.Errorf("replayed %+v", got)
	}
}

func TestAMessageIsNotRepeatedAsAPartialReply(t *testing.T) {
	records := []journal.Record{
		said(mia, "m1", "Why?"),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "Because."}),
		said(ada, "m2", "Because."),
		record(projection.TurnText{TurnID: "t1", Text: "late"}),
	}
	if got := replay(t, records...); len(got) != 2 || got[1].Text != "Because." {
		t.Errorf("replayed %+v", got)
	}
	s := fold(session(t, records...)...)
	if got := s.Newest(); len(got) != 2 || got[1].Partial || s.OpenTurns[0].Message != 5 || s.OpenTurns[0].Text != "" {
		t.Errorf("%+v", s)
	}
	// Another member's message does not end the reply.
	if got := replay(t, append(records[:3:3], said(mia, "m3", "Hm?"))...); len(got) != 3 || got[2].Text != "Because." {
		t.Errorf("replayed %+v", got)
	}
}

func TestNewestIsTheEndOfReplay(t *testing.T) {
	racetest.SkipSequential(t)
	rapid.Check(t, func(t *rapid.T) {
		events := session(t, append(anyRecords(t), record(projection.SessionPinned{Pinned: true}))...)
		state := fold(events...)
		var replayed []projection.Entry
		for entry, err := range projection.Replay(each(events)) {
			if err != nil {
				t.Fatal(err)
			}
			replayed = append(replayed, entry)
		}
		withSteps := state.Seq + 1 // the first message that has its steps
		if n := len(state.Recent); n > 0 {
			withSteps = state.Recent[max(0, n-10)].Seq
		}
		for i, entry := range state.Newest() {
			at := slices.IndexFunc(replayed, func(e projection.Entry) bool {
				return e.Seq == entry.Seq && e.ID == entry.ID && e.Partial == entry.Partial
			})
			if at < 0 {
				t.Fatalf("entry %d, %+v, is not in the replay", i, entry)
			}
			if !strings.HasPrefix(replayed[at].Content, entry.Content) || entry.Speaker != replayed[at].Speaker {
				t.Fatalf("entry %d is %+v, replayed as %+v", i, entry, replayed[at])
			}
			steps := replayed[at].Steps
			steps = steps[max(0, len(steps)-100):]
			if !entry.Partial && entry.Seq < withSteps {
				steps = nil
			}
			if diff := cmp.Diff(steps, entry.Steps, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("the steps of entry %d (-replayed +kept):\n%s", i, diff)
			}
			replayed = replayed[at+1:]
		}
		if len(replayed) > 0 && !replayed[len(replayed)-1].Partial && len(state.Recent) > 0 {
			t.Fatalf("the state lacks %+v", replayed[len(replayed)-1])
		}
	})
}

func TestPartialRepliesAreBounded(t *testing.T) {
	ended := func(i, size int) journal.Record {
		return record(projection.TurnEnded{
			TurnID: fmt.Sprint("t", i), MemberID: "ada", FinishReason: projection.Failed, Partial: strings.Repeat("x", size),
		})
	}
	for _, test := range []struct {
		name  string
		sizes []int
		want  int // how many of the last ones are kept
	}{
		{"20 replies", sizes(20, 1), 20},
		{"21 replies", sizes(21, 1), 20},
		{"four of the bound", sizes(4, 64<<10), 4},
		{"five of the bound", sizes(5, 64<<10), 4},
		{"a small one before four of the bound", append([]int{1}, sizes(4, 64<<10)...), 4},
		{"four over the bound", sizes(4, 64<<10+1), 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			var records []journal.Record
			for i, size := range test.sizes {
				records = append(records, ended(i, size))
			}
			s := fold(session(t, records...)...)
			if len(s.Partials) != test.want {
				t.Fatalf("%d partial replies are kept, not %d", len(s.Partials), test.want)
			}
			last, size := s.Partials[len(s.Partials)-1], test.sizes[len(test.sizes)-1]
			if want := fmt.Sprint("t", len(test.sizes)-1); last.ID != want || len(last.Content) != min(size, 64<<10) {
				t.Errorf("the last is %s with %d bytes", last.ID, len(last.Content))
			}
			if cut := last.ContentBytes == int64(size); cut != (size > 64<<10) {
				t.Errorf("it claims to have %d of %d bytes", len(last.Content), last.ContentBytes)
			}
		})
	}
}

// Partial replies that are older than all messages of the state are out of its reach.
func TestNewestHasNoGapBeforeItsMessages(t *testing.T) {
	records := []journal.Record{
		record(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Failed, Partial: "first"}),
	}
	for i := range 200 {
		records = append(records, said(mia, fmt.Sprint("m", i), "x"))
	}
	if got := fold(session(t, records...)...).Newest(); len(got) != 201 || !got[0].Partial {
		t.Errorf("%d entries, the first %+v", len(got), got[0])
	}
	records = append(records, said(mia, "m200", "x"))
	if got := fold(session(t, records...)...).Newest(); len(got) != 200 || got[0].ID != "m1" {
		t.Errorf("%d entries, the first %+v", len(got), got[0])
	}
	huge := said(mia, "m201", strings.Repeat("x", 1<<20+1))
	if got := fold(session(t, append(records, huge)...)...).Newest(); len(got) != 0 {
		t.Errorf("%d entries after a message that does not fit", len(got))
	}
}

func TestReplayDropsTheTextOfDroppedTurns(t *testing.T) {
	// The first turn has the text, and is dropped as the oldest of 101 open ones. The
	// others have its id.
	start := record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	records := []journal.Record{start, record(projection.TurnText{TurnID: "t1", Text: "old"})}
	for range 100 {
		records = append(records, start)
	}
	if got := replay(t, records...); got != nil {
		t.Errorf("replayed %+v", got)
	}
	records = append(records, record(projection.TurnText{TurnID: "t1", Text: "new"}))
	if got := replay(t, records...); len(got) != 1 || got[0].Text != "new" {
		t.Errorf("replayed %+v", got)
	}
}

func TestReplayReportsTheLengthOfTruncatedReplies(t *testing.T) {
	for name, last := range map[string][]journal.Record{
		"that ended": {
			record(
				projection.TurnEnded{
					TurnID: "t1", MemberID: "ada", FinishReason: projection.Failed, Partial: "It",
					PartialBytes: 2 << 20,
				},
			),
		},
		"that is open": {record(projection.TurnText{TurnID: "t1", Text: strings.Repeat("x", 2<<20)})},
	} {
		shown := 0
		records := append([]journal.Record{record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})}, last...)
		for entry, err := range projection.Replay(each(session(t, records...))) {
			shown++
			if err != nil || !entry.Partial || entry.ContentBytes != 2<<20 {
				t.Errorf("%s: %d bytes, %v", name, entry.ContentBytes, err)
			}
		}
		if shown != 1 {
			t.Errorf("%s: %d are shown", name, shown)
		}
	}
}

func TestResultsReachOnlyTheNewestSteps(t *testing.T) {
	for others, want := range map[int]bool{99: true, 100: false} {
		records := []journal.Record{
			record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
			record(projection.ToolStarted{TurnID: "t1", ToolID: "old", Name: "Bash"}),
		}
		for range others {
			records = append(records, record(projection.ToolStarted{TurnID: "t1", ToolID: "new"}))
		}
		records = append(records, record(projection.ToolCompleted{TurnID: "t1", ToolID: "old"}), said(ada, "m1", "ok"))
		for entry := range projection.Replay(each(session(t, records...))) {
			if len(entry.Steps) != others+1 || entry.Steps[0].Ended != want {
				t.Errorf("after %d others, the first of %d steps has ended: %v", others, len(entry.Steps), entry.Steps[0].Ended)
			}
		}
	}
}

func TestOpenTurnsWithTheSameIDHaveTheirOwnSteps(t *testing.T) {
	events := session(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1"}),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
	)
	for cut := range events {
		n := 0
		for entry := range projection.ReplayFrom(fold(events[:cut]...), each(events[cut:])) {
			if n++; len(entry.Steps) != 1 {
				t.Errorf("after %d events: %+v", cut, entry)
			}
		}
		if n != 1 {
			t.Errorf("after %d events: %d entries", cut, n)
		}
	}
}
