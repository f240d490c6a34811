package marker_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// TestParseTakesTimeInProportion compares texts with others of eight times the length: a search that starts
// over at every byte would take 64 times as long.
func TestParseTakesTimeInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
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

// parsingTime returns the processor time that parsing the text takes, the least of several attempts. It is
// that of the thread, so other processes do not matter.
func parsingTime(t *testing.T, text string) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Hour
	for range 5 {
		runtime.GC()
		start := threadTime(t)
		marker.Parse(text)
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
