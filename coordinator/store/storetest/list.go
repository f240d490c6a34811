package storetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
)

func emptyList(t *testing.T, s store.Store) {
	if sessions := list(t, s, "unknown"); len(sessions) != 0 {
		t.Errorf("an unknown team has %v", sessions)
	}
}

func listOrder(t *testing.T, s store.Store) {
	first := add(t, s, team, noon, "a")
	second := add(t, s, team, noon.Add(time.Minute), "b")
	third := add(t, s, team, noon.Add(time.Hour), "c")
	session := open(t, s, team, second)
	session.append(t, message("newest", noon.Add(2*time.Hour)))
	session.close(t)

	sessions := list(t, s, team)
	var got []string
	for i, session := range sessions {
		got = append(got, session.SessionID)
		if i > 0 && session.UpdatedAt.After(sessions[i-1].UpdatedAt) {
			t.Errorf("row %d is newer than the preceding one", i)
		}
	}
	if want := []string{second, third, first}; !reflect.DeepEqual(got, want) {
		t.Errorf("the list is %v, want %v", got, want)
	}
}

func listRow(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "What is a monad?", "More.")
	sessions := list(t, s, team)
	if len(sessions) != 1 {
		t.Fatalf("%d rows", len(sessions))
	}
	got := sessions[0]
	if got.SessionID != id || got.TeamID != team || got.MessageCount != 2 || got.Title != "What is a monad?" {
		t.Errorf("the row is %+v", got)
	}
	if !got.CreatedAt.Equal(noon) || !got.UpdatedAt.Equal(noon.Add(2*time.Second)) ||
		got.LastSpeakerID != human.ID || got.Summary() == "" {
		t.Errorf("the row is %+v", got)
	}
}

func latest(t *testing.T, s store.Store) {
	_, err := s.Latest(t.Context(), team)
	checkNotFound(t, "latest of no sessions", err)
	add(t, s, team, noon.Add(3*time.Hour))
	_, err = s.Latest(t.Context(), team)
	checkNotFound(t, "latest of a session without messages", err)

	older := add(t, s, team, noon, "a")
	newer := add(t, s, team, noon.Add(time.Hour), "b")
	check := func(want string) {
		t.Helper()
		got, err := s.Latest(t.Context(), team)
		if err != nil || got.SessionID != want || got.TeamID != team || got.MessageCount == 0 {
			t.Errorf("the latest is %+v, %v, want %s", got, err, want)
		}
	}
	check(newer)
	session := open(t, s, team, older)
	session.append(t, message("newest", noon.Add(2*time.Hour)))
	session.close(t)
	check(older)
	if err := s.Delete(t.Context(), team, older); err != nil {
		t.Fatal(err)
	}
	check(newer)
}

func deleteOne(t *testing.T, s store.Store) {
	id, other := add(t, s, team, noon, "a"), add(t, s, team, noon, "b")
	if err := s.Delete(t.Context(), team, id); err != nil {
		t.Fatal(err)
	}
	checkNotFound(t, "load of a deleted session", loadError(t, s, team, id))
	checkNotFound(t, "open of a deleted session", openError(t, s, team, id))
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].SessionID != other {
		t.Errorf("the list is %v, want only %s", sessions, other)
	}
	checkTexts(t, s, other, "b")
}

func deleteUnknown(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "a")
	for _, what := range []string{id, id, ulid.Make().String(), "", "..", "../../etc/passwd"} {
		if err := s.Delete(t.Context(), team, what); err != nil {
			t.Errorf("delete of %q: %v", what, err)
		}
	}
	if err := s.Delete(t.Context(), "unknown", ulid.Make().String()); err != nil {
		t.Error("delete in an unknown team:", err)
	}
}

func deleteLocked(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "one")
	id := session.SessionID()
	checkLocked(t, "delete", s.Delete(t.Context(), team, id))
	checkTexts(t, s, id, "one")
	session.close(t)
	if err := s.Delete(t.Context(), team, id); err != nil {
		t.Error("delete after close:", err)
	}
}

func otherTeam(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	add(t, s, "others", noon, "two")
	for _, teamID := range []string{"others", "unheard-of"} {
		err := openError(t, s, teamID, id)
		var mismatch *store.TeamMismatchError
		if !errors.As(err, &mismatch) {
			t.Errorf("open by %s: %v, want a *TeamMismatchError", teamID, err)
			continue
		}
		if want := (store.TeamMismatchError{SessionID: id, Want: team, Got: teamID}); *mismatch != want {
			t.Errorf("the mismatch is %+v, want %+v", *mismatch, want)
		}
	}
	open(t, s, team, id).close(t) // a rejected open holds no lock
}

func separateTeams(t *testing.T, s store.Store) {
	// A careless mapping to file names would merge some of these.
	teams := []string{
		"团队A", "团组A", "Dev", "dev", "../../etc", "a/b", "a_b", "con", strings.Repeat("long", 100),
	}
	ids := map[string]string{}
	for _, teamID := range teams {
		ids[teamID] = add(t, s, teamID, noon, "of "+teamID)
	}
	for _, teamID := range teams {
		sessions := list(t, s, teamID)
		if len(sessions) != 1 || sessions[0].SessionID != ids[teamID] || sessions[0].TeamID != teamID {
			t.Errorf("%.20q has %+v", teamID, sessions)
		}
		if got, err := s.Latest(t.Context(), teamID); err != nil || got.SessionID != ids[teamID] {
			t.Errorf("the latest of %.20q is %+v, %v", teamID, got, err)
		}
	}
	checkNotFound(t, "load of another team's session", loadError(t, s, "dev", ids["Dev"]))
	if err := s.Delete(t.Context(), "dev", ids["Dev"]); err != nil {
		t.Error("delete of another team's session:", err)
	}
	if sessions := list(t, s, "Dev"); len(sessions) != 1 {
		t.Error("a team deleted a session of another team")
	}
}
