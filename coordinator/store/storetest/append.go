package storetest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func existsAfterFirstAppend(t *testing.T, s store.Store) {
	session := create(t, s, team)
	id := session.SessionID()
	if err := session.Save(session.state); err != nil {
		t.Error("save without events:", err)
	}
	if sessions := list(t, s, team); len(sessions) > 0 {
		t.Errorf("listed before the first append: %v", sessions)
	}
	checkNotFound(t, "load before the first append", loadError(t, s, team, id))
	checkNotFound(t, "open before the first append", openError(t, s, team, id))

	session.append(t, created(id, team, noon), message("hello", noon))
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].SessionID != id {
		t.Errorf("listed after the first append: %v", sessions)
	}
	checkTexts(t, s, id, "hello")
	session.close(t)

	unused := create(t, s, team)
	unused.close(t)
	if sessions := list(t, s, team); len(sessions) != 1 {
		t.Errorf("a session without events is listed: %v", sessions)
	}
	if unused.SessionID() == id {
		t.Error("two sessions have the same ID")
	}
}

func createsWithID(t *testing.T, s store.Store) {
	const id = "01KB6ZZZZZZZZZZZZZZZZZZZZZ"
	log, err := s.Create(team, id)
	if err != nil || log.SessionID() != id {
		t.Fatalf("created %v, %v", log, err)
	}
	first := &session{log, &projection.State{}}
	first.append(t, created(id, team, noon), message("first", noon))
	first.close(t)

	again, err := s.Create(team, id)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(&projection.State{})
	if _, err := again.Append(created(id, team, noon)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("append to an ID that a session has: %v", err)
	}
	checkTexts(t, s, id, "first")

	for _, bad := range []string{"mine", "../" + id, "01kb6zzzzzzzzzzzzzzzzzzzzz", "81KB6ZZZZZZZZZZZZZZZZZZZZZ"} {
		var invalid *store.InvalidIDError
		if _, err := s.Create(team, bad); !errors.As(err, &invalid) || invalid.SessionID != bad {
			t.Errorf("create %q: %v", bad, err)
		}
	}
}

func appendReturnsEvents(t *testing.T, s store.Store) {
	session := create(t, s, team)
	defer session.Close(session.state)
	at := time.Date(2026, 11, 21, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	events := session.append(t, created(session.SessionID(), team, at), message("a <b> & c", at))
	if len(events) != 2 {
		t.Fatalf("%d events, want 2", len(events))
	}
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.Sum == 0 || !e.Time.Equal(at.Truncate(time.Microsecond)) ||
			e.Time.Location() != time.UTC {
			t.Errorf("event %d: seq %d, sum %s, time %s", i, e.Seq, e.Sum, e.Time)
		}
	}
	if events[0].Type != "session.created" || events[1].Type != "message.appended" {
		t.Errorf("types %s, %s", events[0].Type, events[1].Type)
	}
	more, err := session.Append(message("more", at))
	if err != nil || len(more) != 1 || more[0].Seq != 3 {
		t.Errorf("the next batch is %v, %v", more, err)
	}
	if none, err := session.Append(); err != nil || len(none) > 0 {
		t.Errorf("an empty batch is %v, %v", none, err)
	}
}

func rejectedBatch(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "before")
	defer session.Close(session.state)
	year10000 := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for what, bad := range map[string]journal.Record{
		"an invalid type": {Type: "nonsense", Data: json.RawMessage(`{}`)},
		"invalid JSON":    {Type: "message.appended", Data: json.RawMessage(`{`)},
		"an array":        {Type: "message.appended", Data: json.RawMessage(`[]`)},
		"the year 10000":  {Type: "message.appended", Data: json.RawMessage(`{}`), Time: year10000},
	} {
		if _, err := session.Append(message("lost", noon), bad); err == nil || errors.Is(err, journal.ErrPoisoned) {
			t.Errorf("append of %s: error %v, want another than ErrPoisoned", what, err)
		}
	}
	if events, err := session.Append(message("after", noon)); err != nil || events[0].Seq != 3 {
		t.Errorf("the next batch: %v, %v", events, err)
	}
	checkTexts(t, s, session.SessionID(), "before", "after")
}

func backward(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "one", "two", "three")
	last := session.append(t, message("four", noon))[0]
	var seqs []uint64
	for e, err := range session.Backward() {
		if err != nil {
			t.Fatal("backward:", err)
		}
		if len(seqs) == 0 && !reflect.DeepEqual(e, last) {
			t.Errorf("the last event is %s, want %s", e.Line(), last.Line())
		}
		seqs = append(seqs, e.Seq)
	}
	if want := []uint64{5, 4, 3, 2, 1}; !reflect.DeepEqual(seqs, want) {
		t.Errorf("events %v, want %v", seqs, want)
	}
	for e := range session.Backward() {
		if e.Seq == 4 {
			break // a caller may end the loop early
		}
	}
	for e, err := range create(t, s, team).Backward() {
		t.Errorf("a session without events yields %s, %v", e.Line(), err)
	}
}

func nothingToRecover(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "one")
	defer session.Close(session.state)
	if events, err := session.Recover(t.Context()); err != nil || len(events) > 0 {
		t.Errorf("recovered %v, %v", events, err)
	}
	checkTexts(t, s, session.SessionID(), "one")
}

func copiesArguments(t *testing.T, s store.Store) {
	session := create(t, s, team)
	id := session.SessionID()
	batch := []journal.Record{created(id, team, noon), message("untouched", noon)}
	session.append(t, batch...)
	for _, r := range batch {
		for i := range r.Data {
			r.Data[i] = 'x'
		}
	}
	saved := session.state
	if err := session.Save(saved); err != nil {
		t.Fatal(err)
	}
	want := toJSON(t, saved)
	session.state = saved.Clone()
	overwrite(saved)
	session.close(t)
	overwrite(session.state)
	checkTexts(t, s, id, "untouched")
	if got := toJSON(t, open(t, s, team, id).state); got != want {
		t.Errorf("the state is\n%s\nwant\n%s", got, want)
	}
}

func copiesResults(t *testing.T, s store.Store) {
	session := create(t, s, team)
	id := session.SessionID()
	for _, e := range session.append(t, created(id, team, noon), message("untouched", noon)) {
		for i := range e.Data {
			e.Data[i] = 'x'
		}
	}
	want := toJSON(t, session.state)
	session.close(t)

	snapshot := load(t, s, team, id)
	snapshot.TeamID, snapshot.Context.Messages[0].Content = "changed", "changed"
	snapshot.Context.Messages = snapshot.Context.Messages[:0]
	list(t, s, team)[0].Title = "changed"
	checkTexts(t, s, id, "untouched")
	if got := list(t, s, team)[0]; got.Title != "untouched" {
		t.Errorf("the list has %+v", got)
	}
	again := open(t, s, team, id)
	if got := toJSON(t, again.state); got != want {
		t.Errorf("the state is\n%s\nwant\n%s", got, want)
	}
	again.close(t)
	overwrite(again.state)
	if got := toJSON(t, open(t, s, team, id).state); got != want {
		t.Errorf("the state of the next open is\n%s\nwant\n%s", got, want)
	}
}

// overwrite changes fields of a state, and elements of its map and slices, so that a
// store that shares them is noticed.
func overwrite(s *projection.State) {
	s.Row.Title, s.SessionID, s.Seq = "changed", "changed", 99
	s.Stats.ByMember["changed"] = 1
	for i := range s.Recent {
		s.Recent[i].Content = "changed"
	}
	for i := range s.Speakers {
		s.Speakers[i].Name = "changed"
	}
}
