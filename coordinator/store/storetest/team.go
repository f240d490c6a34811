package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
)

func otherTeam(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	kept(t, s, "others", noon, "two")
	for _, teamID := range []string{"others", "unheard-of"} {
		_, err := s.Open(teamID, id)
		var mismatch *store.TeamMismatchError
		if !errors.As(err, &mismatch) {
			t.Errorf("open by %s: %v, want a *TeamMismatchError", teamID, err)
			continue
		}
		if want := (store.TeamMismatchError{SessionID: id, Want: team, Got: teamID}); *mismatch != want {
			t.Errorf("the mismatch is %+v, want %+v", *mismatch, want)
		}
	}
	log := openLog(t, s, team, id) // a refused open holds no lock
	closeLog(t, log, log.State())
}

func twoTeams(t *testing.T, s store.Store) {
	// Names that a careless file name would make one.
	teams := []string{"团队A", "团组A", "Dev", "dev", "../../etc", "a/b", "a_b", "con", strings.Repeat("long", 100)}
	ids := map[string]string{}
	for _, teamID := range teams {
		ids[teamID] = kept(t, s, teamID, noon, "of "+teamID)
	}
	for _, teamID := range teams {
		sessions := list(t, s, teamID)
		if len(sessions) != 1 || sessions[0].SessionID != ids[teamID] || sessions[0].TeamID != teamID {
			t.Errorf("%.20q has %+v", teamID, sessions)
		}
		if got, err := s.Latest(teamID); err != nil || got.SessionID != ids[teamID] {
			t.Errorf("the latest of %.20q is %+v, %v", teamID, got, err)
		}
	}
	_, err := s.Load("dev", ids["Dev"])
	checkNotFound(t, "load of another team's session", err)
	if err := s.Delete("dev", ids["Dev"]); err != nil {
		t.Error("delete of another team's session:", err)
	}
	if sessions := list(t, s, "Dev"); len(sessions) != 1 {
		t.Error("a team could delete another one's session")
	}
}
