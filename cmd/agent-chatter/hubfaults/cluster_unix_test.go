//go:build unix

package hubfaults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

const hubNodes = 3

// hubCluster is three servers, and the proxies between them and the machines.
type hubCluster struct {
	nodes  []*hubNode
	links  []hubLink
	urls   [][]string // of the servers, for each machine
	direct []string   // URLs that no fault affects

	faulty    atomic.Int64 // number of the fault that lasts now; 0: none
	partition atomic.Int64 // likewise, if it is a partition
	faults    map[string]int
}

// hubNode is a process of a server.
type hubNode struct {
	natstest.Node
	cmd *exec.Cmd
}

// hubLink is the proxy of the connections from a node or machine to a node.
type hubLink struct {
	from, to string
	*natstest.Proxy
}

func nodeName(i int) string    { return fmt.Sprintf("node %d", i) }
func machineName(i int) string { return fmt.Sprintf("machine %d", i) }

func newHubCluster(t *testing.T, machines int) *hubCluster {
	c := &hubCluster{faults: map[string]int{}}
	ports, err := natstest.FreePorts(2 * hubNodes)
	if err != nil {
		t.Fatal(err)
	}
	for i := range hubNodes {
		c.nodes = append(c.nodes, &hubNode{Node: natstest.Node{
			Name: fmt.Sprintf("node%d", i), Client: ports[2*i], Cluster: ports[2*i+1],
			Dir: filepath.Join(t.TempDir(), "store"),
		}})
		c.direct = append(c.direct, fmt.Sprintf("nats://127.0.0.1:%d", ports[2*i]))
	}
	link := func(from, to string, port int) string {
		p, err := natstest.NewProxy(fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		c.links = append(c.links, hubLink{from, to, p})
		return p.Address()
	}
	c.urls = make([][]string, machines)
	for i, node := range c.nodes {
		for j, other := range c.nodes {
			if i != j {
				node.Routes = append(node.Routes, link(nodeName(i), nodeName(j), other.Cluster))
			}
		}
		for m := range machines {
			c.urls[m] = append(c.urls[m], "nats://"+link(machineName(m), nodeName(i), node.Client))
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
		o := jetstream.Options{URLs: c.direct, Timeout: 2 * time.Second}
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

// connect connects to the hub.
func (c *hubCluster) connect(t *testing.T) *hub.Hub { return hub.New(c.engine(t), hub.Options{}) }

// engine connects to the engine of the hub.
func (c *hubCluster) engine(t *testing.T) hub.Engine {
	t.Helper()
	e, err := jetstream.Open(t.Context(), jetstream.Options{URLs: c.direct})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
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

// The kinds of faults. Those of partitions cut the connections of a node, of a machine, and between two nodes.
const (
	faultKilled   = "killed"
	faultStopped  = "stopped"
	faultStalled  = "stalled"
	faultDisk     = "lost its disk"
	faultBlocks   = "lost blocks"
	faultNode     = "node partitioned"
	faultMachine  = "machine partitioned"
	faultTwoNodes = "two nodes partitioned"
)

// disturb disturbs one node after the other until a time. With losses, one of them loses its disk, and
// another time one loses parts of its files: after a quarter and after half of a long run.
func (c *hubCluster) disturb(t *testing.T, r *rand.Rand, end time.Time, losses bool) {
	kinds := []string{faultKilled, faultStopped, faultStalled, faultNode, faultMachine, faultTwoNodes}
	begin, lost := time.Now(), 0
	due := func() bool { return losses && lost < 2 }
	for number := int64(1); (time.Now().Before(end) || due()) && !t.Failed(); number++ {
		fault, duration := kinds[r.IntN(len(kinds))], end.Sub(begin)
		if due() && (duration < time.Minute || time.Since(begin) > duration*time.Duration(lost+1)/4) {
			fault = []string{faultDisk, faultBlocks}[lost]
			lost++
		}
		c.faults[fault]++
		undo := c.disturbNode(t, r, r.IntN(hubNodes), fault)
		c.faulty.Store(number)
		if slices.Contains([]string{faultNode, faultMachine, faultTwoNodes}, fault) {
			c.partition.Store(number)
		}
		wait(end, time.Duration(500+r.IntN(2000))*time.Millisecond)
		c.partition.Store(0)
		undo()
		c.current(t)
		c.faulty.Store(0)
		wait(end, time.Duration(r.IntN(1000))*time.Millisecond)
	}
}

// wait waits for some time, but not after the end. The time is the schedule of the faults.
func wait(end time.Time, d time.Duration) { time.Sleep(min(d, time.Until(end))) }

func (c *hubCluster) disturbNode(t *testing.T, r *rand.Rand, i int, fault string) (undo func()) {
	t.Helper()
	node := c.nodes[i]
	switch fault {
	case faultNode:
		return c.cut(nodeName(i), "")
	case faultMachine:
		return c.cut(machineName(r.IntN(len(c.urls))), "")
	case faultTwoNodes:
		return c.cut(nodeName(i), nodeName((i+1)%hubNodes))
	case faultStalled:
		links := c.linksOf(nodeName(i), "")
		return each(links, (*natstest.Proxy).Stall)
	case faultStopped:
		_ = node.cmd.Process.Signal(syscall.SIGSTOP)
		return func() { _ = node.cmd.Process.Signal(syscall.SIGCONT) }
	}
	node.kill()
	switch fault {
	case faultDisk:
		if err := os.RemoveAll(node.Dir); err != nil {
			t.Fatal(err)
		}
	case faultBlocks:
		cutBlock(t, r, node.Dir)
	}
	return func() { node.start(t) }
}

// cutBlock cuts off the second half of a file with messages.
func cutBlock(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "AGENT_*", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("the node has no files with messages: %v", err)
	}
	path := blocks[r.IntN(len(blocks))]
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// linksOf returns the links between a and b, or between a and all others if b is "".
func (c *hubCluster) linksOf(a, b string) (links []hubLink) {
	for _, l := range c.links {
		if l.from == a && (b == "" || l.to == b) || l.to == a && (b == "" || l.from == b) {
			links = append(links, l)
		}
	}
	return links
}

// cut cuts the links between a and b, or between a and all others if b is "".
func (c *hubCluster) cut(a, b string) (undo func()) {
	return each(c.linksOf(a, b), (*natstest.Proxy).Cut)
}

func each(links []hubLink, fault func(*natstest.Proxy, bool)) (undo func()) {
	for _, l := range links {
		fault(l.Proxy, true)
	}
	return func() {
		for _, l := range links {
			fault(l.Proxy, false)
		}
	}
}

// current waits until every node has what the others have: the loss of two disks at a time is more than the servers
// promise to survive.
func (c *hubCluster) current(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		current, err := natstest.Current(ctx, c.direct, "agent-chatter.*.*")
		stop()
		if current {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the servers are not current: %v", err)
			return
		}
		time.Sleep(20 * time.Millisecond) // a poll: the servers report no change
	}
}

// during reports whether the same fault has lasted since an earlier value of its number was read.
func during(fault *atomic.Int64, before int64) bool { return before != 0 && fault.Load() == before }

// faultCounts returns how often each fault occurred, in the order of their names.
func (c *hubCluster) faultCounts() (texts []string) {
	for _, fault := range slices.Sorted(maps.Keys(c.faults)) {
		texts = append(texts, fmt.Sprintf("%s: %d", fault, c.faults[fault]))
	}
	return texts
}
