//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tailed returns the journals in the output of tail --all: the lines of each
// session without the id that tail adds.
func tailed(t tester, shown string) map[string]string {
	t.Helper()
	journals := map[string]string{}
	for line := range strings.Lines(shown) {
		var event struct{ SessionID string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		added := fmt.Sprintf(`{"sessionId":"%s",`, event.SessionID)
		if !strings.HasPrefix(line, added) {
			t.Fatalf("the session is not the first field of %s", line)
		}
		journals[event.SessionID] += "{" + strings.TrimPrefix(line, added)
	}
	return journals
}

// sameJournals waits until tail has printed as many lines as the journals of a
// home have, ends it, and checks that it has printed each line once.
func sameJournals(t tester, home string, tail *program) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "0*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, path := range paths {
		lines += strings.Count(readFile(t, path), "\n")
	}
	tail.printed(lines)
	tail.signal(syscall.SIGINT)
	tail.ends(exitDone)
	printed := tailed(t, tail.stdout.String())
	if len(printed) != len(paths) {
		t.Errorf("of %d journals, tail printed %d", len(paths), len(printed))
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if want := readFile(t, path); printed[id] != want {
			t.Errorf("of %s tail printed\n%s\nthe journal is\n%s", id, printed[id], want)
		}
	}
}

// printed waits until the program has printed that many lines.
func (p *program) printed(lines int) {
	p.t.Helper()
	timeout := time.After(testTimeout)
	for {
		shown, changed := p.stdout.look()
		if strings.Count(shown, "\n") >= lines {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			p.t.Fatalf("it printed %d lines, not %d:\n%s\n%s", strings.Count(shown, "\n"), lines, shown, p.stderr)
		}
	}
}

// everything is a number of events with which tail begins at the first event.
const everything = "1000000"

func TestTailAllPrintsEachEventOnceWhileSessionsGrow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const chats, messages = 3, 60
	var writing sync.WaitGroup
	running := make([]*program, chats)
	for i := range running {
		running[i] = start(t, home, "chat")
		running[i].enter("hello")
		running[i].expect("Critic: ")
	}
	for _, chat := range running {
		writing.Go(func() {
			for n := range messages {
				fmt.Fprintf(chat.stdin, "message %d\n", n)
			}
			chat.closeInput()
		})
	}
	tail := start(t, home, "tail", "-f", "--all", "-n", everything, "--output", "json")
	writing.Wait()
	for _, chat := range running {
		chat.ends(exitDone)
	}
	sameJournals(t, home, tail)
}
