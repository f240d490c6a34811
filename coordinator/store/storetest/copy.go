package storetest

import (
	"encoding/json"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func copiesIn(t *testing.T, s store.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	batch := []journal.Record{created(log.SessionID(), team, noon), message("untouched", noon)}
	state := write(t, log, batch...)
	for _, r := range batch {
		for i := range r.Data {
			r.Data[i] = 'x'
		}
	}
	if err := log.Save(state); err != nil {
		t.Fatal(err)
	}
	want := asJSON(t, state)
	again := state.Clone()
	spoil(state)
	closeLog(t, log, again)
	spoil(again)
	checkTexts(t, s, log.SessionID(), "untouched")
	if got := openLog(t, s, team, log.SessionID()).State(); asJSON(t, got) != want {
		t.Errorf("the state is\n%s\nwant\n%s", asJSON(t, got), want)
	}
}

func copiesOut(t *testing.T, s store.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	events, err := log.Append(created(log.SessionID(), team, noon), message("untouched", noon))
	if err != nil {
		t.Fatal(err)
	}
	state := log.State()
	for _, e := range events {
		state.Apply(e)
		for i := range e.Data {
			e.Data[i] = 'x'
		}
	}
	want := asJSON(t, state)
	closeLog(t, log, state)

	snapshot := load(t, s, team, log.SessionID())
	snapshot.TeamID, snapshot.Context.Messages[0].Content = "spoilt", "spoilt"
	snapshot.Context.Messages = snapshot.Context.Messages[:0]
	list(t, s, team)[0].Title = "spoilt"
	checkTexts(t, s, log.SessionID(), "untouched")
	if got := list(t, s, team)[0]; got.Title != "untouched" {
		t.Errorf("the list has %+v", got)
	}
	again := openLog(t, s, team, log.SessionID())
	spoil(again.State())
	if got := asJSON(t, again.State()); got != want {
		t.Errorf("the state is\n%s\nwant\n%s", got, want)
	}
	closeLog(t, again, again.State())
	if got := openLog(t, s, team, log.SessionID()).State(); asJSON(t, got) != want {
		t.Errorf("after opening again the state is\n%s\nwant\n%s", asJSON(t, got), want)
	}
}

// spoil changes what a caller may change in a state.
func spoil(s *projection.State) {
	s.Row.Title, s.SessionID, s.Seq = "spoilt", "spoilt", 99
	s.Stats.ByMember["spoilt"] = 1
	for i := range s.Recent {
		s.Recent[i].Content = "spoilt"
	}
	for i := range s.Speakers {
		s.Speakers[i].Name = "spoilt"
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	return asJSON(t, a) == asJSON(t, b)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
