package archive_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// BenchmarkArchive archives journals of 100 MB in which a file is quoted
// repeatedly, and one without repetitions. It reports the compression ratio, and
// the bytes written, read back and compared per second.
func BenchmarkArchive(b *testing.B) {
	quotingJournals(b, func(b *testing.B, dir *journal.Dir, id string, data []byte) {
		live := filepath.Join(dir.Path(), id+".jsonl")
		for b.Loop() {
			log, err := dir.Open(b.Context(), id)
			must(b, err)
			must(b, log.Archive(b.Context()))
			b.StopTimer()
			archived := filepath.Join(dir.Path(), "archive", id+".jsonl.zst")
			b.ReportMetric(float64(len(data))/float64(len(readFile(b, archived))), "ratio")
			must(b, os.Remove(archived))
			must(b, os.WriteFile(live, data, 0o600))
			b.StartTimer()
		}
	})
}

func quotingJournals(b *testing.B, bench func(b *testing.B, dir *journal.Dir, id string, data []byte)) {
	for _, quoted := range []int{20_000, 200_000, 1_000_000, 0} {
		name := fmt.Sprintf("quotes-of-%d", quoted)
		if quoted == 0 {
			name = "no-quotes"
		}
		b.Run(name, func(b *testing.B) {
			dir := journal.NewDir(filepath.Join(b.TempDir(), "journals"), journal.Options{})
			id := quotingJournal(b, dir, quoted, 100_000_000)
			data := readFile(b, filepath.Join(dir.Path(), id+".jsonl"))
			b.SetBytes(int64(len(data)))
			bench(b, dir, id, data)
		})
	}
}

// quotingJournal creates a journal of the given size: short messages of random
// words, each followed by the same file of the given size.
func quotingJournal(tb testing.TB, dir *journal.Dir, quoted, size int) (id string) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	file := prose(random, quoted)
	log, err := dir.Create(dir.NewID())
	must(tb, err)
	for written := 0; written < size; {
		text := prose(random, 20+random.IntN(2000)) + file
		data, err := json.Marshal(map[string]any{"id": fmt.Sprintf("%016x", random.Uint64()), "content": text})
		must(tb, err)
		_, err = log.Append(journal.Record{Type: "message.appended", Data: data})
		must(tb, err)
		written += len(data)
	}
	must(tb, log.Close())
	return log.ID()
}

// prose returns random text that compresses about as well as source code.
func prose(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		word := random.IntN(200 + random.IntN(20_000)) // some are frequent
		fmt.Fprintf(&b, "%s%c", []string{"let", "return", "value", "if",
			"error"}[word%5]+strings.ToLower(fmt.Sprintf("%X", word)), " \t\n.("[random.IntN(5)])
	}
	return b.String()[:size]
}
