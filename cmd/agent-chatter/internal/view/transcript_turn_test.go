package view

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// A journal may have events of a turn that is not open, or a message that is not that of the open turn.
func TestEventsThatDoNotFitTheTurn(t *testing.T) {
	start := projection.TurnStarted{TurnID: "t", MemberID: "ada"}
	text := func(turn, text string) projection.TurnText { return projection.TurnText{TurnID: turn, Text: text} }
	done := projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Done}
	message := func(by projection.Speaker, content string) projection.MessageAppended {
		return projection.NewMessage("m", noon, by, content, nil)
	}
	plan := projection.PlanUpdated{TurnID: "t", Entries: []projection.PlanEntry{{Content: "look"}}}
	changed := projection.PlanUpdated{TurnID: "t", Entries: []projection.PlanEntry{{Content: "leap"}}, More: 2}
	other := plan
	other.TurnID = "other"
	for _, tt := range []struct {
		name   string
		events []projection.Payload
		want   string
	}{
		{"text without a turn", []projection.Payload{text("t", "One.")}, ""},
		{"text of another turn", []projection.Payload{start, text("other", "One."), done}, ""},
		{"a call of another turn", []projection.Payload{start, projection.ToolStarted{TurnID: "other", Name: "Bash"}, done}, ""},
		{"a call without a turn", []projection.Payload{projection.ToolStarted{TurnID: "t", Name: "Bash"}}, ""},
		{"a result of another turn", []projection.Payload{start, projection.ToolCompleted{TurnID: "other", ToolID: "1"}, done}, ""},
		{"a result without a call", []projection.Payload{start, projection.ToolCompleted{TurnID: "t", ToolID: "1"}, done}, ""},
		{"a result without a turn", []projection.Payload{projection.ToolCompleted{TurnID: "t", ToolID: "1"}}, ""},
		{"a result of another call", []projection.Payload{
			start, projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash"}, projection.ToolCompleted{TurnID: "t", ToolID: "2"}, done,
		}, "Ada|● Bash  no result"},
		{"a todo list of another turn", []projection.Payload{start, other, done}, ""},
		{"a todo list without a turn", []projection.Payload{plan}, ""},
		{"a todo list without entries", []projection.Payload{start, projection.PlanUpdated{TurnID: "t"}, done}, ""},
		{"a todo list twice", []projection.Payload{start, plan, plan, done}, "Ada|○ look"},
		{"a todo list within the reply", []projection.Payload{
			start, text("t", "One. "), plan, text("t", "Two."), message(ada, "One. Two."), done}, "Ada|One.||○ look||Two."},
		{"a todo list before the reply", []projection.Payload{start, plan, text("t", "One."), message(ada, "One."), done}, "Ada|○ look||One."},
		{"a changed todo list", []projection.Payload{start, plan, changed, plan, done}, "Ada|○ look||○ leap|  … and 2 more||○ look"},
		{"the end of another turn", []projection.Payload{
			start, text("t", "One. "), projection.TurnEnded{TurnID: "other", MemberID: "bo", FinishReason: projection.Failed},
			text("t", "Two."), message(ada, "One. Two."), done,
		}, "Ada|One. Two.||Bo|✗ unfinished: error"},
		{"the end without a turn", []projection.Payload{done}, ""},
		{"another reply than its text", []projection.Payload{start, text("t", "One."), message(ada, "Two."), done}, "Ada|One.||Ada|Two."},
		{"a message of another member in a turn", []projection.Payload{
			start, text("t", "One. "), message(bo, "I am Bo."), text("t", "Two."), message(ada, "One. Two."), done,
		}, "Ada|One. Two.||Bo|I am Bo."},
		{"a second message of a turn", []projection.Payload{start, message(ada, "One."), message(ada, "Two."), done}, "Ada|One.||Ada|Two."},
		{"a message of a person in a turn", []projection.Payload{start, text("t", "One. "), message(mia, "Stop."), text("t", "Two.")},
			"Ada|One. Two.|✗ unfinished||Mia|Stop."},
		{"a message that the agent takes", []projection.Payload{
			start, text("t", "One. "), message(mia, "Stop."), projection.TurnSteered{TurnID: "t", MessageID: "m"}, text("t", "Two."),
			message(ada, "One. Two."), done,
		}, "Ada|One.||Mia|Stop.||Ada|Two."},
		{"a message that the agent takes after a tool", []projection.Payload{
			start, projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash"}, message(mia, "Stop."),
			projection.ToolCompleted{TurnID: "t", ToolID: "1"}, projection.TurnSteered{TurnID: "t", MessageID: "m"},
			message(ada, "Two."), done,
		}, "Ada|● Bash  ok 2.0s||Mia|Stop.||Ada|Two."},
		{"an unknown message that the agent takes", []projection.Payload{
			start, text("t", "One. "), projection.TurnSteered{TurnID: "t", MessageID: "x"}, text("t", "Two."),
			message(ada, "One. Two."), done,
		}, "Ada|One. Two."},
		{"a turn in a turn", []projection.Payload{start, text("t", "One."), projection.TurnStarted{TurnID: "u", MemberID: "bo"}, text("u", "Two.")},
			"Ada|One.|✗ unfinished||Bo|Two.|✗ unfinished"},
	} {
		var s session
		s.create()
		for _, p := range tt.events {
			s.add(p)
		}
		if got := strings.Join(render(fold(s.events), Style{}), "|"); got != tt.want {
			t.Errorf("%s: it shows %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestStreamNeedsATurnWithoutAReply(t *testing.T) {
	var tr Transcript
	if blocks := tr.Stream("t", "One.\n\n"); len(blocks) > 0 || tr.Speaking() {
		t.Error("there is text without a turn")
	}
	tr.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
	if !tr.Speaking() {
		t.Error("no turn is open")
	}
	tr.Apply(record(projection.NewMessage("m", noon, ada, "One.", nil)))
	if blocks := tr.Stream("t", "Two.\n\n"); len(blocks) > 0 {
		t.Errorf("after the reply there is %q", render(blocks, Style{}))
	}
	if tr.Close(); tr.Speaking() {
		t.Error("after the end a turn is open")
	}
}

// From an event of one of two open turns, a replay shows that turn from its beginning, and not the other one, which
// ended before.
func TestBlocksFromAnEventOfATurn(t *testing.T) {
	var s session
	s.create()
	s.add(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	s.add(projection.TurnStarted{TurnID: "t2", MemberID: "bo"})
	s.add(projection.TurnText{TurnID: "t2", Text: "I am "})
	s.add(projection.TurnText{TurnID: "t1", Text: "I am Ada."})
	s.add(projection.TurnEnded{TurnID: "t1", MemberID: "ada", Partial: "I am Ada.", FinishReason: projection.Done, DurationMS: 1000})
	s.add(projection.TurnText{TurnID: "t2", Text: "Bo."})
	for from, want := range map[uint64]string{6: "Ada|I am Ada.|— 1.0s||Bo|I am Bo.|✗ unfinished", 7: "|Bo|I am Bo.|✗ unfinished"} {
		var blocks []Block
		for b, err := range BlocksFrom(projection.Decoded(projectiontest.Sequence(s.events, nil)), from) {
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, b)
		}
		if got := strings.Join(render(blocks, Style{}), "|"); got != want {
			t.Errorf("from event %d it shows %s, want %s", from, got, want)
		}
	}
}
