package storetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/oklog/ulid/v2"
)

func emptyList(t *testing.T, s store.Store) {
	if sessions := list(t, s, "nobody"); len(sessions) != 0 {
		t.Errorf("an unknown team has %v", sessions)
	}
}

func listOrder(t *testing.T, s store.Store) {
	// The second is updated last, the third was never spoken in again.
	first := kept(t, s, team, noon, "a")
	second := kept(t, s, team, noon.Add(time.Minute), "b")
	third := kept(t, s, team, noon.Add(time.Hour), "c")
	log := openLog(t, s, team, second)
	closeLog(t, log, write(t, log, message("newest", noon.Add(2*time.Hour))))

	sessions := list(t, s, team)
	want := []string{second, third, first}
	var got []string
	for i, session := range sessions {
		got = append(got, session.SessionID)
		if i > 0 && session.UpdatedAt.After(sessions[i-1].UpdatedAt) {
			t.Errorf("row %d is newer than the one before it", i)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the list is %v, want %v", got, want)
	}
}

func listRow(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "What is a monad?", "More.")
	sessions := list(t, s, team)
	if len(sessions) != 1 {
		t.Fatalf("%d rows", len(sessions))
	}
	got := sessions[0]
	if got.SessionID != id || got.TeamID != team || got.MessageCount != 2 || got.Title != "What is a monad?" {
		t.Errorf("the row is %+v", got)
	}
	if !got.CreatedAt.Equal(noon) || !got.UpdatedAt.Equal(noon.Add(2*time.Second)) || got.LastSpeakerID != human.ID || got.Summary() == "" {
		t.Errorf("the row is %+v", got)
	}
}

func latest(t *testing.T, s store.Store) {
	_, err := s.Latest(team)
	checkNotFound(t, "latest of nothing", err)
	kept(t, s, team, noon.Add(3*time.Hour))
	_, err = s.Latest(team)
	checkNotFound(t, "latest of a session without messages", err)

	older := kept(t, s, team, noon, "a")
	newer := kept(t, s, team, noon.Add(time.Hour), "b")
	check := func(want string) {
		t.Helper()
		got, err := s.Latest(team)
		if err != nil || got.SessionID != want || got.TeamID != team || got.MessageCount == 0 {
			t.Errorf("the latest is %+v, %v, want %s", got, err, want)
		}
	}
	check(newer)
	log := openLog(t, s, team, older)
	closeLog(t, log, write(t, log, message("newest", noon.Add(2*time.Hour))))
	check(older)
	if err := s.Delete(team, older); err != nil {
		t.Fatal(err)
	}
	check(newer)
}

func deleteOne(t *testing.T, s store.Store) {
	id, other := kept(t, s, team, noon, "a"), kept(t, s, team, noon, "b")
	if err := s.Delete(team, id); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load(team, id)
	checkNotFound(t, "load of a deleted session", err)
	_, err = s.Open(team, id)
	checkNotFound(t, "open of a deleted session", err)
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].SessionID != other {
		t.Errorf("the list is %v, want %s alone", sessions, other)
	}
	checkTexts(t, s, other, "b")
}

func deleteNothing(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "a")
	for _, what := range []string{id, id, ulid.Make().String(), "", "..", "../../etc/passwd"} {
		if err := s.Delete(team, what); err != nil {
			t.Errorf("delete of %q: %v", what, err)
		}
	}
	if err := s.Delete("nobody", ulid.Make().String()); err != nil {
		t.Error("delete in an unknown team:", err)
	}
}
