package conversation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

var (
	mia = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

// began is the time of the first event of a session; each event is a second after the one before.
var began = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)

// session returns events with payloads, after the start of a session with a team.
func session(payloads ...projection.Payload) (events []projection.Event) {
	created := projection.SessionCreated{Format: 1, SessionID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
	for _, s := range []projection.Speaker{mia, ada, bo} {
		created.Team.Members = append(created.Team.Members, projection.Member{
			ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type,
		})
	}
	for i, p := range append([]projection.Payload{created}, payloads...) {
		at := began.Add(time.Duration(i) * time.Second)
		r := projection.Record(at, p)
		events = append(events, projection.DecodeEvent(journal.Event{
			Seq: uint64(i + 1), Time: at, Type: r.Type, Data: r.Data,
		}))
	}
	return events
}

func said(by projection.Speaker, text string) projection.MessageAppended {
	return projection.NewMessage("m-"+text, began, by, text, nil)
}

func start(turn string, by projection.Speaker) projection.TurnStarted {
	return projection.TurnStarted{TurnID: turn, MemberID: by.ID, AgentType: "demo"}
}

func text(turn, text string) projection.TurnText {
	return projection.TurnText{TurnID: turn, Text: text}
}

func call(turn, tool string) projection.ToolStarted {
	return projection.ToolStarted{TurnID: turn, ToolID: tool, Name: "Bash"}
}

func result(turn, tool string) projection.ToolCompleted {
	return projection.ToolCompleted{TurnID: turn, ToolID: tool, Output: "done"}
}

func end(turn string, by projection.Speaker) projection.TurnEnded {
	return projection.TurnEnded{TurnID: turn, MemberID: by.ID, FinishReason: projection.Done}
}

// shown returns deltas in short.
func shown(deltas []conversation.Delta) (lines []string) {
	for _, d := range deltas {
		switch d := d.(type) {
		case conversation.Began:
			lines = append(lines, d.Turn.Speaker.ID+" begins")
		case conversation.Text:
			lines = append(lines, fmt.Sprintf("%s %q", d.Turn.Speaker.ID, d.Text))
		case conversation.Called:
			lines = append(lines, d.Turn.Speaker.ID+" calls "+d.Call.Started.ToolID)
		case conversation.Permitted:
			lines = append(lines, fmt.Sprintf("%s may use %s: %v", d.Turn.Speaker.ID, d.Answer.ToolID, d.Answer.Allowed))
		case conversation.Completed:
			lines = append(lines, fmt.Sprintf("%s has %s: %s", d.Turn.Speaker.ID, d.Call.Started.ToolID, d.Call.State()))
		case conversation.Planned:
			lines = append(lines, d.Turn.Speaker.ID+" plans")
		case conversation.Replied:
			lines = append(lines, fmt.Sprintf("%s replied, rest %q, whole %v", d.Turn.Speaker.ID, d.Rest, d.Whole))
		case conversation.Ended:
			lines = append(lines, fmt.Sprintf("%s ends, rest %q, %d open calls, finished %v", d.Turn.Speaker.ID, d.Rest,
				len(d.Open), d.End != nil))
		case conversation.Steered:
			lines = append(lines, fmt.Sprintf("%s takes %s", d.Turn.Speaker.ID, d.MessageID))
		case conversation.Said:
			lines = append(lines, fmt.Sprintf("%s said %q", d.Message.Speaker.ID, d.Message.Content))
		}
	}
	return lines
}

func deltasOf(c *conversation.Conversation, events []projection.Event) (deltas []conversation.Delta) {
	for _, e := range events {
		deltas = append(deltas, c.Apply(e)...)
	}
	return append(deltas, c.Close()...)
}

func TestTwoOpenTurns(t *testing.T) {
	events := session(said(mia, "go"), start("t1", ada), start("t2", bo), text("t1", "A1 "), text("t2", "B1"),
		call("t2", "u1"), text("t1", "A2"), result("t2", "u1"), said(bo, "B1"), end("t2", bo), said(ada, "A1 A2"), end("t1", ada))
	deltas := deltasOf(new(conversation.Conversation), events)
	inOrder := []string{
		`mia said "go"`, `ada begins`, `bo begins`, `ada "A1"`, `bo "B1"`, `bo calls u1`, `ada " A2"`, `bo has u1: ok`,
		`bo replied, rest "", whole false`, `bo ends, rest "", 0 open calls, finished true`,
		`ada replied, rest "", whole false`, `ada ends, rest "", 0 open calls, finished true`,
	}
	if diff := cmp.Diff(inOrder, shown(deltas)); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
	var s conversation.Sequence
	var sequenced []conversation.Delta
	for _, d := range deltas {
		sequenced = append(sequenced, s.Next([]conversation.Delta{d})...)
	}
	oneByOne := []string{
		`mia said "go"`, `ada begins`, `ada "A1"`, `ada " A2"`, `ada replied, rest "", whole false`,
		`ada ends, rest "", 0 open calls, finished true`, `bo begins`, `bo "B1"`, `bo calls u1`, `bo has u1: ok`,
		`bo replied, rest "", whole false`, `bo ends, rest "", 0 open calls, finished true`,
	}
	if diff := cmp.Diff(oneByOne, shown(sequenced)); diff != "" {
		t.Errorf("in sequence (-want +got):\n%s", diff)
	}
	var items conversation.Items
	for _, d := range deltas {
		items.Add(d)
	}
	var texts []string
	for _, i := range items.Take() {
		texts = append(texts, fmt.Sprintf("%s %d-%d %q, %d steps", i.Speaker.ID, i.First, i.Last, i.Text, len(i.Steps)))
	}
	want := []string{`mia 2-2 "go", 0 steps`, `ada 3-13 "A1 A2", 0 steps`, `bo 4-11 "B1", 1 steps`}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestSequenceKeepsTheOrderOfWhatWaits(t *testing.T) {
	cy := projection.Speaker{ID: "cy"}
	events := session(start("t1", ada), start("t2", bo), start("t3", cy), end("t2", bo), text("t3", "C"), said(mia, "and"),
		end("t1", ada))
	ends := `%s ends, rest "", 0 open calls, finished %v`
	want := []string{"ada begins", fmt.Sprintf(ends, "ada", true), "bo begins", fmt.Sprintf(ends, "bo", true),
		"cy begins", `cy "C"`, fmt.Sprintf(ends, "cy", false), `mia said "and"`}
	var s conversation.Sequence
	if diff := cmp.Diff(want, shown(s.Next(deltasOf(new(conversation.Conversation), events)))); diff != "" {
		t.Errorf("in sequence (-want +got):\n%s", diff)
	}
}

func TestSequenceShowsAMessageWhenItIsTaken(t *testing.T) {
	steered := projection.TurnSteered{TurnID: "t1", MessageID: "m2"}
	events := session(start("t1", ada), text("t1", "A"), projection.NewMessage("m1", time.Time{}, mia, "so", nil),
		projection.NewMessage("m2", time.Time{}, mia, "and", nil), steered, text("t1", "B"), end("t1", ada))
	want := []string{"ada begins", `ada "A"`, `mia said "and"`, "ada takes m2", `ada "B"`,
		`ada ends, rest "", 0 open calls, finished true`, `mia said "so"`}
	var s conversation.Sequence
	deltas := deltasOf(new(conversation.Conversation), events)
	if diff := cmp.Diff(want, shown(s.Next(deltas))); diff != "" {
		t.Errorf("in sequence (-want +got):\n%s", diff)
	}
	if s.Next(deltas[:5]); len(s.Waiting()) != 2 {
		t.Errorf("%v waits", s.Waiting())
	}
}

func TestTurnsWithoutEndsAreOver(t *testing.T) {
	unfinished := `ada ends, rest "", 0 open calls, finished false`
	for _, test := range []struct {
		name  string
		after []projection.Payload
		want  string
	}{
		{"the member starts another turn", []projection.Payload{start("t2", ada)}, unfinished},
		{"another member starts a turn", []projection.Payload{start("t2", bo)}, "bo begins"},
		{"a person speaks", []projection.Payload{said(mia, "and")}, `mia said "and"`},
		{"a person speaks after its message", []projection.Payload{said(ada, "A"), said(mia, "and")}, unfinished},
		{"a person speaks in a later run", []projection.Payload{projection.SessionResumed{}, said(mia, "and")}, unfinished},
		{"another member starts a turn in a later run", []projection.Payload{projection.SessionResumed{}, start("t2", bo)}, unfinished},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c conversation.Conversation
			events := session(append([]projection.Payload{start("t1", ada), text("t1", "A")}, test.after...)...)
			var last []string
			for _, e := range events {
				last = shown(c.Apply(e))
			}
			if last[0] != test.want {
				t.Errorf("got %q, want %q first", last, test.want)
			}
		})
	}
}

func TestUnfinishedItemsEndWithTheirOwnEvents(t *testing.T) {
	events := session(start("t1", ada), text("t1", "A"), said(mia, "go"), start("t2", ada), text("t2", "B"))
	var chunk conversation.Chunk
	for _, e := range events {
		chunk.Add(e)
	}
	var got []string
	for _, i := range chunk.Items(nil) {
		got = append(got, fmt.Sprintf("%s %d-%d open %v", i.Speaker.ID, i.First, i.Last, i.Open))
	}
	if diff := cmp.Diff([]string{"ada 2-3 open false", "mia 4-4 open false", "ada 5-6 open true"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A chunk ends before the event that shows that one of its turns is over.
func TestFollowOpenFindsTurnsThatAreOver(t *testing.T) {
	events := session(start("t1", ada), text("t1", "A"), start("t2", bo), said(mia, "go"), start("t3", ada), end("t3", ada), said(mia, "on"))
	dir := t.TempDir()
	var lines []byte
	var at journal.Position
	for _, e := range events {
		next, after, err := at.Next(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
		if err != nil {
			t.Fatal(err)
		}
		at, lines = after, append(append(lines, next.Line()...), '\n')
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := journal.NewDir(dir, journal.Options{}).Reader("s", journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	to, err := r.Find(5)
	if err != nil {
		t.Fatal(err)
	}
	c, err := conversation.Before(t.Context(), r, to, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c.FollowOpen(t.Context(), r)
	var got []string
	for _, i := range c.Items(nil) {
		got = append(got, fmt.Sprintf("%s %d-%d open %v", i.Speaker.ID, i.First, i.Last, i.Open))
	}
	if diff := cmp.Diff([]string{"ada 2-3 open false", "bo 4-4 open true"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestToolsAfterTheMessageAreSteps(t *testing.T) {
	events := session(said(mia, "write"), start("t1", ada), said(ada, "I write."), call("t1", "u1"), result("t1", "u1"), end("t1", ada))
	var raw []journal.Event
	for _, e := range events {
		raw = append(raw, e.Event)
	}
	var entries []projection.Entry
	for i, err := range new(conversation.Conversation).Read(projection.Brief(each(raw))) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := i.Entry(); ok {
			entries = append(entries, e)
		}
	}
	if len(entries) != 2 || len(entries[1].Steps) != 1 || entries[1].Steps[0].At != int64(len("I write.")) || !entries[1].Steps[0].Ended {
		t.Errorf("entries %+v", entries)
	}
}

func each(events []journal.Event) func(func(journal.Event, error) bool) {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestTimesExcludeTheWaitForAPerson(t *testing.T) {
	answer := projection.PermissionAnswered{TurnID: "t1", ToolID: "u1", Name: "Bash", Allowed: true, By: projection.ByPerson}
	refusal := answer
	refusal.ToolID, refusal.Allowed = "u2", false
	events := session(start("t1", ada), call("t1", "u1"), text("t1", "x"), answer, result("t1", "u1"), call("t1", "u2"), refusal,
		projection.ToolCompleted{TurnID: "t1", ToolID: "u2", Error: "done"})
	var c conversation.Conversation
	var calls []conversation.Call
	for _, e := range events {
		for _, d := range c.Apply(e) {
			if d, ok := d.(conversation.Completed); ok {
				calls = append(calls, d.Call)
			}
		}
	}
	if len(calls) != 2 || calls[0].Took != time.Second || calls[0].State() != conversation.OK {
		t.Errorf("calls %+v", calls)
	}
	if got := calls[1].State(); got != conversation.Refused {
		t.Errorf("the second call is %s", got)
	}
}

// A message belongs to an open turn whose start was not seen, unless the end of the turn names another member.
func TestEndNamesTheMemberOfAContinuedTurn(t *testing.T) {
	unfinished := end("t1", ada)
	unfinished.Partial = "A"
	events := session(result("t1", "u1"), said(bo, "B"), unfinished)[1:]
	want := []string{" has u1: ok", `bo replied, rest "B", whole false`, `ada ends, rest "A", 0 open calls, finished true`}
	c := conversation.Continued([]projection.Speaker{mia, ada, bo})
	var got []string
	for _, e := range events {
		got = append(got, shown(c.Apply(e))...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestFirstPlanMayBeEmpty(t *testing.T) {
	empty, plan := projection.PlanUpdated{TurnID: "t1"}, projection.PlanUpdated{TurnID: "t1", More: 1}
	events := session(start("t1", ada), empty, empty, plan, plan, empty)
	var got []int
	for _, d := range deltasOf(new(conversation.Conversation), events) {
		if d, ok := d.(conversation.Planned); ok {
			got = append(got, d.Plan.More)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 0}, got); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

func TestAloneIsAsRecorded(t *testing.T) {
	answer := said(ada, "A")
	answer.TurnID = "t1"
	events := session(answer, start("t1", ada), text("t1", "a [NEXT: bo] \n"), call("t1", "u1"), result("t1", "u1"),
		projection.PlanUpdated{TurnID: "t1"}, end("t1", ada), projection.SessionEnded{})
	var got []conversation.Delta
	for _, e := range events {
		d := conversation.Alone(e)
		if d == nil || conversation.SourceOf(d).Seq != e.Seq {
			t.Fatalf("event %d is %+v", e.Seq, d)
		}
		got = append(got, d)
	}
	want := []string{`ada said "A"`, "ada begins", ` "a [NEXT: bo] \n"`, " calls u1", " has u1: ok", " plans",
		`ada ends, rest "", 0 open calls, finished true`}
	if diff := cmp.Diff(want, shown(got)); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

// The concatenated text of a turn is its message, in whatever pieces it arrives.
func TestTextIsThatOfTheMessage(t *testing.T) {
	pieces := []string{"a", " ", "\n", "[", "NE", "XT: bo]", "[NEXT: bo]", "[DR", "```\n", "`", "word", "[x]", "é"}
	propertytest.Check(t, func(rt *rapid.T) {
		written := rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "pieces")
		whole := strings.Join(written, "")
		for _, chunks := range [][]string{written, {whole}, strings.Split(whole, "")} {
			var c conversation.Conversation
			for _, e := range session(start("t1", ada)) {
				c.Apply(e)
			}
			var got strings.Builder
			for _, chunk := range chunks {
				for _, d := range c.Stream("t1", chunk) {
					got.WriteString(d.(conversation.Text).Text)
				}
			}
			message := stripped(whole)
			for _, d := range c.Apply(session(said(ada, message))[1]) {
				if d := d.(conversation.Replied); d.Whole {
					rt.Fatalf("%q is shown whole, after %q", message, got.String())
				} else {
					got.WriteString(d.Rest)
				}
			}
			if got.String() != message {
				rt.Fatalf("got %q, want %q", got.String(), message)
			}
		}
	})
}

// stripped returns a reply as the coordinator appends it.
func stripped(reply string) string { return marker.Parse(strings.TrimRight(reply, " \t\r\n")).Content }
