//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tailed are the journals as tail --all printed them: the lines of each session
// without the id that was added.
func tailed(t *testing.T, shown string) map[string]string {
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

// sameJournals waits until as many events are printed as there are in the
// journals of a home, and fails unless they are these, each once.
func sameJournals(t *testing.T, home string, tail *program) {
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
		t.Errorf("of %d journals %d were printed", len(paths), len(printed))
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if want := readFile(t, path); printed[id] != want {
			t.Errorf("of %s tail printed\n%s\nthe journal is\n%s", id, printed[id], want)
		}
	}
}

// printed waits for so many lines.
func (p *program) printed(lines int) {
	p.t.Helper()
	timeout := time.After(patience)
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

// everything is how many events make a tail begin at the beginning.
const everything = "1000000"

func TestTailOfAllFindsNewSessionsNewTeamsAndWhatComesBackFromTheArchive(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "before it began")
	first := listed(t, home)[0].ID
	tail := start(t, home, "tail", "-f", "--all", "-n", everything, "--output", "json")
	tail.says("before it began")

	do(t, home, exitDone, "chat", "-m", "a new session")
	tail.says("a new session")
	do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "a new team")
	tail.says("a new team")
	do(t, home, exitDone, "chat", "--resume", first, "-m", "an old session")
	tail.says("an old session")
	do(t, home, exitDone, "compact", first, "--keep", "0", "--archive-after", "0s")
	do(t, home, exitDone, "chat", "--resume", first, "-m", "from the archive")
	tail.says("from the archive")
	do(t, home, exitDone, "chat", "-m", "the end of it all")
	tail.says("the end of it all")
	sameJournals(t, home, tail)
}

func TestTailOfAllPrintsEveryEventOnceWhileSessionsGrow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const chats, messages = 3, 60
	var writing sync.WaitGroup
	running := make([]*program, chats)
	for i := range running {
		running[i] = start(t, home, "chat")
		running[i].types("hello")
		running[i].says("Critic: ")
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

func TestTailOfAllNamesADamagedSessionAndGoesOnWithTheOthers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	chat := start(t, home, "chat")
	chat.types("one", "two")
	chat.closeInput()
	chat.ends(exitDone)
	id, path := onlyJournal(t, home)
	if err := damageIn(path, `"one"`); err != nil {
		t.Fatal(err)
	}
	tail := start(t, home, "tail", "-f", "--all", "--output", "json")
	tail.notes("agent-chatter repair " + id)
	do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "another one")
	tail.says("another one")
	tail.says("session.ended")
	tail.signal(syscall.SIGTERM)
	tail.ends(exitDone)
}

func TestTailOfAllShowsASessionThatIsRestoredAndGoesOn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "one")
	id, _ := onlyJournal(t, home)
	tail := start(t, home, "tail", "-f", "--all", "-n", everything, "--output", "json")
	tail.says("session.ended")
	for n := range 3 {
		text := fmt.Sprint("message ", n)
		do(t, home, exitDone, "chat", "--resume", id, "-m", text)
		tail.says(text)
		tail.says("session.ended")
		do(t, home, exitDone, "sessions", "delete", id, "--yes")
		if n == 0 {
			tail.notes("sessions restore " + id)
		}
		do(t, home, exitDone, "sessions", "restore", id)
	}
	do(t, home, exitDone, "chat", "--resume", id, "-m", "the end of it all")
	sameJournals(t, home, tail)
}

func TestTailOfAllShowsWhatIsInADirectoryThatIsRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "a first session")
	_, path := onlyJournal(t, home)
	directory := filepath.Dir(path)
	tail := start(t, home, "tail", "-f", "--all", "--output", "json")
	tail.says("session.ended")
	for n := range 3 {
		do(t, home, exitDone, "chat", "--resume", "-m", fmt.Sprint("going on ", n)) // so that it is followed
		tail.says("session.ended")
		if err := os.RemoveAll(directory); err != nil {
			t.Fatal(err)
		}
		tail.notes("is gone")
		do(t, home, exitDone, "chat", "-m", fmt.Sprint("a new session ", n))
		tail.says(fmt.Sprint("a new session ", n))
		tail.says("session.ended")
	}
}

func TestTailOfAllGoesOnBehindARepair(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	chat := start(t, home, "chat")
	chat.types("one", "two")
	chat.closeInput()
	chat.ends(exitDone)
	id, path := onlyJournal(t, home)
	if err := damageIn(path, `"one"`); err != nil {
		t.Fatal(err)
	}
	tail := start(t, home, "tail", "-f", "--all", "--output", "json")
	tail.notes("agent-chatter repair " + id)
	do(t, home, exitDone, "repair", id)
	tail.says("journal.recovered")
	tail.says("two")
	do(t, home, exitDone, "chat", "--resume", id, "-m", "three")
	tail.says("three")
	if said := strings.Count(tail.stderr.String(), "agent-chatter repair"); said != 1 {
		t.Errorf("the damage was told %d times:\n%s", said, tail.stderr)
	}
}
