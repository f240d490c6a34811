package apptest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// crashedSession writes a session of three turns: one that ended, one that was
// interrupted and ended by the resumption, and one that a crash left open.
func CrashedSession(t *testing.T, home string) *journal.Dir {
	t.Helper()
	dir := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{})
	log, err := dir.Create(AliceID)
	if err != nil {
		t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	at := time.Now()
	payloads := []projection.Payload{
		projection.SessionCreated{Format: projection.Format, SessionID: AliceID, Team: projection.Team{
			ID: "review", Name: "review", Members: []projection.Member{{ID: "ada", Name: "ada", DisplayName: "Ada",
				Type: projection.TypeAI}},
		}},
		projection.NewMessage("m1", at, you, "one", nil),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
		projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "look"},
		projection.ToolCompleted{TurnID: "t1", ToolID: "x", Name: "look"},
		projection.NewMessage("m2", at, ada, "two", nil),
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done},
		projection.NewMessage("m3", at, you, "three", nil),
		projection.TurnStarted{TurnID: "t2", MemberID: "ada"},
		projection.TurnText{TurnID: "t2", Text: "a part "},
		projection.TurnText{TurnID: "t2", Text: "of it"},
		projection.SessionResumed{},
		projection.TurnEnded{TurnID: "t2", MemberID: "ada", FinishReason: projection.Interrupted,
			Partial: "a part of it"},
		projection.NewMessage("m4", at, you, "four", nil),
		projection.TurnStarted{TurnID: "t3", MemberID: "ada"},
		projection.TurnText{TurnID: "t3", Text: "the beginning, "},
		projection.TurnText{TurnID: "t3", Text: "and the rest"},
	}
	var records []journal.Record
	for _, p := range payloads {
		records = append(records, projection.Record(at, p))
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
