package figures

import (
	"fmt"
	"testing"
	"time"
)

// prompted is on the terminal of a chat of the demo team when the chat has drawn
// its live region.
const prompted = "you> "

// paint measures the time until a new chat has drawn its live region, next to
// --version on a terminal.
func (f *figures) paint(t *testing.T) {
	v := version{f.program, f.home(t)}
	v.do(t, nil, "chat", "-m", "hello") // only the first chat looks for agents
	results := f.race(t,
		contestant{
			name: "chat, to the first paint", home: v.home, prints: prompted, terminal: true,
			args: []string{f.program, "chat"},
		},
		contestant{
			name: "agent-chatter --version, on a terminal", prints: ".", terminal: true,
			args: []string{f.program, "--version"},
		},
	)
	printCosts(results)
	relative := results[0].wall().Seconds() / results[1].wall().Seconds()
	f.atMost(results[0].name+", relative to --version", relative, 2, "×")
}

// paintTimes measures the time until a resumed chat has drawn its live region,
// for the shortest and the longest session.
func (f *figures) paintTimes(t *testing.T, sessions []conversation) {
	var contestants []contestant
	for _, s := range sessions {
		if s.messages != f.resumed[0] && s.messages != f.resumed[len(f.resumed)-1] {
			continue
		}
		contestants = append(contestants, contestant{
			name: fmt.Sprintf("chat --resume, %d messages, to the first paint", s.messages), home: s.home,
			prints: prompted, terminal: true, args: []string{f.program, "chat", "--resume", s.id},
		})
	}
	results := f.race(t, contestants...)
	printCosts(results)
	shortest, longest := results[0], results[1]
	f.takesAtMost(longest, 50*time.Millisecond)
	relative := longest.wall().Seconds() / shortest.wall().Seconds()
	f.atMost(longest.name+", relative to the shortest session", relative, 1.5, "×")
	f.atMost(longest.name+": memory", float64(longest.peak())/1e6, 60, "MB")
}
