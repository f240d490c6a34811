package wrap

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/cputest"
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

func wrappingTime(t *testing.T, text string) time.Duration {
	t.Helper()
	return cputest.Least(t, 3, func() {
		w := &Wrapper{Width: func() int { return 500 }}
		for rest := text; rest != ""; {
			n := min(len(rest), 1000)
			w.Pass(rest[:n])
			rest = rest[n:]
		}
	})
}
