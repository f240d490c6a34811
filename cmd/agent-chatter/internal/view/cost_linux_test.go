package view

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/cputest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// streamingTime is the processor time that stream takes.
func streamingTime(t *testing.T, text string) time.Duration {
	return cputest.Least(t, 2, func() { stream(text) })
}

// TestHostileTextCostsItsLength allows a text that is 8 times as long 32 times the time.
func TestHostileTextCostsItsLength(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes seconds")
	const size = 8 << 10
	long := hostileTexts(8 * size)
	for i, text := range hostileTexts(size) {
		took, longer := streamingTime(t, text), streamingTime(t, long[i])
		if longer > 32*took {
			t.Errorf("%.20q: %d bytes take %v, %d take %v", text, len(text), took, len(long[i]), longer)
		}
	}
}

func TestLongestWordAndWidestTable(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes seconds")
	word, short := streamingTime(t, strings.Repeat("w", 60<<20)), streamingTime(t, strings.Repeat("w", 6<<20))
	if word > 40*short {
		t.Errorf("a word of 60 MB takes %v, one of 6 MB %v", word, short)
	}
	columns := strings.Repeat("|a", 10_000)
	table := columns + "\n" + strings.ReplaceAll(columns, "a", "-") + "\n" + strings.Repeat(columns+"\n", 20)
	prose := strings.Repeat("Some *text* with `code`.\n\n", len(table)/26)
	if took, usual := streamingTime(t, table), streamingTime(t, prose); took > 50*usual {
		t.Errorf("a table of 10,000 columns takes %v, prose %v", took, usual)
	}
}
