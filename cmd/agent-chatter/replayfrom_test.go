package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// crashedSession writes a session of three turns: one that ended, one that was
// interrupted and ended by the resumption, and one that a crash left open.
func crashedSession(t *testing.T, home string) *journal.Dir {
	t.Helper()
	dir := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{})
	log, err := dir.Create(aliceID)
	if err != nil {
		t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	at := now()
	payloads := []projection.Payload{
		projection.SessionCreated{Format: projection.Format, SessionID: aliceID, Team: projection.Team{
			ID: "review", Name: "review", Members: []projection.Member{{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}},
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
		projection.TurnEnded{TurnID: "t2", MemberID: "ada", FinishReason: projection.Interrupted, Partial: "a part of it"},
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

func printed(t *testing.T, home string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"--home", home}, args...), &app{stdin: os.Stdin, stdout: &stdout, stderr: &stderr}); code != exitDone {
		t.Fatalf("%v ends with %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// from keeps the lines of JSON with at least a sequence number.
func from(t *testing.T, lines string, seq uint64) string {
	t.Helper()
	var kept strings.Builder
	for line := range strings.Lines(lines) {
		var said struct{ Seq uint64 }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		if said.Seq >= seq {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func TestReplayFromAnEventIsTheEndOfTheWholeReplay(t *testing.T) {
	home := t.TempDir()
	dir := crashedSession(t, home)
	for _, where := range []string{"live", "archived"} {
		if where == "archived" {
			if err := dir.Archive(aliceID); err != nil {
				t.Fatal(err)
			}
		}
		for _, format := range []string{"json", "events"} {
			for _, end := range []uint64{10, 16, 17} { // there are 17
				args := []string{"replay", aliceID, "--output", format}
				if end < 17 {
					args = append(args, "--to", fmt.Sprint(end))
				}
				whole := printed(t, home, args...)
				for seq := uint64(1); seq <= end; seq++ {
					got := printed(t, home, append(args, "--from", fmt.Sprint(seq))...)
					if diff := cmp.Diff(from(t, whole, seq), got); diff != "" {
						t.Errorf("%s, %v --from %d (-want +got):\n%s", where, args, seq, diff)
					}
				}
			}
		}
	}
}
