package tty

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var floods = map[string]string{
	"a word":                  "x",
	"words":                   "word ",
	"combining marks":         "\u0301",
	"a letter, then marks":    "a\u0301\u0301\u0301",
	"blanks":                  " ",
	"tabs":                    "\t",
	"East Asian text":         "请",
	"fences":                  "```\n",
	"a fence that never ends": "`",
	"table cells":             "| x ",
}

// TestWrapperTakesTimeInProportion compares texts with others of eight times the length. They arrive in pieces,
// and the terminal is wider than most.
func TestWrapperTakesTimeInProportion(t *testing.T) {
	for name, unit := range floods {
		t.Run(name, func(t *testing.T) {
			small := strings.Repeat(unit, 32<<10/len(unit))
			var once, eightfold time.Duration
			for range 3 { // the first comparison warms the caches
				once, eightfold = wrappingTime(t, small), wrappingTime(t, strings.Repeat(small, 8))
				if eightfold < 24*once {
					return
				}
			}
			t.Errorf("%d bytes took %v, eight times that took %v", len(small), once, eightfold)
		})
	}
}

// wrappingTime returns the least processor time of several attempts. Linux measures it for the thread, so other
// load does not matter.
func wrappingTime(t *testing.T, text string) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Hour
	for range 3 {
		runtime.GC()
		start := threadTime(t)
		w := &Wrapper{Width: func() int { return 500 }}
		for rest := text; rest != ""; {
			n := min(len(rest), 1000)
			w.Pass(rest[:n])
			rest = rest[n:]
		}
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
