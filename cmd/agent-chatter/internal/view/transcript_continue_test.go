package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Before the start of a turn and before a message of a person, a conversation can be divided unless a turn continues.
func TestContinuedConversationEqualsTheWhole(t *testing.T) {
	s := Style{Width: 60}
	for name, events := range goldenJournals(t) {
		want := render(fold(events), s)
		var before conversation.Chunk
		for i, e := range events {
			divides := before.ClosedBy(projection.DecodeEvent(e))
			if before.Add(projection.DecodeEvent(e)); !divides {
				continue
			}
			rest := Continued(membersOf(events))
			var blocks []Block
			for _, e := range events[i:] {
				blocks = append(blocks, rest.Apply(projection.DecodeEvent(e))...)
			}
			got := render(append(fold(events[:i]), append(blocks, rest.Close()...)...), s)
			if got[0] == "" { // nothing precedes the first block
				got = got[1:]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, divided before event %d:\n%s\nwant\n%s", name, e.Seq, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func membersOf(events []journal.Event) Members {
	var t Transcript
	t.Apply(projection.DecodeEvent(events[0]))
	return t.Members
}

func TestContinuedTurnHasNoName(t *testing.T) {
	tr := Continued(nil)
	var s session
	s.add(projection.TurnText{TurnID: "t", Text: "I look."})
	s.call("t", "1", "Bash", `{"command":"ls"}`, "done", "")
	s.add(projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Done, DurationMS: 1200})
	var blocks []Block
	for _, e := range s.events {
		blocks = append(blocks, tr.Apply(projection.DecodeEvent(e))...)
	}
	if got, want := strings.Join(render(blocks, Style{}), "|"), "|I look.||● Bash  ls  ok 1.0s|  done|— 1.2s"; got != want {
		t.Errorf("it shows %s, want %s", got, want)
	}
}
