package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// list measures a list of the newest sessions, by how many there are.
func (f *figures) list(t *testing.T) {
	most := map[int]time.Duration{10_000: 60 * time.Millisecond, 100_000: time.Second}
	var all []costs
	for _, sessions := range f.listed {
		results := f.listTimes(t, sessions)
		all = append(all, results...)
		same, grown := results[0], results[1]
		if most, wanted := most[sessions]; wanted {
			f.takes(same, most)
			f.takes(grown, most)
		}
		f.is(grown.name+", of the time of that before", grown.wall().Seconds()/same.wall().Seconds(), 1.2, "×")
	}
	printCosts(all)
}

func (f *figures) listTimes(t *testing.T, sessions int) (results []costs) {
	t.Helper()
	home := f.home(t)
	root := filepath.Join(home, "sessions")
	team := catalog.New(root, journal.Options{}).Team("demo")
	ids, err := catalogtest.Sessions{Count: sessions}.Fill(root)
	if err != nil {
		t.Fatal(err)
	}
	grow := func(t *testing.T) {
		say(t, filepath.Join(team.Journals().Path(), ids[len(ids)/2]+".jsonl"), "one more message")
	}
	forget := func(t *testing.T) {
		if err := os.Remove(filepath.Join(team.Journals().Path(), "sessions.json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []contestant{
		{name: fmt.Sprintf("sessions --limit 20, of %d", sessions)},
		{name: fmt.Sprintf("the same, one of %d grew", sessions), prepare: grow},
		{name: fmt.Sprintf("the same of %d, without sessions.json", sessions), prepare: forget},
	} {
		c.home, c.args = home, []string{f.program, "sessions", "--limit", "20"}
		results = append(results, f.race(t, c)...)
	}
	dir := team.Journals().Path()
	return append(results, f.race(t,
		contestant{name: fmt.Sprintf("ls -l, of the files of %d", sessions), args: []string{"ls", "-l", dir}, silent: true},
		contestant{name: fmt.Sprintf("find -newermt, of the files of %d", sessions), args: []string{"find", dir, "-newermt", "2100-01-01"}, silent: true},
	)...)
}
