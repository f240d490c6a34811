package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// edits are random changes of a file, each at one line.
var edits = []struct {
	name string
	edit func(random *rand.Rand, lines [][]byte, k int) [][]byte
}{
	{"a byte changed", func(random *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = bytes.Clone(lines[k])
		lines[k][random.IntN(len(lines[k]))] ^= 1 << random.IntN(8)
		return lines
	}},
	{"a line lost", func(_ *rand.Rand, lines [][]byte, k int) [][]byte { return slices.Delete(lines, k, k+1) }},
	{"a line duplicated", func(_ *rand.Rand, lines [][]byte,
		k int) [][]byte {
		return slices.Insert(lines, k, lines[k])
	}},
	{"lines swapped", func(random *rand.Rand, lines [][]byte, k int) [][]byte {
		other := random.IntN(len(lines))
		lines[k], lines[other] = lines[other], lines[k]
		return lines
	}},
	{"a newline lost", func(_ *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = bytes.TrimSuffix(lines[k], []byte("\n"))
		return lines
	}},
	{"a truncated line", func(random *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = lines[k][:random.IntN(len(lines[k]))]
		return slices.DeleteFunc(lines, func(line []byte) bool { return len(line) == 0 })
	}},
	{"a lost page", func(_ *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = make([]byte, len(lines[k]))
		return lines
	}},
	{"bytes inserted", func(random *rand.Rand, lines [][]byte, k int) [][]byte {
		return slices.Insert(lines, k, []byte(strings.Repeat("x", 1+random.IntN(3000))+"\n"))
	}},
	{"truncated after the line", func(_ *rand.Rand, lines [][]byte, k int) [][]byte { return lines[:k+1] }},
	{"truncated before the line", func(_ *rand.Rand, lines [][]byte, k int) [][]byte { return lines[k:] }},
	{"sums recomputed", func(_ *rand.Rand, lines [][]byte, k int) [][]byte {
		return splitLines(sealLines(bytes.Join(lines, nil)))
	}},
	{"a line lengthened", func(random *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = bytes.Replace(lines[k], []byte(`"pad":"`),
			[]byte(`"pad":"`+strings.Repeat("y", 1500+random.IntN(1000))), 1)
		return lines
	}},
	{"a line of another layout", func(_ *rand.Rand, lines [][]byte, k int) [][]byte {
		lines[k] = bytes.Replace(lines[k], []byte(`{"seq":`), []byte(`{ "seq" : `), 1)
		return lines
	}},
}

// After several random edits, the properties of the fuzz targets hold. The fuzz
// targets start from bytes, this test from edits that can happen to a journal.
func TestEditsLeaveTheValidLines(t *testing.T) {
	t.Parallel()
	source := newDir(t)
	lines := splitLines(readFile(t, filepath.Join(source.Path(), newJournal(t, source, 3)+".jsonl")))
	var applied string
	var content []byte
	defer func() {
		if t.Failed() {
			t.Logf("%s\n%s", applied, content)
		}
	}()
	seeds := uint64(500)
	if !sizetest.Full() {
		seeds = 150
	}
	for seed := range seeds {
		content, applied = edited(rand.New(rand.NewPCG(seed, 0)), lines)
		checkCorrupt(t, content, validPrefix(content))
		checkRepaired(t, content)
		if t.Failed() {
			return
		}
	}
}

func edited(random *rand.Rand, lines [][]byte) (content []byte, applied string) {
	lines = slices.Clone(lines)
	for range 1 + random.IntN(4) {
		if len(lines) == 0 {
			break
		}
		e, k := edits[random.IntN(len(edits))], random.IntN(len(lines))
		applied += fmt.Sprintf("%s in line %d; ", e.name, k+1)
		lines = e.edit(random, slices.Clone(lines), k)
		lines = splitLines(bytes.Join(lines, nil))
	}
	return bytes.Join(lines, nil), applied
}

// validPrefix returns the events of a file up to its first invalid line.
func validPrefix(content []byte) (events []journal.Event) {
	var before journal.Sum
	for _, line := range splitLines(content) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		e, err := journal.DecodeLine(body, before)
		if !whole || len(line) > journal.MinMaxLine || err != nil || e.Seq != uint64(len(events))+1 {
			break
		}
		events, before = append(events, e), e.Sum
	}
	return events
}
