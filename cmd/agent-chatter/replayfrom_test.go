package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/google/go-cmp/cmp"
)

func printed(t *testing.T, home string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"--home", home}, args...), app.IO{Stdin: os.Stdin, Stdout: &stdout,
		Stderr: &stderr}); code != exitDone {
		t.Fatalf("%v ends with %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// from returns the lines of JSON from a sequence number on.
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

func TestReplayFromEqualsEndOfFullReplay(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	dir := crashedSession(t, home)
	for _, where := range []string{"live", "archived"} {
		if where == "archived" {
			if err := journaltest.Archive(t.Context(), dir, aliceID); err != nil {
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
