package coordinator_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestIsolatesDataBetweenClearCalls(t *testing.T) {
	store := &store.Memory{}
	id := oneRound(t, store)
	open := start(t, store)
	open.say("still going")
	store.Clear()
	if n := store.SessionCount(""); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if list, err := store.List("ensemble"); err != nil || len(list) != 0 {
		t.Errorf("the list is %v, %v", list, err)
	}
	if _, err := store.Load("ensemble", id); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("load: %v", err)
	}
	open.say("and going") // whoever is in a session notices nothing
	open.stop()
	if n := store.SessionCount(""); n != 0 {
		t.Errorf("%d sessions came back", n)
	}
	oneRound(t, store)
	if n := store.SessionCount(""); n != 1 {
		t.Errorf("%d sessions after a new one", n)
	}
}

func TestSessionCountIsThatOfATeamOrOfAll(t *testing.T) {
	store := &store.Memory{}
	if n := store.SessionCount("") + store.SessionCount("ensemble"); n != 0 {
		t.Errorf("an empty store has %d sessions", n)
	}
	oneRound(t, store)
	oneRound(t, store)
	others := ensemble()
	others.ID = "others"
	s := stage(t, store)
	s.with(others, "")
	s.say("hello")
	for teamID, want := range map[string]int{"": 3, "ensemble": 2, "others": 1, "nobody": 0} {
		if n := store.SessionCount(teamID); n != want {
			t.Errorf("%q has %d sessions, want %d", teamID, n, want)
		}
	}
}

func TestMemoryRefusesWhatNoJournalCouldHold(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 64 MiB, which -short leaves out")
	}
	log, err := (&store.Memory{}).Create("ensemble")
	if err != nil {
		t.Fatal(err)
	}
	long := journal.Record{Type: "task.set", Data: []byte(`{"task":"` + strings.Repeat("x", journal.DefaultMaxLine) + `"}`)}
	if _, err := log.Append(long); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("the error is %v", err)
	}
	if events, err := log.Append(journal.Record{Type: "task.set", Data: []byte(`{"task":null}`)}); err != nil || events[0].Seq != 1 {
		t.Errorf("afterwards: %v, %v", events, err)
	}
}

func TestAMemoryStoreMayBeUsedFromManyGoroutines(t *testing.T) {
	store := &store.Memory{}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			log, err := store.Create("ensemble")
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				_, err := log.Append(projection.Record(noon, projection.SessionCreated{SessionID: log.SessionID(), Team: projection.Team{ID: "ensemble"}}))
				_, listErr := store.List("ensemble")
				_, loadErr := store.Load("ensemble", log.SessionID())
				if err := errors.Join(err, listErr, loadErr); err != nil {
					t.Error(err)
				}
			}
			log.Close(log.State())
		})
	}
	wait.Wait()
	if n := store.SessionCount("ensemble"); n != 8 {
		t.Errorf("%d sessions", n)
	}
}
