//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
	"github.com/agent-chatter/agent-chatter/projection"
)

var (
	hubFaults = flag.Duration("hubfaults", 8*time.Second, "how long TestHubFaults runs; from 5m on, each kind of "+
		"event has to occur at least 20 times")
	hubSeed = flag.Uint64("hubseed", 0, "seed of TestHubFaults; 0: a random one")
)

const (
	hubNodes    = 3
	hubMachines = 3
	hubSessions = 10
)

// TestHubFaults lets machines take turns on sessions through three servers that are killed, stopped, partitioned and
// damaged, and checks that nothing was lost.
func TestHubFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 20 s")
	}
	t.Parallel()
	seed := *hubSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-hubseed %d", seed)
	c := newHubCluster(t)
	var machines []*hubMachine
	for i := range hubMachines {
		machines = append(machines, newHubMachine(t, c, i, rand.New(rand.NewPCG(seed, uint64(i)))))
	}
	sessions := beginSessions(t, machines)
	end := time.Now().Add(*hubFaults)
	var group sync.WaitGroup
	for _, m := range machines {
		group.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				m.turn(sessions[m.rand.IntN(1+m.rand.IntN(len(sessions)))]) // mostly one of the first
			}
		})
	}
	c.disturb(t, rand.New(rand.NewPCG(seed, 99)), end)
	group.Wait()
	c.heal(t)
	settle(t, machines)
	checkHub(t, machines)
	report(t, c, machines)
}

// TestDeletedHubIsFilledAgain deletes the files of all servers.
func TestDeletedHubIsFilledAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts six servers")
	}
	t.Parallel()
	c := newHubCluster(t)
	var machines []*hubMachine
	for i := range 2 {
		machines = append(machines, newHubMachine(t, c, i, rand.New(rand.NewPCG(1, uint64(i)))))
	}
	beginSessions(t, machines)
	before := machines[0].journals(t)
	for _, node := range c.nodes {
		node.kill()
		if err := os.RemoveAll(node.Dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range c.nodes {
		node.start(t)
	}
	c.create(t)
	if code, stdout, stderr, _ := machines[1].run(0, "hub", "push", "--all"); code != 0 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	fresh := newHubMachine(t, c, 2, rand.New(rand.NewPCG(1, 2)))
	if code, stdout, stderr, _ := fresh.run(0, "hub", "pull", "--all"); code != 0 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	after := fresh.journals(t)
	for id, text := range before {
		if after[id] != text {
			t.Errorf("session %s has %d bytes, want %d", id, len(after[id]), len(text))
		}
	}
}

// hubCluster is three servers, and the proxies between them and the machines.
type hubCluster struct {
	nodes   []*hubNode
	proxies [hubNodes][]*natstest.Proxy // of the connections to and from a node
	urls    [hubMachines][]string
	faulty  atomic.Bool  // a node does not work now
	killed  atomic.Value // leftClaim of the chat that was killed last
	faults  map[string]int
}

// leftClaim is the session of a chat that was killed, and its machine.
type leftClaim struct {
	session string
	machine int
}

// none is no leftClaim.
var none = leftClaim{machine: -1}

// hubNode is a process of a server.
type hubNode struct {
	natstest.Node
	cmd *exec.Cmd
}

func newHubCluster(t *testing.T) *hubCluster {
	c := &hubCluster{faults: map[string]int{}}
	ports := freePorts(t, 2*hubNodes)
	for i := range hubNodes {
		c.nodes = append(c.nodes, &hubNode{Node: natstest.Node{
			Name: fmt.Sprintf("node%d", i), Client: ports[2*i], Cluster: ports[2*i+1],
			Dir: filepath.Join(t.TempDir(), "store"),
		}})
	}
	proxy := func(port int, between ...int) string {
		p, err := natstest.NewProxy(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		for _, node := range between {
			c.proxies[node] = append(c.proxies[node], p)
		}
		return p.Address()
	}
	for i, node := range c.nodes {
		for j, other := range c.nodes {
			if i != j {
				node.Routes = append(node.Routes, proxy(other.Cluster, i, j))
			}
		}
		for m := range hubMachines {
			c.urls[m] = append(c.urls[m], "nats://"+proxy(node.Client, i))
		}
	}
	for _, node := range c.nodes {
		node.start(t)
	}
	t.Cleanup(func() {
		for _, node := range c.nodes {
			node.kill()
		}
	})
	c.create(t)
	return c
}

// create creates the hub, as soon as the servers have a leader.
func (c *hubCluster) create(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		o := jetstream.Options{URLs: c.urls[0], Timeout: 2 * time.Second}
		e, _, err := jetstream.Init(t.Context(), o, hubNodes)
		if err == nil {
			e.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (n *hubNode) start(t *testing.T) {
	t.Helper()
	n.cmd = exec.Command("nats-node")
	n.cmd.Env = append(os.Environ(), n.Environment())
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (n *hubNode) kill() {
	_ = n.cmd.Process.Signal(syscall.SIGCONT)
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// disturb disturbs one node after the other until a time.
func (c *hubCluster) disturb(t *testing.T, r *rand.Rand, end time.Time) {
	for round := 0; time.Now().Before(end) && !t.Failed(); round++ {
		node := r.IntN(hubNodes)
		fault := []string{"killed", "partitioned", "stalled", "stopped"}[r.IntN(4)]
		switch round {
		case 1:
			fault = "lost its disk"
		case 2:
			fault = "lost blocks"
		}
		c.faults[fault]++
		undo := c.disturbNode(t, r, node, fault)
		c.faulty.Store(true)
		wait(end, time.Duration(500+r.IntN(2000))*time.Millisecond)
		undo()
		c.current(t)
		c.faulty.Store(false)
		wait(end, time.Duration(r.IntN(1000))*time.Millisecond)
	}
}

// wait waits for some time, but not after the end. The time is the schedule of the faults.
func wait(end time.Time, d time.Duration) { time.Sleep(min(d, time.Until(end))) }

func (c *hubCluster) disturbNode(t *testing.T, r *rand.Rand, i int, fault string) (undo func()) {
	t.Helper()
	node := c.nodes[i]
	each := func(do func(p *natstest.Proxy)) {
		for _, p := range c.proxies[i] {
			do(p)
		}
	}
	switch fault {
	case "partitioned":
		each(func(p *natstest.Proxy) { p.Cut(true) })
		return func() { each(func(p *natstest.Proxy) { p.Cut(false) }) }
	case "stalled":
		each(func(p *natstest.Proxy) { p.Stall(true) })
		return func() { each(func(p *natstest.Proxy) { p.Stall(false) }) }
	case "stopped":
		_ = node.cmd.Process.Signal(syscall.SIGSTOP)
		return func() { _ = node.cmd.Process.Signal(syscall.SIGCONT) }
	}
	node.kill()
	switch fault {
	case "lost its disk":
		if err := os.RemoveAll(node.Dir); err != nil {
			t.Fatal(err)
		}
	case "lost blocks":
		blocks, _ := filepath.Glob(filepath.Join(node.Dir, "jetstream", "*", "streams", "AGENT_*", "msgs", "*.blk"))
		if len(blocks) > 0 {
			path := blocks[r.IntN(len(blocks))]
			if info, err := os.Stat(path); err == nil {
				_ = os.Truncate(path, info.Size()/2)
			}
		}
	}
	return func() { node.start(t) }
}

// heal ends every fault.
func (c *hubCluster) heal(t *testing.T) {
	t.Helper()
	for i := range c.nodes {
		for _, p := range c.proxies[i] {
			p.Cut(false)
			p.Stall(false)
		}
	}
	c.current(t)
}

// current waits until every node has what the others have: the loss of two disks at a time is more than the servers
// promise to survive.
func (c *hubCluster) current(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		o := jetstream.Options{URLs: c.urls[0], Timeout: 2 * time.Second}
		e, err := jetstream.Open(t.Context(), o)
		if err == nil {
			ok := e.Current(t.Context())
			e.Close()
			if ok {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Errorf("the servers are not current: %v", err)
			return
		}
		time.Sleep(20 * time.Millisecond) // a poll: the servers report no change
	}
}

// hubMachine is a home, and what a person was told there.
type hubMachine struct {
	t     *testing.T
	c     *hubCluster
	n     int
	home  string
	rand  *rand.Rand
	texts int

	acknowledged []hubMessage
	counts       map[string]int
}

// hubMessage is a message that was acknowledged to a person.
type hubMessage struct {
	session, text string
	onHub         bool // by the hub, too
}

func newHubMachine(t *testing.T, c *hubCluster, n int, r *rand.Rand) *hubMachine {
	m := &hubMachine{t: t, c: c, n: n, home: t.TempDir(), rand: r, counts: map[string]int{}}
	mode := []string{"sync", "async"}[n%2]
	config := fmt.Sprintf(`{"hub":{"teams":["*"],"mode":%q,"timeout":"2s"}}`, mode)
	if err := os.WriteFile(filepath.Join(m.home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// run runs the program, and kills it after some time if kill is not 0. killed reports whether that came first.
func (m *hubMachine) run(kill time.Duration, args ...string) (code int, stdout, stderr string, killed bool) {
	cmd := exec.Command("agent-chatter", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+m.home,
		"AGENT_CHATTER_HUB="+strings.Join(m.c.urls[m.n], ","))
	cmd.WaitDelay = testTimeout
	if err := cmd.Start(); err != nil {
		m.t.Error(err)
		return 1, "", "", false
	}
	limit := testTimeout
	if kill > 0 {
		limit = kill
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() && kill == 0 {
		m.t.Errorf("%q did not end:\n%s", args, errs.String())
	}
	var exit *exec.ExitError
	killed = errors.As(err, &exit) && exit.ExitCode() < 0
	return cmd.ProcessState.ExitCode(), out.String(), errs.String(), killed
}

// turn is one command.
func (m *hubMachine) turn(session string) {
	switch m.rand.IntN(12) {
	case 0:
		m.run(0, "hub", "push")
		return
	case 1:
		m.run(0, "hub", "pull", "--all")
		return
	}
	args := []string{"chat", "--resume", session}
	var texts []string
	for range 1 + m.rand.IntN(3) {
		m.texts++
		texts = append(texts, fmt.Sprintf("message %d of machine %d", m.texts, m.n))
		args = append(args, "-m", texts[len(texts)-1])
	}
	left, _ := m.c.killed.Swap(none).(leftClaim)
	switch {
	case left.session != "" && left.machine != m.n:
		session, args[2] = left.session, left.session // the claim of a chat that was killed
		args = append(args, "--take-over")
		m.counts["take-overs asked for"]++
	case left.session != "":
		m.c.killed.Store(left)
	}
	switch kind := m.rand.IntN(8); {
	case slices.Contains(args, "--take-over"):
	case kind < 3:
		args = append(args, "--take-over")
		m.counts["take-overs asked for"]++
	case kind == 3:
		args = append([]string{"--offline"}, args...)
		m.counts["offline"]++
	}
	kill := time.Duration(0)
	if m.rand.IntN(4) == 0 {
		kill = time.Duration(20+m.rand.IntN(300)) * time.Millisecond
	}
	faulty := m.c.faulty.Load()
	code, stdout, stderr, killed := m.run(kill, args...)
	switch {
	case killed:
		m.counts["killed"]++
		m.c.killed.Store(leftClaim{session, m.n})
	case code == 0 && strings.Contains(stdout, texts[0]):
		onHub := !strings.Contains(stderr, "Not replicated") && !strings.Contains(stderr, "Not on the hub") &&
			!strings.Contains(stderr, "Unclaimed") && args[0] == "chat" && m.n%2 == 0
		for _, text := range texts {
			m.acknowledged = append(m.acknowledged, hubMessage{session, text, onHub})
			m.counts["acknowledged"]++
			if faulty && m.c.faulty.Load() {
				m.counts["acknowledged during faults"]++
			}
		}
	case code == 4:
		m.counts["conflicts"]++
	case code == 0:
		m.t.Errorf("%q exits with 0 and prints\n%s%s", args, stdout, stderr)
	}
	if strings.Contains(stderr, "has diverged from the hub. What was only here") ||
		strings.Contains(stderr, "What was written here is session") {
		m.counts["forks"]++
	}
}

// beginSessions begins the sessions on the first machine and ships them to the others.
func beginSessions(t *testing.T, machines []*hubMachine) (ids []string) {
	t.Helper()
	for i := range hubSessions {
		code, _, stderr, _ := machines[0].run(0, "chat", "-t", "demo", "-m", fmt.Sprintf("session %d", i))
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	for _, m := range machines {
		m.run(0, "hub", "push", "--all")
		if code, out, stderr, _ := m.run(0, "hub", "pull", "--all"); code != 0 {
			t.Fatalf("exit code %d: %s%s", code, out, stderr)
		}
	}
	for id := range machines[0].journals(t) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// settle ships and fetches on all machines until nothing changes.
func settle(t *testing.T, machines []*hubMachine) {
	t.Helper()
	for range 10 {
		changed := false
		for _, m := range machines {
			before := m.journals(t)
			for id := range before { // end the claims that were left
				m.run(0, "hub", "push", id, "--take-over")
			}
			m.run(0, "hub", "pull", "--all")
			after := m.journals(t)
			changed = changed || len(before) != len(after)
			for id, text := range after {
				changed = changed || before[id] != text
			}
		}
		if !changed {
			return
		}
	}
	t.Error("the machines do not agree after ten rounds")
}

// journals returns the journals of a machine by id.
func (m *hubMachine) journals(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(m.home, "sessions", "demo", "0*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range paths {
		all[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = readText(t, path)
	}
	return all
}

// checkHub checks that all machines have the same sessions, and that these have every message that was acknowledged.
func checkHub(t *testing.T, machines []*hubMachine) {
	t.Helper()
	all := machines[0].journals(t)
	for _, m := range machines {
		other := m.journals(t)
		for id, text := range all {
			if other[id] != text {
				t.Errorf("session %s has %d bytes on machine 0 and %d on machine %d", id, len(text), len(other[id]), m.n)
			}
		}
		if len(other) != len(all) {
			t.Errorf("machine %d has %d sessions, machine 0 has %d", m.n, len(other), len(all))
		}
		if code, stdout, stderr, _ := m.run(0, "verify"); code != 0 {
			t.Errorf("verify on machine %d exits with %d:\n%s%s", m.n, code, stdout, stderr)
		}
		if code, stdout, stderr, _ := m.run(0, "hub", "verify"); code != 0 {
			t.Errorf("hub verify on machine %d exits with %d:\n%s%s", m.n, code, stdout, stderr)
		}
	}
	parents, said := map[string]string{}, map[string][]string{}
	for id, text := range all {
		parents[id], said[id] = readMessages(t, text)
	}
	for _, m := range machines {
		for _, message := range m.acknowledged {
			if n := countOf(said[message.session], message.text); n == 1 {
				continue
			} else if n > 1 {
				t.Errorf("session %s has %q %d times", message.session, message.text, n)
			}
			if forks := forksWith(message, parents, said); len(forks) != 1 {
				t.Errorf("%q of session %s is not in it, and in the forks %q (on the hub: %v); machine %d has it in %q",
					message.text, message.session, forks, message.onHub, m.n, m.filesWith(t, message.text))
			}
		}
		for id, texts := range said {
			if last := m.order(texts); last != "" {
				t.Errorf("session %s has %q out of order", id, last)
			}
		}
	}
}

// forksWith returns the forks of a session, and forks of these, that have a message which their parent lacks.
func forksWith(message hubMessage, parents map[string]string, said map[string][]string) (forks []string) {
	for id, texts := range said {
		parent := parents[id]
		if countOf(texts, message.text) != 1 || parent == "" || countOf(said[parent], message.text) > 0 {
			continue
		}
		for parent != "" && parent != message.session {
			parent = parents[parent]
		}
		if parent != "" {
			forks = append(forks, id)
		}
	}
	return forks
}

// filesWith returns the files of a machine that have a text.
func (m *hubMachine) filesWith(t *testing.T, text string) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*", "trash/*"} {
		paths, err := filepath.Glob(filepath.Join(m.home, "sessions", "demo", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(`"content":"`+text+`"`)) {
				names = append(names, filepath.Base(path))
			}
		}
	}
	return names
}

// order returns a message of the machine that is not in its order, "" if there is none.
func (m *hubMachine) order(texts []string) string {
	newest := 0
	for _, text := range texts {
		var n, machine int
		if _, err := fmt.Sscanf(text, "message %d of machine %d", &n, &machine); err != nil || machine != m.n {
			continue
		}
		if n <= newest {
			return text
		}
		newest = n
	}
	return ""
}

func countOf(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// readMessages returns the parent of a session and what people said in it.
func readMessages(t *testing.T, journal string) (parent string, texts []string) {
	t.Helper()
	for line := range strings.Lines(journal) {
		var e struct {
			Type string
			Data struct {
				Parent  *projection.Parent
				Message struct {
					Content string
					Speaker projection.Speaker
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Data.Parent != nil {
			parent = e.Data.Parent.SessionID
		}
		if e.Type == "message.appended" && e.Data.Message.Speaker.Type == projection.TypeHuman {
			texts = append(texts, e.Data.Message.Content)
		}
	}
	return parent, texts
}

// report prints what happened.
func report(t *testing.T, c *hubCluster, machines []*hubMachine) {
	t.Helper()
	total := map[string]int{"claims": 0, "take-overs": 0}
	for _, m := range machines {
		for what, n := range m.counts {
			total[what] += n
		}
	}
	e, err := jetstream.Open(t.Context(), jetstream.Options{URLs: c.urls[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for id := range machines[0].journals(t) {
		claims, takeOvers := countClaims(t, e, hub.Session{Team: "demo", ID: id})
		total["claims"] += claims
		total["take-overs"] += takeOvers
	}
	t.Logf("faults: %v\nevents: %v", c.faults, total)
	if *hubFaults < 5*time.Minute {
		return
	}
	for _, what := range []string{"claims", "take-overs", "conflicts", "forks", "acknowledged during faults"} {
		if total[what] < 20 {
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

// freePorts returns ports that no program listens on.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
