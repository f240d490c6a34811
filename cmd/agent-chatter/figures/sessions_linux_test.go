package figures

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

// The speakers of the written sessions are those of the demo team.
var (
	you     = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	planner = projection.Speaker{ID: "planner", Name: "planner", DisplayName: "Planner", Type: projection.TypeAI}
)

// sessionDir is the directory of the sessions that writeSession writes.
func sessionDir(home string) string { return filepath.Join(home, "sessions", "kitchen") }

// writeSession writes a session with so many messages, of about 10 KB each with
// their turns, into a home, and returns the path of its journal.
func writeSession(t *testing.T, home string, messages, seed int) string {
	t.Helper()
	dir := journal.NewDir(sessionDir(home), journal.Options{})
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
	if *oldPath != "" {
		rewriteInVersion1(t, path)
	}
	say(t, path, "That is all.") // now, as the last message
	return path
}

// appendMessages appends messages to a journal: one in two is a person's, of 400
// bytes, the others an agent's, of 2,800, each with its turn.
func appendMessages(t *testing.T, path string, messages int) {
	t.Helper()
	text := strings.Repeat("Then we look at the kettle once more, and write down what we see. ", 50)
	appendBatches(t, path, 200, func(yield func(projection.Payload) bool) {
		for n := range messages {
			id, turn, now := fmt.Sprintf("01KAJ%021d", n), fmt.Sprintf("turn-%d", n), time.Now()
			if n%2 == 0 {
				yield(projection.NewMessage(id, now, you, fmt.Sprint(n, " ", text[:400]), nil))
				continue
			}
			yield(projection.TurnStarted{TurnID: turn, MemberID: planner.ID, AgentType: "demo"})
			yield(projection.NewMessage(id, now, planner, fmt.Sprint(n, " ", text[:2_800]), nil))
			yield(projection.TurnEnded{
				TurnID: turn, MemberID: planner.ID, FinishReason: projection.Done, DurationMS: 1,
			})
		}
	})
}

// appendQuotes appends messages of so many bytes in total to a journal, each some
// random text and the same file of a given length. At most a megabyte of them is
// synced at once, as in a chat: opening checks the lines after the last sync.
func appendQuotes(t *testing.T, path string, quoted, size int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	file := randomText(random, quoted)
	appendBatches(t, path, max(1, 1_000_000/quoted), func(yield func(projection.Payload) bool) {
		for written := 0; written < size; {
			text := randomText(random, 20+random.IntN(2_000)) + file
			yield(projection.NewMessage(fmt.Sprintf("%026X", random.Uint64()), time.Now(), planner, text, nil))
			written += len(text)
		}
	})
}

// randomText compresses about as well as source code.
func randomText(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		word := random.IntN(200 + random.IntN(20_000)) // a few of them often
		name := []string{"let", "return", "value", "if", "error"}[word%5]
		fmt.Fprintf(&b, "%s%x%c", name, word, " \t\n.("[random.IntN(5)])
	}
	return b.String()[:size]
}

// say appends one message to a journal.
func say(t *testing.T, path, text string) {
	t.Helper()
	appendBatches(t, path, 200, func(yield func(projection.Payload) bool) {
		yield(projection.NewMessage("01KAJ999999999999999999999", time.Now(), you, text, nil))
	})
}

// appendBatches appends events to a journal, so many at a time.
func appendBatches(t *testing.T, path string, size int, payloads iter.Seq[projection.Payload]) {
	t.Helper()
	log, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Open(t.Context(), idOf(path))
	if err != nil {
		t.Fatal(err)
	}
	var batch []journal.Record
	flush := func() {
		if _, err := log.Append(batch...); err != nil {
			t.Fatal(err)
		}
		if err := log.Sync(); err != nil { // as a chat does: the next line records what is synced
			t.Fatal(err)
		}
		batch = batch[:0]
	}
	for p := range payloads {
		if batch = append(batch, record(time.Now(), p)); len(batch) == size {
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

// onlyJournal returns the id and the journal of the only session in a home.
func onlyJournal(t *testing.T, home string) (id, path string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("journals: %q, %v", paths, err)
	}
	return idOf(paths[0]), paths[0]
}
