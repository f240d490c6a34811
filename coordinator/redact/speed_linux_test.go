package redact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal/cputest"
)

// TestRunOfPrefixLetterIsFast compares texts of one letter: a token could begin at every byte of some.
func TestRunOfPrefixLetterIsFast(t *testing.T) {
	r := redact.New(nil)
	for _, letter := range []string{"x", "s", "A", "h", "g", "n", "d", "-"} {
		var some, other time.Duration
		for range 3 { // the first comparison warms the caches
			some, other = redactingTime(t, r, letter), redactingTime(t, r, "e")
			if some < 5*other {
				break
			}
		}
		if some >= 5*other {
			t.Errorf("a run of %q took %v, one of e %v", letter, some, other)
		}
	}
}

func redactingTime(t *testing.T, r *redact.Redactor, letter string) time.Duration {
	t.Helper()
	text := strings.Repeat(letter, 1<<20)
	return cputest.Least(t, 5, func() { r.Text(text) })
}
