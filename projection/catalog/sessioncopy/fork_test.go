package sessioncopy_test

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// The end of a turn is copied with the reply of that turn, not with a message before a
// turn that failed.
func TestForkBeforeTheEndOfATurn(t *testing.T) {
	for reason, want := range map[projection.FinishReason]bool{projection.Done: true, projection.Failed: false} {
		t.Run(string(reason), func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			started := projection.TurnStarted{TurnID: "t1", MemberID: "ada"}
			ended := projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: reason}
			put(t, dir, id(1), header(id(1)), message(1, mia, "hello"), projection.Record(created, started),
				message(2, ada, "hi"), projection.Record(created, ended), message(3, mia, "more"))
			fork, err := sessioncopy.Fork(ctx, dir, id(1), 4)
			if err != nil {
				t.Fatal(err)
			}
			state, _, err := dir.Load(ctx, fork)
			if err != nil {
				t.Fatal(err)
			}
			if hasEnd := state.Stats.Turns == 1; hasEnd != want || state.Row.MessageCount != 2 {
				t.Errorf("%d messages, %d turns ended", state.Row.MessageCount, state.Stats.Turns)
			}
		})
	}
}
