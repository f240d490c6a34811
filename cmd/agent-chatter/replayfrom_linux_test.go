package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestReplayFromAnEventDoesNotReadWhatLiesBefore(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(crashedSession(t, home).Path(), aliceID+".jsonl")
	talkOn(t, path, 16_000)      // 30 MB, of which whoever opens it checks the last 8
	printed(t, home, "sessions") // now the index knows the session

	before := bytesRead(t)
	printed(t, home, "replay", aliceID, "--from", fmt.Sprint(lastSeq(t, path)))
	if read := bytesRead(t) - before; read > fileSize(t, path)/2 {
		t.Errorf("it reads %d bytes of a journal of %d", read, fileSize(t, path))
	}
}

// bytesRead is how much this process has read so far, wherever from.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("the system does not count what is read: ", err)
	}
	if _, err := fmt.Sscanf(string(io), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
