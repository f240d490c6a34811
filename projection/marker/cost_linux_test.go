package marker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/cputest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// TestParseTakesTimeInProportion compares texts with others of eight times the length: a search that starts
// over at every byte would take 64 times as long.
func TestParseTakesTimeInProportion(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes seconds")
	const size = 32 << 10
	for name, unit := range map[string]string{
		"opening brackets":    "[",
		"closing brackets":    "]",
		"open markers":        "[NEXT:",
		"open tasks":          "[TEAM_TASK:",
		"markers on one line": "[NEXT:a]",
		"marker lines":        "[NEXT:a]\n",
		"nested markers":      "[NE[NEXT:a]XT:",
		"blank line, marker":  " \n[DROP:a]\n",
		"code spans":          "`[NEXT:a]` ",
		"fences":              "```\n[NEXT:a]\n```\n",
		"judges":              "[NEXT:a judges b|c]",
		"many judges":         "[NEXT: judges  judges  judges ]",
		"panels":              "[NEXT:a|b]",
		"bars":                "[NEXT:||||||]",
		"commas":              "[NEXT:,,,,,,]",
	} {
		t.Run(name, func(t *testing.T) {
			small := "[NEXT:a]" + strings.Repeat(unit, size/len(unit))
			var once, eightfold time.Duration
			for range 3 { // the first comparison warms the caches up
				once, eightfold = parsingTime(t, small), parsingTime(t, strings.Repeat(small, 8))
				if eightfold < 32*once {
					return
				}
			}
			t.Errorf("%d bytes took %v, eight times that took %v", len(small), once, eightfold)
		})
	}
}

func parsingTime(t *testing.T, text string) time.Duration {
	t.Helper()
	return cputest.Least(t, 5, func() { marker.Parse(text) })
}
