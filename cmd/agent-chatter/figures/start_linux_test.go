package figures

import (
	"slices"
	"testing"
	"time"
)

// start measures what any command costs before it does its work.
func (f *figures) start(t *testing.T) {
	results := f.race(t,
		contestant{name: "agent-chatter --version", args: []string{f.program, "--version"}, prints: ".", most: 1.15},
		contestant{name: "a Go program that prints a line", args: []string{f.line}, prints: "a line"},
		f.client(t, "mcp", "mcp, initialized", f.home(t), "serverInfo"),
		f.client(t, "acp", "acp, initialized", f.home(t), "agentInfo"),
	)
	printCosts(results)
	f.takesAtMost(results[0], 15*time.Millisecond)
	f.atMost(results[0].name+", wall time relative to a Go program that prints a line, in pairs",
		inPairs(results[0], results[1]), 4, "×")
	for _, r := range results[2:] {
		f.atMost(r.name+", wall time relative to --version", 1/times(results, results[0].name, r), 1.5, "×")
	}
	if slower, ok := slowerThanOld(results[0]); ok {
		f.atMost(results[0].name+", slower than the older version by", slower, 1.5, "ms")
	}
}

// inPairs returns the median ratio of the wall times of two contestants in the same round.
func inPairs(c, other costs) float64 {
	var ratios []float64
	for i := range min(len(c.runs), len(other.runs)) {
		ratios = append(ratios, c.runs[i].Wall.Seconds()/other.runs[i].Wall.Seconds())
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// slowerThanOld returns the median of the differences to the older version, in
// milliseconds, if there is one.
func slowerThanOld(c costs) (float64, bool) {
	var differences []float64
	for i := range c.old {
		differences = append(differences, milliseconds(c.runs[i].Wall-c.old[i].Wall))
	}
	if len(differences) == 0 {
		return 0, false
	}
	slices.Sort(differences)
	return differences[len(differences)/2], true
}
