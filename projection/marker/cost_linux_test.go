package marker_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// TestParsingTakesTimeInProportion compares texts of one length and of twice that length: a
// search that starts over at every byte would take four times as long.
func TestParsingTakesTimeInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, which -short leaves out")
	}
	const size = 256 << 10
	growing := strings.Builder{} // runs of backticks, none of them as long as another
	for n := 1; growing.Len() < size; n++ {
		growing.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, unit := range map[string]string{
		"opening brackets":    "[",
		"closing brackets":    "]",
		"backticks":           "`",
		"runs of backticks":   "` `` ",
		"more and more":       growing.String(),
		"open markers":        "[NEXT:",
		"open tasks":          "[TEAM_TASK:",
		"markers on one line": "[NEXT:a]",
		"marker lines":        "[NEXT:a]\n",
		"nested markers":      "[NE[NEXT:a]XT:",
		"blank lines":         "\n",
		"blank line, marker":  " \n[DROP:a]\n",
		"fences":              "```\n",
		"fences of info":      "~~~`\n",
		"indented fences":     "    ~~~x\n",
		"markers of lists":    "- 1. ",
		"items with fences":   "- ```\n- x\n",
		"commas":              "[NEXT:,,,,,,]",
		"backslashes":         "\\`",
	} {
		t.Run(name, func(t *testing.T) {
			small := strings.Repeat(unit, 1+size/4/len(unit))
			var once, eightfold time.Duration
			for range 3 { // a first comparison warms the caches up
				once, eightfold = parsingTime(t, small), parsingTime(t, strings.Repeat(small, 8))
				if eightfold < 32*once { // 8 is proportion, 64 the square
					return
				}
			}
			t.Errorf("%d bytes took %v, eight times that took %v", len(small), once, eightfold)
		})
	}
}

// parsingTime is the least processor time that one of several attempts takes to
// parse the text. Linux counts it for the thread: what else runs does not
// matter.
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
