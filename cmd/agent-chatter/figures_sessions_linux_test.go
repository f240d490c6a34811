package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// The speakers of the sessions that are written here are those of the demo team.
var (
	figuresYou     = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	figuresPlanner = projection.Speaker{ID: "planner", Name: "planner", DisplayName: "Planner", Type: projection.TypeAI}
)

// writtenSession writes a session with so many messages, of about 10 KB with
// their turns, into a home, and returns its journal.
func writtenSession(t *testing.T, home string, messages, seed int) string {
	t.Helper()
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := os.MkdirAll(dir.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir.Path(), dir.NewID()+".jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := projectiontest.WriteSession(file, messages, uint64(seed)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	say(t, path, "That is all.") // now, so that it is not newer than that
	return path
}

// talkOn appends messages to a journal: one in two is a person's, of 400 bytes,
// the others an agent's, of 2,800, each with its turn.
func talkOn(t *testing.T, path string, messages int) {
	t.Helper()
	text := strings.Repeat("Then we look at the kettle once more, and write down what we see. ", 50)
	appendBatches(t, path, 200, func(yield func(projection.Payload) bool) {
		for n := range messages {
			id, turn, now := fmt.Sprintf("01KAJ%021d", n), fmt.Sprintf("turn-%d", n), time.Now()
			if n%2 == 0 {
				yield(projection.NewMessage(id, now, figuresYou, fmt.Sprint(n, " ", text[:400]), nil))
				continue
			}
			yield(projection.TurnStarted{TurnID: turn, MemberID: figuresPlanner.ID, AgentType: "demo"})
			yield(projection.NewMessage(id, now, figuresPlanner, fmt.Sprint(n, " ", text[:2_800]), nil))
			yield(projection.TurnEnded{TurnID: turn, MemberID: figuresPlanner.ID, FinishReason: projection.Done, DurationMS: 1})
		}
	})
}

// quoteOn appends so many bytes of messages to a journal, each some made-up text
// and the same file of a given length behind it. No more than a megabyte of them
// is synced at once, as in a chat: what is opened is checked back to a sync.
func quoteOn(t *testing.T, path string, quoted, size int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	file := madeUp(random, quoted)
	appendBatches(t, path, max(1, 1_000_000/quoted), func(yield func(projection.Payload) bool) {
		for written := 0; written < size; {
			text := madeUp(random, 20+random.IntN(2_000)) + file
			yield(projection.NewMessage(fmt.Sprintf("%026X", random.Uint64()), time.Now(), figuresPlanner, text, nil))
			written += len(text)
		}
	})
}

// madeUp is text that compresses about as source code does.
func madeUp(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		word := random.IntN(200 + random.IntN(20_000)) // a few of them often
		fmt.Fprintf(&b, "%s%x%c", []string{"let", "return", "value", "if", "error"}[word%5], word, " \t\n.("[random.IntN(5)])
	}
	return b.String()[:size]
}

// say appends one message to a journal.
func say(t *testing.T, path, text string) {
	t.Helper()
	appendBatches(t, path, 200, func(yield func(projection.Payload) bool) {
		yield(projection.NewMessage("01KAJ999999999999999999999", time.Now(), figuresYou, text, nil))
	})
}

// appendBatches appends events to a journal, so many at a time.
func appendBatches(t *testing.T, path string, size int, payloads iter.Seq[projection.Payload]) {
	t.Helper()
	log, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Open(idOf(path))
	if err != nil {
		t.Fatal(err)
	}
	var batch []journal.Record
	flush := func() {
		if _, err := log.Append(batch...); err != nil {
			t.Fatal(err)
		}
		if err := log.Sync(); err != nil { // as a chat does, so that the lines say how far
			t.Fatal(err)
		}
		batch = batch[:0]
	}
	for p := range payloads {
		if batch = append(batch, projection.Record(time.Now(), p)); len(batch) == size {
			flush()
		}
	}
	if len(batch) > 0 {
		flush()
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// idOf is the id of the session with that journal.
func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }
