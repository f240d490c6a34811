//go:build unix

package hubfaults

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/historytest"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

var (
	hubFaults = flag.Duration("hubfaults", 0, "how long TestHubFaults and TestPositionIsAcknowledgedOnce run; from 3m on, "+
		"each kind of event has to occur at least 20 times; 0: 5s with -full, otherwise they are skipped")
	hubSeed     = flag.Uint64("hubseed", 0, "seed of these tests; 0: a random one")
	hubMachines = flag.Int("hubmachines", 0, "number of machines in these tests, 2 to 4; 0: a random one")
)

// skipUnlessLong skips a test that takes long, unless it is wanted, and sets how long faults occur.
func skipUnlessLong(t *testing.T) {
	t.Helper()
	if *hubFaults == 0 {
		sizetest.SkipUnlessFull(t, "it takes 20 s")
		*hubFaults = 5 * time.Second
	}
}

// hubRun lets machines take turns on sessions of a hub.
type hubRun struct {
	cluster  *hubCluster
	machines []*hubMachine
	notes    hubNotes
	sessions []string
	rand     *rand.Rand
}

// newHubRun starts servers and begins sessions, which all machines have then. machines is their number, 0: that of
// the flag.
func newHubRun(t *testing.T, machines, sessions int) *hubRun {
	t.Helper()
	seed := *hubSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	run := &hubRun{rand: rand.New(rand.NewPCG(seed, 99))}
	if machines == 0 {
		machines = *hubMachines
	}
	if machines == 0 {
		machines = 2 + run.rand.IntN(3)
	}
	t.Logf("-hubseed %d -hubmachines %d", seed, machines)
	run.cluster = newHubCluster(t, machines)
	left := make(chan leftSession, 4)
	for i := range machines {
		m := newHubMachine(t, run.cluster, i, rand.New(rand.NewPCG(seed, uint64(i))))
		m.left, m.notes = left, &run.notes
		run.machines = append(run.machines, m)
	}
	run.sessions = beginSessions(t, run.machines, sessions)
	return run
}

// beginSessions begins sessions on the first machine and ships them to the others.
func beginSessions(t *testing.T, machines []*hubMachine, n int) (ids []string) {
	t.Helper()
	for i := range n {
		machines[0].mustReach("chat", "-t", "demo", "-m", fmt.Sprintf("session %d", i))
	}
	machines[0].mustReach("hub", "push", "--all")
	for _, m := range machines {
		m.mustReach("hub", "pull", "--all")
	}
	ids = slices.Sorted(maps.Keys(machines[0].journals(t)))
	if len(ids) != n || t.Failed() {
		t.Fatalf("%d sessions, want %d", len(ids), n)
	}
	return ids
}

// until lets the machines take turns until a time, or until done returns true, while faults occur.
func (r *hubRun) until(end time.Time, faults func(), done func() bool) {
	var group sync.WaitGroup
	for _, m := range r.machines {
		group.Go(func() {
			for time.Now().Before(end) && !m.t.Failed() && !done() {
				m.turn(r.sessions)
			}
		})
	}
	faults()
	group.Wait()
}

func never() bool { return false }

// settle ships and fetches on machines until nothing changes.
func settle(t *testing.T, machines []*hubMachine) {
	t.Helper()
	for range 10 {
		changed := false
		for _, m := range machines {
			before := m.journals(t)
			for id := range before { // end the claims that were left
				m.reach("hub", "push", id, "--take-over")
			}
			m.reach("hub", "pull", "--all")
			changed = changed || !maps.EqualFunc(before, m.journals(t), bytes.Equal)
		}
		if !changed {
			return
		}
	}
	t.Error("the machines do not agree after ten rounds")
}

// onHub returns the hub's copies of all sessions.
func onHub(t *testing.T, h *hub.Hub) historytest.Journals {
	t.Helper()
	all := historytest.Journals{}
	err := h.Rows(t.Context(), "", func(r hub.Row) {
		var copied bytes.Buffer
		if _, err := h.Copy(t.Context(), r.Session, &copied); err != nil {
			t.Logf("session %s on the hub: %v", r.Session.ID, err)
		}
		all[r.Session.ID] = copied.Bytes()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check reports what contradicts the promises at the end of a run, after settle.
func check(t *testing.T, machines []*hubMachine, acknowledged []historytest.Acknowledged, hub historytest.Journals) {
	t.Helper()
	var journals []historytest.Journals
	for _, m := range machines {
		journals = append(journals, m.journals(t))
		m.mustReach("verify")
		m.mustReach("hub", "verify")
	}
	reportViolations(t, historytest.Check(journals, hub, acknowledged))
	reportViolations(t, historytest.CheckHub(hub, acknowledged))
}

func reportViolations(t *testing.T, found []historytest.Violation) {
	t.Helper()
	for i, v := range found {
		if i == 20 {
			t.Errorf("and %d more", len(found)-i)
			break
		}
		t.Error(v)
	}
}

// report prints what happened. In a long run, each of the events named in required has to occur at least 20 times.
func (r *hubRun) report(t *testing.T, ids []string, required ...string) {
	t.Helper()
	total := map[string]int{}
	for _, m := range r.machines {
		for what, n := range m.counts {
			total[what] += n
		}
	}
	e := r.cluster.engine(t)
	for _, id := range ids {
		claims, takeOvers := countClaims(t, e, hub.Session{Team: "demo", ID: id})
		total["claims"] += claims
		total["take-overs"] += takeOvers
	}
	t.Logf("faults: %s", strings.Join(r.cluster.faultCounts(), ", "))
	for _, what := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%6d %s", total[what], what)
	}
	for _, what := range required {
		if total[what] < 20 && *hubFaults >= 3*time.Minute {
			t.Errorf("%s: %d, want at least 20", what, total[what])
		}
	}
}

// countClaims counts the claims of a session, and those that ended the claim of another machine.
func countClaims(t *testing.T, e hub.Engine, s hub.Session) (claims, takeOvers int) {
	t.Helper()
	held := ""
	for m, err := range e.Read(t.Context(), s, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Kind  string
			Claim hub.Claim
		}
		if err := json.Unmarshal(m.Head, &head); err != nil {
			continue
		}
		switch head.Kind {
		case "claim":
			claims++
			if held != "" && held != head.Claim.Home {
				takeOvers++
			}
			held = head.Claim.Home
		case "release":
			held = ""
		}
	}
	return claims, takeOvers
}

// TestHubFaults lets machines take turns on sessions through three servers that are killed, stopped, partitioned and
// damaged, and checks that nothing was lost.
func TestHubFaults(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	run := newHubRun(t, 0, 10)
	end := time.Now().Add(*hubFaults)
	run.until(end, func() { run.cluster.disturb(t, run.rand, end, true) }, never)
	// The servers may have lost messages with the files of one of them: the machines restore these.
	h := run.cluster.connect(t)
	lost := historytest.CheckHub(onHub(t, h), run.notes.acknowledged())
	t.Logf("%d events were acknowledged as on the hub, and are not there before it is healed", len(lost))
	settle(t, run.machines)
	healed := onHub(t, h)
	check(t, run.machines, run.notes.acknowledged(), healed)
	run.report(t, slices.Sorted(maps.Keys(healed)), "claims", "take-overs", "conflicts", "forks", "killed",
		"acknowledged during partitions")
}

// TestPositionIsAcknowledgedOnce does the same without writes offline, take-overs and losses of the hub. Then no two
// machines acknowledge an event at one position, nothing becomes a fork that was not written unclaimed, and what was
// acknowledged as on the hub is there, also after the loss of a machine.
func TestPositionIsAcknowledgedOnce(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	run := newHubRun(t, 0, 10)
	for _, m := range run.machines {
		m.strict = true
	}
	end := time.Now().Add(*hubFaults)
	run.until(end, func() { run.cluster.disturb(t, run.rand, end, false) }, never)
	all := run.notes.acknowledged()
	reportViolations(t, historytest.CheckPositions(all))
	h := run.cluster.connect(t)
	reportViolations(t, historytest.CheckHub(onHub(t, h), all))

	lost := run.machines[0] // its saves wait for the hub
	fresh := newHubMachine(t, run.cluster, lost.n, lost.rand)
	left := slices.DeleteFunc(all, func(a historytest.Acknowledged) bool { return a.Machine == lost.n && !a.OnHub })
	machines := append([]*hubMachine{fresh}, run.machines[1:]...)
	settle(t, machines)
	healed := onHub(t, h)
	check(t, machines, left, healed)
	reportViolations(t, historytest.CheckUnforked(healed, left))
	run.report(t, slices.Sorted(maps.Keys(healed)), "claims", "conflicts", "killed", "acknowledged during partitions")
}

// TestPositionsNeedCompareAndSwap runs a program whose messages do not name the message that they follow, until the
// checker finds what this breaks.
func TestPositionsNeedCompareAndSwap(t *testing.T) {
	skipUnlessLong(t)
	t.Parallel()
	program := buildWithoutCompareAndSwap(t)
	run := newHubRun(t, 4, 1)
	for _, m := range run.machines {
		m.strict, m.program = true, program
	}
	h := run.cluster.connect(t)
	twice := func() []historytest.Violation { return historytest.CheckPositions(run.notes.acknowledged()) }
	var missing []historytest.Violation
	for end, seen := time.Now().Add(testTimeout), 0; len(missing) == 0 && time.Now().Before(end); {
		run.until(end, func() {}, func() bool { return len(twice()) > seen })
		seen, missing = len(twice()), historytest.CheckHub(onHub(t, h), run.notes.acknowledged())
	}
	if len(twice()) == 0 || len(missing) == 0 {
		t.Fatalf("the checker finds %d positions with two contents, and that %d events are not on the hub", len(twice()),
			len(missing))
	}
	t.Logf("%v\n%v", twice()[0], missing[0])
}

// buildWithoutCompareAndSwap builds a program that publishes without the expected sequence number.
func buildWithoutCompareAndSwap(t *testing.T) string {
	t.Helper()
	const expected = "jetstream.WithExpectLastSequencePerSubject(uint64(last)),"
	path, err := filepath.Abs("../../../journal/hub/jetstream/messages.go")
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(original)
	if n := strings.Count(text, expected); n != 1 {
		t.Fatalf("%s has %s %d times, want once", path, expected, n)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "messages.go"), filepath.Join(dir, "overlay.json")
	description, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, expected, "", 1)
	err = errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(overlay, description, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "..").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// TestDeletedHubIsFilledAgain deletes the files of all servers.
func TestDeletedHubIsFilledAgain(t *testing.T) {
	t.Parallel()
	run := newHubRun(t, 3, 3)
	before := run.machines[0].journals(t)
	for _, node := range run.cluster.nodes {
		node.kill()
		if err := os.RemoveAll(node.Dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range run.cluster.nodes {
		node.start(t)
	}
	run.cluster.create(t)
	run.machines[1].mustReach("hub", "push", "--all")
	fresh := newHubMachine(t, run.cluster, 2, run.rand)
	fresh.mustReach("hub", "pull", "--all")
	after := fresh.journals(t)
	for id, text := range before {
		if !bytes.Equal(after[id], text) {
			t.Errorf("session %s has %d bytes, want %d", id, len(after[id]), len(text))
		}
	}
}
