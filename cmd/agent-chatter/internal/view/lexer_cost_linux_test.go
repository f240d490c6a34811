package view

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/cputest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// TestHostileCodeCostsLikeCode allows 50 times the time of code.
func TestHostileCodeCostsLikeCode(t *testing.T) {
	racetest.SkipSequential(t)
	const size = 32 << 10
	cost := func(language, line string) time.Duration {
		return cputest.Least(t, 2, func() {
			l := NewLexer(language)
			l.Line(line)
		})
	}
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	hostile := []string{strings.Repeat(" ", size/2) + strings.Repeat("a ", size/4)}
	for _, unit := range []string{"a ", `"\`, "'\\'", "/*", "$(", "<a ", "((", "#", "é", "\\", "' "} {
		hostile = append(hostile, fill(unit))
	}
	usual := cost("go", fill("func f(a int) { return \"b\" } "))
	for i := range languages {
		language := strings.Fields(languages[i].names)[0]
		for _, line := range hostile {
			if took := cost(language, line); took > 50*usual {
				t.Errorf("%s: %q… took %v, code takes %v", language, line[len(line)-8:], took, usual)
			}
		}
	}
}
