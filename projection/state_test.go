package projection_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestUpdatedAtFollowsMessagesTurnsToolsAndTasks(t *testing.T) {
	moves := map[string]bool{
		"session.created": true,
		"task.set":        true, "message.appended": true,
		"turn.started": true, "turn.text": true, "turn.ended": true, "tool.started": true, "tool.completed": true,
		"permission.answered": true, "permission.bypassed": true,
		"agent.attached": true, "agent.compacted": true, "input.received": true, "turn.steered": true, "summary.written": true,
		"session.resumed": false, "session.renamed": false, "session.pinned": false, "session.ended": false,
		"session.imported": false, "member.changed": false, "budget.changed": false, "files.captured": false, "files.changed": false,
		"files.restoring": false, "files.restored": false, "files.dropped": false,
		"worktree.created": false, "worktree.merged": false, "worktree.dropped": false,
		"journal.recovered": false, "journal.sealed": false, "queue.changed": false,
		"plan.updated": true,
	}
	later := created.Add(time.Hour)
	for _, p := range append(everyPayload(), projection.PermissionAnswered{TurnID: "t1"}) {
		r := projection.Record(later, p)
		want, listed := moves[r.Type]
		if !listed {
			t.Errorf("the table has no row for %s", r.Type)
		}
		s := fold(session(t, r)...)
		if got := s.Row.UpdatedAt.Equal(later); got != want {
			t.Errorf("%s: updatedAt moved: %v", r.Type, got)
		}
	}
	for _, r := range []journal.Record{
		{Type: "water.poured", Data: json.RawMessage(`{}`), Time: later},
		{Type: "message.appended", Data: json.RawMessage(`{"message":1}`), Time: later},
	} {
		if s := fold(session(t, r)...); !s.Row.UpdatedAt.Equal(created) {
			t.Errorf("%s %s moved updatedAt", r.Type, r.Data)
		}
	}
}

func TestRoundsCountTurnsSinceTheLastHumanMessage(t *testing.T) {
	ended := func(why projection.FinishReason) journal.Record {
		return record(projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: why})
	}
	for _, test := range []struct {
		name string
		then []journal.Record
		want int
	}{
		{"none yet", nil, 0},
		{"done", []journal.Record{ended(projection.Done), ended(projection.Done)}, 2},
		{"failed and timed out count", []journal.Record{ended(projection.Failed), ended(projection.TimedOut)}, 2},
		{
			"interrupted and cancelled do not",
			[]journal.Record{ended(projection.Interrupted), ended(projection.Cancelled)}, 0,
		},
		{
			"a human message resets the count",
			[]journal.Record{ended(projection.Done), said(mia, "m", "continue"), ended(projection.Done)}, 1,
		},
		{
			"an agent's message does not",
			[]journal.Record{ended(projection.Done), said(ada, "m", "well"), ended(projection.Done)}, 2,
		},
		{
			"a system message does not",
			[]journal.Record{
				ended(projection.Done), said(projection.Speaker{ID: "s", Type: projection.TypeSystem}, "m", "x"),
			},
			1,
		},
		{
			"a running turn does not",
			[]journal.Record{ended(projection.Done), record(projection.TurnStarted{TurnID: "t2"})}, 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fold(session(t, append([]journal.Record{said(mia, "m0", "go")}, test.then...)...)...)
			if s.Stats.Rounds != test.want {
				t.Errorf("%d rounds, not %d", s.Stats.Rounds, test.want)
			}
		})
	}
}

func TestUnknownTypesAreCountedAndSkipped(t *testing.T) {
	s := fold(session(t,
		journal.Record{Type: "water.poured", Data: json.RawMessage(`{}`)},
		said(mia, "m1", "hello"),
		journal.Record{Type: "water.poured", Data: json.RawMessage(`{"v":7}`)},
		journal.Record{Type: "kettle.started", Data: json.RawMessage(`{}`)},
	)...)
	if diff := cmp.Diff(map[string]int{"water.poured": 2, "kettle.started": 1}, s.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Newer || s.Row.Invalid != 0 || s.Row.MessageCount != 1 || s.Seq != 5 {
		t.Errorf("%+v", s)
	}
}

func TestUnknownTypesAreBounded(t *testing.T) {
	var records []journal.Record
	for i := range 150 {
		records = append(
			records,
			journal.Record{Type: fmt.Sprintf("thing.%c%c", 'a'+i/26, 'a'+i%26), Data: json.RawMessage(`{}`)},
		)
	}
	s := fold(session(t, records...)...)
	total := 0
	for _, n := range s.Unknown {
		total += n
	}
	if total != 150 || len(s.Unknown) != 101 || s.Unknown["other"] != 50 {
		t.Errorf("%d events of %d types, %d of them others", total, len(s.Unknown), s.Unknown["other"])
	}
}

func TestNamesOfUnknownTypesAreBoundedUTF8(t *testing.T) {
	var s projection.State
	for _, name := range []string{"\xff", "\xfe", strings.Repeat("壶", 1<<20)} {
		s.Apply(journal.Event{Type: name, Data: json.RawMessage(`{}`)})
	}
	if diff := cmp.Diff(map[string]int{"\uFFFD": 2, strings.Repeat("壶", 33): 1}, s.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	same(t, throughJSON(t, &s), &s)
}

func TestNewerVersionsAreSkippedAndReported(t *testing.T) {
	newFormat := projection.Record(created, projection.SessionCreated{Format: 2, SessionID: "s1", Team: kitchen})
	s := fold(numbered(t, newFormat, said(mia, "m1", "hello"))...)
	if !s.Newer || s.Row.Newer != "2" || s.SessionID != "s1" || s.Row.MessageCount != 1 {
		t.Errorf("format 2: %+v", s)
	}
	newPayload := journal.Record{Type: "message.appended", Data: json.RawMessage(`{"v":2,"message":{"text":"hello"}}`)}
	s = fold(session(t, newPayload, said(mia, "m1", "hello"))...)
	if !s.Newer || s.Row.Newer != "message.appended" || s.Row.MessageCount != 1 || s.Unknown["message.appended"] != 1 {
		t.Errorf("a newer payload: %+v", s)
	}
	if s := fold(session(t, said(mia, "m1", "hello"))...); s.Newer || s.Row.Newer != "" {
		t.Error("what this version wrote is called newer")
	}
}

func TestUndecodablePayloadsAreCounted(t *testing.T) {
	s := fold(session(t,
		journal.Record{Type: "message.appended", Data: json.RawMessage(`{"message":"hello"}`)},
		journal.Record{Type: "turn.ended", Data: json.RawMessage(`{"durationMs":"long"}`)},
	)...)
	if s.Row.Invalid != 2 || s.Row.MessageCount != 0 || s.Stats.Turns != 0 || s.Seq != 3 {
		t.Errorf("%+v", s)
	}
}

func TestStateSummarizesTheSession(t *testing.T) {
	parent, source := &projection.Parent{SessionID: "s0", Seq: 7}, &projection.Source{Path: "/elsewhere/team.json"}
	first := projection.Record(
		created,
		projection.SessionCreated{Format: 1, SessionID: "s1", Team: kitchen, CWD: "/home/mia", Parent: parent},
	)
	usage := &projection.Usage{Input: 100, Output: 20}
	s := fold(numbered(
		t,
		first,
		record(projection.TaskSet{Task: new("Repair it")}),
		said(mia, "m1", "hello"),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"}),
		record(projection.ToolCompleted{TurnID: "t1", ToolID: "u1"}),
		said(ada, "m2", "hi"),
		record(
			projection.TurnEnded{
				TurnID:       "t1",
				MemberID:     "ada",
				FinishReason: projection.Done,
				Usage:        usage,
				Partial:      "h",
			},
		),
		record(projection.SessionEnded{Reason: "exit"}),
		record(projection.SessionResumed{Source: source}),
		record(projection.SessionPinned{Pinned: true}),
		said(ada, "m3", "still here"),
		record(projection.TurnEnded{TurnID: "unknown", FinishReason: projection.Failed, Usage: usage}),
	)...)
	for what, diff := range map[string]string{
		"stats": cmp.Diff(projection.Stats{
			Messages: 3, ByMember: map[string]int{"mia": 1, "ada": 2}, Turns: 2, Rounds: 2, Tools: 1,
			Usage: projection.Totals{Input: 200, Output: 40},
		}, s.Stats),
		"speakers":   cmp.Diff([]projection.Speaker{mia, ada}, s.Speakers),
		"task":       cmp.Diff(new("Repair it"), s.Task),
		"parent":     cmp.Diff(parent, s.Parent),
		"source":     cmp.Diff(source, s.Team.Source),
		"unfinished": cmp.Diff(0, len(s.Unfinished)), // the failed turn did not begin here
		"ended":      cmp.Diff("", s.Row.Ended),
		"pinned":     cmp.Diff(true, s.Row.Pinned),
		"created":    cmp.Diff(created, s.Row.CreatedAt),
		"open":       cmp.Diff(0, len(s.OpenTurns)),
	} {
		if diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestTaskCanBeRemovedAndEmpty(t *testing.T) {
	set, empty, removed := record(
		projection.TaskSet{Task: new("x")},
	), record(
		projection.TaskSet{Task: new("")},
	), record(
		projection.TaskSet{},
	)
	if s := fold(session(t, set, removed)...); s.Task != nil {
		t.Errorf("the removed task is %q", *s.Task)
	}
	if s := throughJSON(t, fold(session(t, set, empty)...)); s.Task == nil || *s.Task != "" {
		t.Error("the empty task is not an empty task")
	}
}

func TestOpenTurnsHaveNoEnd(t *testing.T) {
	s := fold(session(t,
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"}),
		record(projection.TurnStarted{TurnID: "t2", MemberID: "bo"}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash", Input: json.RawMessage(`{}`)}),
		record(projection.ToolStarted{TurnID: "t1", ToolID: "u2", Name: "Edit"}),
		record(projection.TurnText{TurnID: "t1", Text: "It "}),
		record(projection.TurnText{TurnID: "t2", Text: "not mine"}),
		record(projection.TurnText{TurnID: "t1", Text: "is"}),
		record(projection.ToolCompleted{TurnID: "t1", ToolID: "u1"}),
		record(projection.TurnEnded{TurnID: "t2", FinishReason: projection.Done}),
	)...)
	want := []projection.OpenTurn{{
		TurnStarted: projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"},
		StartedAt:   created.Add(time.Minute), Text: "It is", TextBytes: 5,
		Tools: []projection.OpenTool{{ToolID: "u2", Name: "Edit"}},
	}}
	if diff := cmp.Diff(want, s.OpenTurns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOpenTurnKeepsTheStartOfLongText(t *testing.T) {
	chunk := strings.Repeat("壶", 100_000) // 300,000 bytes, and 1 MiB is not a multiple of 3
	records := []journal.Record{record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})}
	for range 5 {
		records = append(records, record(projection.TurnText{TurnID: "t1", Text: chunk}))
	}
	s := fold(session(t, records...)...)
	turn := s.OpenTurns[0]
	if want := strings.Repeat(chunk, 4)[:mostTextBytes-mostTextBytes%3]; turn.Text != want {
		t.Errorf("%d bytes are kept, not the first %d", len(turn.Text), len(want))
	}
	if turn.TextBytes != int64(5*len(chunk)) {
		t.Errorf("TextBytes is %d, not %d", turn.TextBytes, 5*len(chunk))
	}
}

func TestRecentCountsRouting(t *testing.T) {
	for name, routing := range map[string]*projection.Routing{
		"markers": {RawNextMarkers: []string{strings.Repeat("m", 1<<20)}},
		"addressees": {ResolvedAddressees: []projection.Addressee{
			{Identifier: strings.Repeat("a", 1<<19)}, // counted three times, for the id and the name
		}},
	} {
		records := []journal.Record{said(mia, "m1", "x"), record(projection.NewMessage("m2", created, mia, "x", routing))}
		if got := fold(session(t, records...)...).Recent; len(got) != 0 {
			t.Errorf("%s: %d messages are kept", name, len(got))
		}
	}
}

func TestUnfinishedTurnsAreTheLastThatRanTogether(t *testing.T) {
	started := func(turn, member string) journal.Record {
		return record(projection.TurnStarted{
			TurnID: turn, MemberID: member, TriggerMessageID: "for " + turn, Panel: &projection.Panel{ID: "p", Index: 1, Of: 3},
		})
	}
	unfinished := func(member, turn string) projection.UnfinishedTurn {
		return projection.UnfinishedTurn{MemberID: member, TriggerMessageID: "for " + turn, Panel: "p"}
	}
	ended := func(turn, member string, reason projection.FinishReason) journal.Record {
		return record(projection.TurnEnded{TurnID: turn, MemberID: member, FinishReason: reason})
	}
	failed, done := projection.Failed, projection.Done
	two := []journal.Record{
		started("t1", "ada"), started("t2", "bo"), started("t3", "carol"),
		ended("t2", "bo", projection.Cancelled), ended("t3", "carol", done), ended("t1", "ada", failed),
	}
	for _, tt := range []struct {
		name    string
		records []journal.Record
		want    []projection.UnfinishedTurn
	}{
		{"two of three", two, []projection.UnfinishedTurn{unfinished("bo", "t2"), unfinished("ada", "t1")}},
		{"two, and a later turn", append(two, started("t4", "carol"), ended("t4", "carol", done)), nil},
		{
			"a turn again, while another is open",
			[]journal.Record{
				started("t1", "ada"), started("t2", "bo"), ended("t1", "ada", failed), started("t3", "ada"),
				ended("t3", "ada", done), ended("t2", "bo", done),
			},
			nil,
		},
	} {
		s := fold(session(t, tt.records...)...)
		if diff := cmp.Diff(tt.want, s.Unfinished, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
