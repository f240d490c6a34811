package agent

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// newTestTurn returns a turn of an agent without a program, and the events that it emits, formatted.
func newTestTurn(t *testing.T) (turn *acpTurn, emitted *[]string) {
	emitted = new([]string)
	a := &acpAgent{profile: profile{name: "It", program: "it"}}
	return newACPTurn(t.Context(), a, Turn{}, func(e Event, _ error) bool {
		line := describe(e)
		switch e := e.(type) {
		case Text:
			line = fmt.Sprintf("text %q", e.Text)
		case ToolCompleted:
			if e.Omitted > 0 {
				line += fmt.Sprintf(" and %d bytes", e.Omitted)
			}
		}
		*emitted = append(*emitted, line)
		return true
	}), emitted
}

func TestACPToolUpdates(t *testing.T) {
	x := strings.Repeat
	running, done := acp.ToolUpdate{ID: "1", Started: true}, acp.ToolUpdate{ID: "1", Started: true, Ended: true}
	output := func(text string) acp.ToolUpdate {
		return acp.ToolUpdate{ID: "1", Output: text, OutputReplaced: true}
	}
	more := func(text string) acp.ToolUpdate { return acp.ToolUpdate{ID: "1", OutputAppended: text} }
	for name, test := range map[string]struct {
		updates []acp.ToolUpdate
		want    []string
	}{
		"pending":        {[]acp.ToolUpdate{{ID: "1", Name: "sh"}}, nil},
		"no name":        {[]acp.ToolUpdate{running, running}, []string{"started 1 tool "}},
		"category":       {[]acp.ToolUpdate{{ID: "1", Category: "execute", Started: true}}, []string{"started 1 execute "}},
		"name":           {[]acp.ToolUpdate{{ID: "1", Name: "sh", Category: "execute"}, running}, []string{"started 1 sh "}},
		"later category": {[]acp.ToolUpdate{{ID: "1", Name: "sh"}, {ID: "1", Category: "edit"}, running}, []string{"started 1 sh "}},
		"later name":     {[]acp.ToolUpdate{{ID: "1", Category: "edit"}, {ID: "1", Name: "sh"}, running}, []string{"started 1 sh "}},
		"title":          {[]acp.ToolUpdate{{ID: "1", Title: "ls"}, running}, []string{`started 1 tool {"title":"ls"}`}},
		"title and input": {
			[]acp.ToolUpdate{{ID: "1", Title: "ls", Input: []byte(`{"a":1}`)}, running}, []string{`started 1 tool {"a":1}`},
		},
		"long title": {
			[]acp.ToolUpdate{{ID: "1", Title: x("t", maxReason+1)}, running},
			[]string{`started 1 tool {"title":"` + x("t", maxReason) + `"}`},
		},
		"long input": {
			[]acp.ToolUpdate{
				{ID: "1", Input: []byte(x("1", maxOutput)), Started: true}, {ID: "2", Input: []byte(x("1", maxOutput+1)), Started: true},
			},
			[]string{"started 1 tool " + x("1", maxOutput), "started 2 tool "},
		},
		"long id": {
			[]acp.ToolUpdate{{ID: x("i", maxLabel+1), Started: true}, {ID: x("i", maxLabel), Started: true, Ended: true}},
			[]string{"started " + x("i", maxLabel) + " tool ", "completed " + x("i", maxLabel) + `  "" ""`},
		},
		"long name": {[]acp.ToolUpdate{{ID: "1", Name: x("n", maxLabel+1), Started: true}}, []string{"started 1 " + x("n", maxLabel) + " "}},
		"output":    {[]acp.ToolUpdate{output("a"), output("b"), more("c"), done}, []string{"started 1 tool ", `completed 1  "bc" ""`}},
		"erased":    {[]acp.ToolUpdate{output("a"), output(""), done}, []string{"started 1 tool ", `completed 1  "" ""`}},
		"failed": {
			[]acp.ToolUpdate{{ID: "1", Output: "no", Started: true, Ended: true, Failed: true}},
			[]string{"started 1 tool ", `completed 1  "" "no"`},
		},
		"updates after the end": {
			[]acp.ToolUpdate{done, output("late"), running, done}, []string{"started 1 tool ", `completed 1  "" ""`},
		},
		"longest output": {
			[]acp.ToolUpdate{output(x("a", maxOutput-1)), more("b"), done},
			[]string{"started 1 tool ", `completed 1  "` + x("a", maxOutput-1) + `b" ""`},
		},
		"longer output": {
			[]acp.ToolUpdate{output(x("a", maxOutput-1)), more("bcd"), more("e"), done},
			[]string{"started 1 tool ", `completed 1  "` + x("a", maxOutput-1) + `b" "" and 3 bytes`},
		},
		"longer output is replaced": {
			[]acp.ToolUpdate{output(x("a", maxOutput+1)), output("b"), done}, []string{"started 1 tool ", `completed 1  "b" ""`},
		},
	} {
		turn, got := newTestTurn(t)
		for _, u := range test.updates {
			turn.takeTool(u)
		}
		if diff := cmp.Diff(test.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%.1000s", name, diff)
		}
	}
}

func TestACPToolsAreLimited(t *testing.T) {
	turn, got := newTestTurn(t)
	for i := range maxTools + 1 {
		tool := turn.takeTool(acp.ToolUpdate{ID: strconv.Itoa(i), Started: true})
		if (tool == nil) != (i == maxTools) {
			t.Errorf("tool %d is %v", i, tool)
		}
	}
	if known := turn.takeTool(acp.ToolUpdate{ID: "0"}); known == nil || len(*got) != maxTools {
		t.Errorf("%d tools have started; the first one is %v", len(*got), known)
	}
}

func TestACPChunksOfMessagesAreSeparated(t *testing.T) {
	turn, got := newTestTurn(t)
	for _, c := range [][2]string{{"", "a"}, {"", "b"}, {"m1", "c"}, {"m1", ""}, {"m1", "d"}, {"m2", "e"}} {
		turn.takeChunk(acp.Chunk{MessageID: c[0], Text: c[1]})
	}
	turn.takeTool(acp.ToolUpdate{ID: "1"})
	turn.takeChunk(acp.Chunk{MessageID: "m2", Text: "f"})
	turn.takeTool(acp.ToolUpdate{ID: "1"})
	turn.takeChunk(acp.Chunk{MessageID: "m2", Text: "g"})
	want := []string{`text "a"`, `text "b"`, `text "\n\nc"`, `text "d"`, `text "\n\ne"`, `text "\n\nf"`, `text "g"`}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestACPRetryWaits(t *testing.T) {
	for name, test := range map[string]struct {
		at       time.Time
		from, to time.Duration
	}{
		"unknown": {time.Time{}, 0, 0}, "past": {time.Now().Add(-time.Hour), 0, 0},
		"future": {time.Now().Add(time.Hour), 50 * time.Minute, time.Hour},
	} {
		var got Retry
		turn := &acpTurn{yield: func(e Event, _ error) bool { got = e.(Retry); return true }}
		turn.takeRetry(acp.Retry{Reason: ` {"error":{"message":"` + strings.Repeat("x", maxReason+1) + `"}}`, At: test.at})
		if got.Wait < test.from || got.Wait > test.to || got.Reason != strings.Repeat("x", maxReason-3)+"…" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestACPEndOfTurn(t *testing.T) {
	const denied = `completed 1 sh "" "permission denied"`
	long := strings.Repeat("x", maxReason)
	ask := func(t *acpTurn) { // the user denies a permission
		t.takeTool(acp.ToolUpdate{ID: "1", Name: "sh"}).permission.Store(refused)
		t.takeTool(acp.ToolUpdate{ID: "2"})
	}
	say := func(text string) func(*acpTurn) {
		return func(t *acpTurn) { t.takeChunk(acp.Chunk{Text: text}) }
	}
	breaks := func(t *acpTurn) { t.broken = true }
	for name, test := range map[string]struct {
		before []func(*acpTurn)
		result acp.Result
		want   []string
		reason string
	}{
		"denied, without a reply": {
			[]func(*acpTurn){ask}, acp.Result{StopReason: "end_turn"}, []string{denied}, "it stopped because a permission was denied",
		},
		"denied, with a reply": {
			[]func(*acpTurn){say("hi"), ask}, acp.Result{StopReason: "end_turn"}, []string{`text "hi"`, denied}, "",
		},
		"denied and cancelled, with a reply": {
			[]func(*acpTurn){say("hi"), ask}, acp.Result{StopReason: "cancelled"}, []string{`text "hi"`, denied},
			"it stopped because a permission was denied",
		},
		"denied, other reason": {
			[]func(*acpTurn){ask}, acp.Result{StopReason: "refusal"}, []string{denied}, "it refuses to answer",
		},
		"denied, and reported": {
			[]func(*acpTurn){ask, func(t *acpTurn) { t.takeTool(acp.ToolUpdate{ID: "1", Ended: true, Failed: true}) }, say("hi")},
			acp.Result{StopReason: "end_turn"}, []string{`completed 1 sh "" "it failed"`, `text "hi"`}, "",
		},
		"no reply":  {nil, acp.Result{StopReason: "end_turn"}, nil, ""},
		"cancelled": {nil, acp.Result{StopReason: "cancelled"}, nil, "it reports a cancellation that was not requested"},
		"refused request": {
			[]func(*acpTurn){ask}, acp.Result{Err: &acp.RequestError{Message: "no credit"}}, []string{denied}, "no credit",
		},
		"cost": {
			[]func(*acpTurn){func(t *acpTurn) { t.spent.Cost = &Cost{0.5, "USD"} }}, acp.Result{StopReason: "end_turn"},
			[]string{"used 0+0+0 0+0 0.5 USD"}, "",
		},
		"context": {
			[]func(*acpTurn){
				func(t *acpTurn) {
					t.takeSpent(acp.Spent{Cost: &acp.Cost{Amount: 0.5, Currency: "USD"}, Context: 1, Window: 9})
				},
				func(t *acpTurn) { t.takeSpent(acp.Spent{Context: 2, Window: 9}) }, func(t *acpTurn) { t.takeSpent(acp.Spent{}) },
			},
			acp.Result{StopReason: "end_turn"}, []string{"used 0+0+0 0+0 0.5 USD, context 2 of 9"}, "",
		},
		"usage": {nil, acp.Result{StopReason: "end_turn", Usage: acp.Usage{Input: 2}}, []string{"used 2+0+0 0+0 unknown"}, ""},
		"complaint": {
			[]func(*acpTurn){say("hi"), breaks, say(`{"error":{"message":`), say(`"no credit"}}`)},
			acp.Result{StopReason: "end_turn"}, []string{`text "hi"`}, "no credit",
		},
		"no complaint":      {[]func(*acpTurn){breaks}, acp.Result{StopReason: "end_turn"}, nil, "it gives no reason"},
		"longest complaint": {[]func(*acpTurn){breaks, say(long), say("y")}, acp.Result{StopReason: "end_turn"}, nil, long},
		"longer complaint": {
			[]func(*acpTurn){breaks, say(long[1:]), say("yz")}, acp.Result{StopReason: "end_turn"}, nil, long[3:] + "…",
		},
	} {
		turn, got := newTestTurn(t)
		for _, do := range test.before {
			do(turn)
		}
		turn.settleHeld()
		err := turn.finish(test.result)
		if diff := cmp.Diff(test.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		failure, failed := err.(*FailureError)
		if failed != (test.reason != "") || failed && failure.Reason != test.reason {
			t.Errorf("%s: got %v, want %q", name, err, test.reason)
		}
	}
}

// A yield that is called after it has returned false panics.
func TestACPEmitsNothingAfterConsumerHasLeft(t *testing.T) {
	turn, events := newACPTurn(t.Context(), &acpAgent{}, Turn{}, nil), 0
	turn.yield = func(Event, error) bool { events++; return false }
	turn.takeTool(acp.ToolUpdate{ID: "1", Started: true, Ended: true})
	if err := turn.finish(acp.Result{StopReason: "tired", Usage: acp.Usage{Input: 1}}); err != nil || events != 1 || !turn.left {
		t.Errorf("%d events, then %v", events, err)
	}
}
