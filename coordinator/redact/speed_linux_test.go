package redact_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"golang.org/x/sys/unix"
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

// redactingTime returns the least processor time of several attempts. Linux measures it for the
// thread, so other load does not matter.
func redactingTime(t *testing.T, r *redact.Redactor, letter string) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text := strings.Repeat(letter, 1<<20)
	least := time.Hour
	for range 5 {
		start := threadTime(t)
		r.Text(text)
		least = min(least, threadTime(t)-start)
	}
	return least
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}
