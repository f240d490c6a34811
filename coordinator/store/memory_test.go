package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestIsolatesDataBetweenClearCalls(t *testing.T) {
	s := &store.Memory{}
	id := add(t, s)
	session := create(t, s, team)
	session.append(message("before", noon))
	s.Clear()
	if n := s.SessionCount(""); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if list, err := s.List(t.Context(), team); err != nil || len(list) != 0 {
		t.Errorf("the list is %v, %v", list, err)
	}
	if _, err := s.Load(t.Context(), team, id); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("load: %v", err)
	}
	session.append(message("after", noon)) // the open session is not affected
	session.Close(session.state)
	if n := s.SessionCount(""); n != 0 {
		t.Errorf("%d sessions after an append to a cleared one", n)
	}
	add(t, s)
	if n := s.SessionCount(""); n != 1 {
		t.Errorf("%d sessions after a new one", n)
	}
}

func TestClearKeepsLogWithoutEvents(t *testing.T) {
	s := &store.Memory{}
	session := create(t, s, team)
	empty, err := s.Create(team, "")
	if err != nil {
		t.Fatal(err)
	}
	s.Clear()
	session.append(message("after", noon))
	if _, err := empty.Append(created(empty.SessionID(), team)); err != nil {
		t.Fatal(err)
	}
	if n := s.SessionCount(""); n != 1 {
		t.Errorf("%d sessions, want that of the Log without events", n)
	}
}

func TestSessionCount(t *testing.T) {
	s := &store.Memory{}
	if n := s.SessionCount("") + s.SessionCount(team); n != 0 {
		t.Errorf("an empty store has %d sessions", n)
	}
	add(t, s)
	add(t, s)
	create(t, s, "others")
	for teamID, want := range map[string]int{"": 3, team: 2, "others": 1, "unknown": 0} {
		if n := s.SessionCount(teamID); n != want {
			t.Errorf("%q has %d sessions, want %d", teamID, n, want)
		}
	}
}

func TestMemoryForgetsTheStepsOfATurn(t *testing.T) {
	log, err := (&store.Memory{}).Create(team, "")
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, want ...string) {
		t.Helper()
		var got []string
		size := 0
		for e, err := range log.Backward() {
			if err != nil {
				t.Fatal(err)
			}
			got, size = append(got, e.Type), size+store.Size(e.Data)
			e.Data[0] = 'x' // a copy
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) || log.Held() != size {
			t.Errorf("%s: it has %q of %d bytes, and holds %d", when, got, size, log.Held())
		}
	}
	add := func(payloads ...projection.Payload) {
		t.Helper()
		for _, p := range payloads {
			events, err := log.Append(projection.Record(noon, p))
			if err != nil {
				t.Fatal(err)
			}
			events[0].Data[0] = 'x' // a copy
		}
	}
	add(
		projection.TurnStarted{TurnID: "1", MemberID: "ada"}, projection.TurnText{TurnID: "1", Text: "one"},
		projection.ToolStarted{TurnID: "1", ToolID: "a"}, projection.ToolCompleted{TurnID: "1", ToolID: "a"},
		projection.PlanUpdated{TurnID: "1"}, projection.PermissionAnswered{TurnID: "1"},
		projection.TurnText{TurnID: "2", Text: "two"},
	)
	check("in the turn", "turn.started", "turn.text", "tool.started", "tool.completed", "plan.updated",
		"permission.answered", "turn.text")
	add(projection.TurnEnded{TurnID: "1", MemberID: "ada", FinishReason: projection.Done})
	check("after it", "turn.started", "turn.text", "turn.ended")
	add(projection.TurnEnded{MemberID: "ada", FinishReason: projection.Done})
	check("after one without an id", "turn.started", "turn.text", "turn.ended", "turn.ended")
}

func TestSizeOfAnEventIsMoreThanItsPayload(t *testing.T) {
	if empty, ten := store.Size(nil), store.Size(make([]byte, 10)); empty != 256 || ten != empty+10 {
		t.Errorf("%d and %d", empty, ten)
	}
	d := newDisk(t)
	if held := create(t, d, team).Held(); held != 0 {
		t.Errorf("a session on the disk holds %d bytes", held)
	}
}

func TestMemoryRejectsTooLongLine(t *testing.T) {
	sizetest.SkipUnlessFull(t, "allocates 64 MiB")
	log, err := (&store.Memory{}).Create(team, "")
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(`{"task":"` + strings.Repeat("x", journal.DefaultMaxLine) + `"}`)
	if _, err := log.Append(journal.Record{Type: "task.set", Data: data}); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("the error is %v", err)
	}
	events, err := log.Append(journal.Record{Type: "task.set", Data: []byte(`{"task":null}`)})
	if err != nil || events[0].Seq != 1 {
		t.Errorf("the next append: %v, %v", events, err)
	}
}

func TestMemoryIsSafeForConcurrentUse(t *testing.T) {
	s := &store.Memory{}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			log, err := s.Create(team, "")
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				_, err := log.Append(created(log.SessionID(), team))
				_, listErr := s.List(t.Context(), team)
				_, loadErr := s.Load(t.Context(), team, log.SessionID())
				if err := errors.Join(err, listErr, loadErr); err != nil {
					t.Error(err)
				}
			}
			wait.Go(func() { log.Close(&projection.State{}) })
			_ = log.Save(&projection.State{}) // nil or journal.ErrClosed
			_, _ = log.Recover(t.Context())
		})
	}
	wait.Wait()
	if n := s.SessionCount(team); n != 8 {
		t.Errorf("%d sessions", n)
	}
}
