package filechanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// root returns a tree that stands for a state of a directory.
func root(state string) string { return objects.HashOf([]byte(state)).String() }

// captured and changed return events of the directory /d.
func captured(turn string, when projection.CaptureTime, state string) projection.Payload {
	return projection.FilesCaptured{CaptureID: "c", TurnID: turn, When: when, Dir: "/d", Root: root(state)}
}

func changed(turn, member, before, after string, with ...string) projection.Payload {
	return projection.FilesChanged{
		TurnID: turn, MemberID: member, Dir: "/d", Before: root(before), After: root(after), Added: 1, With: with,
		Changes: []projection.FileChange{{Path: "a", Kind: projection.FileAdded}},
	}
}

func began(turn, member string) projection.Payload {
	return projection.TurnStarted{TurnID: turn, MemberID: member}
}

func ended(turn, member string) projection.Payload {
	return projection.TurnEnded{TurnID: turn, MemberID: member, FinishReason: projection.Done}
}

// fold returns the history of events, whose numbers begin with 1.
func fold(payloads ...projection.Payload) *history {
	h := newHistory("", "")
	h.members = []projection.Speaker{{ID: "ada", DisplayName: "Ada"}, {ID: "bea", Name: "Bea"}}
	for i, p := range payloads {
		e := journal.Event{Seq: uint64(i + 1), Type: projection.TypeOf(p)}
		e.Data = projection.Record(e.Time, p).Data
		h.apply(projection.DecodeEvent(e))
	}
	return h
}

// stepsText describes the steps, a line each.
func (h *history) stepsText() string {
	states := map[string]string{}
	for c := 'A'; c <= 'Z'; c++ {
		states[root(string(c))] = string(c)
	}
	var lines []string
	for _, s := range h.steps {
		lines = append(lines, fmt.Sprintf("%d/%d turn %d %s: %s to %s",
			s.seq, s.at, s.turn, h.whoText(s), states[s.before], states[s.after]))
	}
	return strings.Join(lines, "\n")
}

func TestSteps(t *testing.T) {
	before, after, restore := projection.BeforeTurn, projection.AfterTurn, projection.BeforeRestore
	late := changed("t1", "ada", "A", "B").(projection.FilesChanged)
	late.Late = true
	for _, test := range []struct {
		name     string
		payloads []projection.Payload
		want     string
	}{
		{"a person edits between turns", []projection.Payload{
			began("t1", "ada"), captured("t1", before, "A"), ended("t1", "ada"), captured("t1", after, "B"),
			changed("t1", "ada", "A", "B"), began("t2", "bea"), captured("t2", before, "C"), ended("t2", "bea"),
			captured("t2", after, "D"), changed("t2", "bea", "C", "D"),
		}, "5/3 turn 1 Ada: A to B\n7/7 turn 0 you or another program: B to C\n10/8 turn 2 Bea: C to D"},
		{"turns overlap", []projection.Payload{
			began("t1", "ada"), captured("t1", before, "A"), began("t2", "bea"), captured("t2", before, "B"),
			ended("t1", "ada"), captured("t1", after, "C"), changed("t1", "ada", "A", "C", "t2"),
			ended("t2", "bea"), captured("t2", after, "D"), changed("t2", "bea", "B", "D", "t1"),
			began("t3", "bea"), captured("t3", before, "E"),
		}, "7/5 turn 1 Ada or Bea: A to C\n10/8 turn 2 Bea or Ada: B to D\n12/12 turn 0 you or another program: D to E"},
		{"a turn of another session overlaps", []projection.Payload{
			began("t1", "ada"), captured("t1", before, "A"), ended("t1", "ada"), changed("t1", "ada", "A", "B", "t9"),
		}, "4/3 turn 1 Ada or another session: A to B"},
		{"late", []projection.Payload{
			began("t1", "ada"), captured("t1", before, "A"), ended("t1", "ada"), began("t2", "ada"), late,
		}, "5/3 turn 1 Ada (late): A to B"},
		{"files are set back", []projection.Payload{
			began("t1", "ada"), captured("t1", before, "A"), ended("t1", "ada"), changed("t1", "ada", "A", "B"),
			captured("", restore, "C"), projection.FilesRestoring{RestoreID: "r", Dir: "/d"}, captured("", restore, "D"),
			projection.FilesRestored{RestoreID: "r"}, began("t2", "ada"), captured("t2", before, "E"),
		}, "4/3 turn 1 Ada: A to B\n5/5 turn 0 you or another program: B to C\n7/7 turn 0 you (restore): C to D\n" +
			"10/10 turn 0 you or another program: D to E"},
	} {
		if diff := cmp.Diff(test.want, fold(test.payloads...).stepsText()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestGitNames(t *testing.T) {
	for name, want := range map[string]string{
		"a/b c": "a/b c", "a\tb": `"a\tb"`, `a"b\`: `"a\"b\\"`, "\u00fc\x01\x7f": `"\303\274\001\177"`,
	} {
		if got := gitName(name); got != want {
			t.Errorf("gitName(%q) = %s, want %s", name, got, want)
		}
	}
}
