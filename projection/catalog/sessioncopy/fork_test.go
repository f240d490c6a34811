package sessioncopy_test

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestForkUpToEachEvent(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	put(t, dir, id(1), conversation(id(1), "hello", "well")...)
	put(t, dir, id(2), header(id(2)))
	write(t, journalOf(dir, id(3)), nil)
	for _, test := range []struct {
		session string
		upTo    uint64
		want    []string
		err     string
	}{
		{id(1), 0, []string{"hello", "well"}, ""},
		{id(1), 1, nil, ""},
		{id(1), 2, []string{"hello"}, ""},
		{id(1), 3, []string{"hello", "well"}, ""},
		{id(1), 4, nil, "session " + id(1) + " has no event 4: its last one is 3"},
		{id(2), 0, nil, ""},
		{id(2), 2, nil, "session " + id(2) + " has no event 2: its last one is 1"},
		{id(3), 0, nil, "session " + id(3) + " has no event 0: its last one is 0"},
	} {
		fork, err := sessioncopy.Fork(ctx, dir, test.session, test.upTo)
		if err != nil || test.err != "" {
			if err == nil || err.Error() != test.err || fork != "" {
				t.Errorf("event %d: got %q, %v; want %s", test.upTo, fork, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, texts(t, dir, fork)); diff != "" {
			t.Errorf("messages up to event %d (-want +got):\n%s", test.upTo, diff)
		}
	}
}

// Damage at or before the last event to copy is an error, damage after it is not.
func TestForkOfADamagedSession(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	if _, err := importEvents(t, dir, "hello", "well", "more", "yes"); err != nil {
		t.Fatal(err)
	}
	path := journalOf(dir, id(1))
	write(t, path, bytes.Replace(read(t, path), []byte("more"), []byte("mare"), 1))
	var corrupt *journal.CorruptError
	for upTo := range uint64(6) {
		fork, err := sessioncopy.Fork(ctx, dir, id(1), upTo)
		damaged := upTo == 0 || upTo >= 4
		if damaged != errors.As(err, &corrupt) || damaged != (err != nil) || damaged != (fork == "") {
			t.Errorf("up to event %d: %q, %v", upTo, fork, err)
		}
	}
	if forks, err := dir.Journals().List(ctx); err != nil || len(forks) != 4 {
		t.Errorf("%d journals, %v", len(forks), err)
	}
}

// The events about the file of a journal are left out.
func TestForkLeavesOutEventsAboutTheFile(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	if _, err := importEvents(t, dir, "hello"); err != nil { // sealed
		t.Fatal(err)
	}
	f, err := os.OpenFile(journalOf(dir, id(1)), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	say(t, dir, id(1), 5, "well") // after journal.recovered
	types := func(session string) (types []string) {
		for e, err := range dir.Events(ctx, session) {
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, e.Type)
		}
		return types
	}
	if diff := cmp.Diff([]string{"session.created", "message.appended", "session.imported", journal.TypeSealed,
		journal.TypeRecovered, "message.appended", journal.TypeSealed}, types(id(1))); diff != "" {
		t.Errorf("the original (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"session.created", "message.appended", "session.imported", "message.appended",
		journal.TypeSealed}, types(mustFork(t, dir, id(1)))); diff != "" {
		t.Errorf("the fork (-want +got):\n%s", diff)
	}
}
