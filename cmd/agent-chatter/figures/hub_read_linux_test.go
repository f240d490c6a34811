package figures

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// hubPeer returns the program with which the hub is compared: command hubpeer.
func (f *figures) hubPeer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(f.dir, "hubpeer")
	build(t, ".", path, "./hubpeer")
	return path
}

// hubList measures a list of sessions that are only on the hub, next to getting their last messages alone, and to a
// list of as many sessions that are here.
func (f *figures) hubList(t *testing.T, h *hub.Hub, url string) {
	n := f.listed[0]
	dir := f.home(t)
	for i := range n {
		s := hub.Session{Team: hubSession.Team, ID: fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C6%05d", i)}
		w := newHubWriter(t, h, s, dir)
		w.ship(t)
		if err := w.log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	local := f.home(t)
	if _, err := (catalogtest.Sessions{Count: n}).Fill(filepath.Join(local, "sessions")); err != nil {
		t.Fatal(err)
	}
	v := f.hubHome(t)
	for tries := 0; !bytes.Contains(v.do(t, nil, "sessions"), []byte(hubTitle)); tries++ {
		if tries == 20 { // under other load, the program may give up before the list is complete
			t.Fatal("sessions does not list what is on the hub")
		}
	}
	results := f.race(t,
		contestant{
			name: fmt.Sprintf("sessions --all, %d of them only on the hub", n), home: v.home,
			args: []string{f.program, "sessions", "--all"},
		},
		contestant{
			name: "their last messages alone, by a client of the server", prints: "subjects",
			args: []string{f.hubPeer(t), "list", url, h.Name()},
		},
		contestant{
			name: fmt.Sprintf("sessions --all, %d here", n), home: local,
			args: []string{f.program, "--offline", "sessions", "--all"},
		},
	)
	printCosts(results)
	f.takesAtMost(results[0], time.Second)
	f.relativeToOthers(results, 2.5, 1.75)
}

// relativeToOthers compares the first contestant with the sum of all others, which do parts of its work.
func (f *figures) relativeToOthers(results []costs, mostWall, mostCPU float64) {
	var wall, cpu time.Duration
	for _, r := range results[1:] {
		wall, cpu = wall+r.wall(), cpu+r.cpu()
	}
	name := results[0].name + ", relative to its parts"
	f.atMost(name+": wall time", results[0].wall().Seconds()/wall.Seconds(), mostWall, "×")
	f.atMost(name+": CPU time", results[0].cpu().Seconds()/cpu.Seconds(), mostCPU, "×")
}

// hubFetch measures fetching a large session, next to writing its messages to a file and checking a local journal.
func (f *figures) hubFetch(t *testing.T, h *hub.Hub, url string) {
	here := f.hubHome(t)
	w := newHubWriter(t, h, hubSession, here.journals(hubSession))
	w.fill(t, int64(f.archived))
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	there := f.hubHome(t)
	subject := "agent-chatter." + hubSession.Team + "." + hubSession.ID
	results := f.race(t,
		contestant{
			name: "hub pull of a session", home: there.home, args: []string{f.program, "hub", "pull", hubSession.ID},
			prepare: func(t *testing.T, v version) {
				if err := os.RemoveAll(filepath.Join(v.home, "sessions")); err != nil {
					t.Fatal(err)
				}
			},
			prints: "fetched",
		},
		contestant{
			name: "its messages alone, to a file that is synced",
			args: []string{f.hubPeer(t), "get", url, h.Name(), subject, filepath.Join(there.home, "copy")},
		},
		contestant{
			name: "verify --chain of it", home: here.home, prints: "ok",
			args: []string{f.program, "--offline", "verify", "--chain", hubSession.ID},
		},
	)
	size := w.log.Position().Offset
	var fetching []time.Duration
	for range max(3, f.rounds/5) {
		d := journal.NewDir(f.home(t), journal.Options{})
		fetching = append(fetching, timed(func() {
			if _, err := h.Fetch(t.Context(), hubSession, d, hub.Mark{}); err != nil {
				t.Fatal(err)
			}
		}))
	}
	fmt.Printf("\nOf a session of %s MB:\n", mb(size))
	printCosts(results)
	f.atLeast("fetching and verifying a session", float64(size)/middleOf(fetching).Seconds()/1e9, 0.1, "GB/s")
	f.relativeToOthers(results, 3, 2)
}
