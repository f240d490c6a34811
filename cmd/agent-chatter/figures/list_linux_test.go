package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// list measures the list of the newest sessions, by the number of sessions.
func (f *figures) list(t *testing.T) {
	most := map[int]time.Duration{10_000: 60 * time.Millisecond, 100_000: time.Second}
	var all []costs
	for _, sessions := range f.listed {
		results := f.listTimes(t, sessions)
		all = append(all, results...)
		unchanged, grown := results[0], results[1]
		if most, wanted := most[sessions]; wanted {
			f.takesAtMost(unchanged, most)
			f.takesAtMost(grown, most)
		}
		relative := grown.wall().Seconds() / unchanged.wall().Seconds()
		f.atMost(grown.name+", relative to the unchanged list", relative, 1.2, "×")
	}
	printCosts(all)
}

func (f *figures) listTimes(t *testing.T, sessions int) (results []costs) {
	t.Helper()
	home := f.home(t)
	ids, err := catalogtest.Sessions{Count: sessions}.Fill(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	team := func(v version) string { return filepath.Join(v.home, "sessions", "demo") }
	grow := func(t *testing.T, v version) {
		say(t, filepath.Join(team(v), ids[len(ids)/2]+".jsonl"), "one more message")
	}
	removeIndex := func(t *testing.T, v version) {
		if err := os.Remove(filepath.Join(team(v), "sessions.json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []contestant{
		{name: fmt.Sprintf("sessions --limit 20, of %d", sessions), most: 1.15},
		{name: fmt.Sprintf("the same, one of %d grew", sessions), prepare: grow, most: 1.15},
		{name: fmt.Sprintf("the same of %d, without sessions.json", sessions), prepare: removeIndex},
	} {
		c.home, c.args = home, []string{f.program, "sessions", "--limit", "20"}
		results = append(results, f.race(t, c)...)
	}
	dir := team(version{home: home})
	return append(results, f.race(t,
		contestant{
			name: fmt.Sprintf("ls -l, of the files of %d", sessions), silent: true,
			args: []string{"ls", "-l", dir},
		},
		contestant{
			name: fmt.Sprintf("find -newermt, of the files of %d", sessions), silent: true,
			args: []string{"find", dir, "-newermt", "2100-01-01"},
		},
	)...)
}
