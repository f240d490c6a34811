package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestReplayFromSkipsEarlierEvents(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	log, err := crashedSession(t, home).Open(t.Context(), aliceID)
	if err != nil {
		t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	text := strings.Repeat("a kettle ", 1_100)
	var last journal.Event
	for range 300 { // 30 MB, of which opening checks the last 8
		var batch []journal.Record
		for range 10 {
			message := projection.NewMessage("01KAJ000000000000000000000", time.Now(), you, text, nil)
			batch = append(batch, projection.Record(time.Now(), message))
		}
		appended, err := log.Append(batch...)
		if err != nil {
			t.Fatal(err)
		}
		last = appended[len(appended)-1]
		if err := log.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	printed(t, home, "sessions") // updates the index

	before := bytesRead(t)
	printed(t, home, "replay", aliceID, "--from", fmt.Sprint(last.Seq))
	if read := bytesRead(t) - before; read > 15_000_000 {
		t.Errorf("replay reads %d bytes of a journal of 30 MB", read)
	}
}

// bytesRead is the number of bytes that this process has read so far.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("the system does not count reads: ", err)
	}
	if _, err := fmt.Sscanf(string(io), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
