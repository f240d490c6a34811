package projection_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
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
		said(mia, "m2", "Go on"),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "bo"}),
		record(projection.TurnText{TurnID: "t2", Text: "It is not "}),
		record(projection.TurnText{TurnID: "t2", Text: "plugged"}),
	)
	want := []line{
		{2, false, "m1", mia, "Why?"},
		{5, true, "t1", ada, "Because of"},
		{6, false, "m2", mia, "Go on"},
		{9, true, "t2", bo, "It is not plugged"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplayOmitsTurnsWithoutText(t *testing.T) {
	got := replay(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(projection.TurnText{TurnID: "t1", Text: "It is"}),
		said(ada, "m1", "It is"),
		record(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done}),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "bo"}),
		record(projection.ToolStarted{TurnID: "t2", ToolID: "u1", Name: "Bash"}),
		record(projection.TurnEnded{TurnID: "t3", MemberID: "bo", FinishReason: projection.Cancelled}),
	)
	if diff := cmp.Diff([]line{{4, false, "m1", ada, "It is"}}, got); diff != "" {
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
	rapid.Check(t, func(t *rapid.T) {
		// The last event yields no entry itself.
		events := session(t, append(anyRecords(t), record(projection.SessionPinned{Pinned: true}))...)
		state := fold(events...)
		var want, got []projection.Entry
		for _, turn := range state.OpenTurns {
			if turn.Text != "" {
				entry := projection.Entry{Seq: state.Seq, Partial: true, Message: projection.Message{
					ID: turn.TurnID, Speaker: state.Speaker(turn.MemberID), Content: turn.Text,
				}}
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
				got = append(got, entry)
			}
		}
		// Replay takes the time of tool events that State cannot decode.
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(projection.Message{}, "Timestamp")); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
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
