//go:build unix

package hubfaults

import (
	"bytes"
	"errors"
	"fmt"
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
)

// hubMachine is a home, and what a person was told there.
type hubMachine struct {
	t       *testing.T
	c       *hubCluster
	n       int
	program string
	home    string
	rand    *rand.Rand
	strict  bool // it writes nothing offline, and takes nothing over from another machine
	left    chan leftSession
	texts   int
	typical time.Duration // of a quick chat

	own    map[string]bool // sessions whose claim is one of this machine that it does not know
	notes  *hubNotes
	counts map[string]int
}

// hubNotes is what all machines acknowledged.
type hubNotes struct {
	mu  sync.Mutex
	all []historytest.Acknowledged
}

func (n *hubNotes) add(a historytest.Acknowledged) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, a)
}

func (n *hubNotes) acknowledged() []historytest.Acknowledged {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// leftSession is a session whose chat was killed, and its machine.
type leftSession struct {
	id      string
	machine int
}

// newHubMachine returns a machine whose n decides whether a save waits for the hub.
func newHubMachine(t *testing.T, c *hubCluster, n int, r *rand.Rand) *hubMachine {
	t.Helper()
	m := &hubMachine{
		t: t, c: c, n: n, program: "agent-chatter", home: t.TempDir(), rand: r, typical: 200 * time.Millisecond,
		own: map[string]bool{}, counts: map[string]int{},
	}
	mode := []string{"sync", "async"}[n%2]
	config := fmt.Sprintf(`{"hub":{"teams":["*"],"mode":%q,"timeout":"2s"}}`, mode)
	if err := os.WriteFile(filepath.Join(m.home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// ran is what a run of the program left.
type ran struct {
	code           int
	stdout, stderr string
	killed         bool
}

// run runs the program, and kills it after some time if kill is not 0.
func (m *hubMachine) run(kill time.Duration, args ...string) ran {
	cmd := exec.Command(m.program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+m.home,
		"AGENT_CHATTER_HUB="+strings.Join(m.c.urls[m.n], ","))
	cmd.WaitDelay = testTimeout
	if err := cmd.Start(); err != nil {
		m.t.Error(err)
		return ran{code: 1}
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
	killed := errors.As(err, &exit) && exit.ExitCode() < 0
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String(), killed}
}

// reach is run, again and again while the hub does not answer in time: the servers may be under load.
func (m *hubMachine) reach(args ...string) ran {
	deadline := time.Now().Add(testTimeout)
	for {
		r := m.run(0, args...)
		if !strings.Contains(r.stdout+r.stderr, "cannot be reached") || time.Now().After(deadline) {
			return r
		}
	}
}

// mustReach is reach for a command that succeeds.
func (m *hubMachine) mustReach(args ...string) {
	m.t.Helper()
	if r := m.reach(args...); r.code != 0 {
		m.t.Errorf("machine %d: %q exits with %d:\n%s%s", m.n, args, r.code, r.stdout, r.stderr)
	}
}

// turn is one command. It resumes mostly one of the first sessions.
func (m *hubMachine) turn(sessions []string) {
	switch m.rand.IntN(12) {
	case 0:
		m.run(0, "hub", "push")
		return
	case 1:
		m.run(0, "hub", "pull", "--all")
		return
	}
	session := sessions[m.rand.IntN(1+m.rand.IntN(len(sessions)))]
	chance := m.rand.IntN(8)
	switch {
	case m.own[session]: // only this machine may, and it has to
		m.chat(session, "--take-over")
	case m.strict:
		m.chat(session)
	case chance < 3:
		if left, ok := m.takeLeft(); ok {
			session = left.id
		}
		m.counts["asked to take over"]++
		m.chat(session, "--take-over")
	case chance == 3:
		m.counts["offline"]++
		m.chat(session, "--offline")
	case chance == 4:
		if left, ok := m.takeLeft(); ok { // another machine has its claim, unless it was killed early
			session = left.id
			m.leave(left)
		}
		m.chat(session)
	default:
		m.chat(session)
	}
}

// leave notes a session whose chat was killed, unless enough are left.
func (m *hubMachine) leave(s leftSession) {
	select {
	case m.left <- s:
	default:
	}
}

// takeLeft returns a session whose chat was killed on another machine.
func (m *hubMachine) takeLeft() (s leftSession, ok bool) {
	for range cap(m.left) {
		select {
		case s = <-m.left:
		default:
			return s, false
		}
		if s.machine != m.n {
			return s, true
		}
		m.leave(s)
	}
	return s, false
}

// chat resumes a session and sends one to three messages. One chat in three is killed.
func (m *hubMachine) chat(session string, flags ...string) {
	args := append([]string{"chat", "--resume", session}, flags...)
	var texts []string
	for range 1 + m.rand.IntN(3) {
		m.texts++
		texts = append(texts, fmt.Sprintf("message %d of machine %d", m.texts, m.n))
		args = append(args, "-m", texts[len(texts)-1])
	}
	kill := time.Duration(0)
	if m.rand.IntN(3) == 0 {
		kill = 1 + time.Duration(m.rand.Int64N(int64(m.typical*5/4)))
	}
	begin := time.Now()
	fault, partition := m.c.faulty.Load(), m.c.partition.Load()
	r := m.run(kill, args...)
	inFault, inPartition := during(&m.c.faulty, fault), during(&m.c.partition, partition)
	switch {
	case r.killed:
		m.counts["killed"]++
		m.leave(leftSession{session, m.n})
	case r.code == 4:
		m.counts["conflicts"]++
	case r.code == 0:
		m.typical = min(time.Since(begin), m.typical*11/10)
	}
	// The program syncs a message before an agent starts: one that was answered is acknowledged.
	answered := 0
	for answered < len(texts) && strings.Contains(r.stdout, "“"+texts[answered]+"”") {
		answered++
	}
	if r.code == 0 && answered < len(texts) {
		m.t.Errorf("machine %d: %q exits with 0 and prints\n%s%s", m.n, args, r.stdout, r.stderr)
	}
	m.own[session] = r.code == 4 && strings.Contains(r.stderr, "("+m.home+", since")
	if saysForked(r.stderr) {
		m.counts["forks"]++
	}
	if answered == 0 {
		return
	}
	m.acknowledge(session, texts[:answered], r, slices.Contains(flags, "--offline"))
	m.counts["acknowledged"] += answered
	if inFault {
		m.counts["acknowledged during faults"] += answered
	}
	if inPartition {
		m.counts["acknowledged during partitions"] += answered
	}
}

// saysForked reports whether the program says that it has made a fork.
func saysForked(stderr string) bool {
	return strings.Contains(stderr, "has diverged from the hub. Its local events") ||
		strings.Contains(stderr, "What was written here ")
}

// acknowledge notes the events that a chat acknowledged: all if it ended, and those up to its last answered message if
// it was killed.
func (m *hubMachine) acknowledge(session string, texts []string, r ran, offline bool) {
	claimed := !offline && !strings.Contains(r.stderr, "Unclaimed")
	a := historytest.Acknowledged{
		Machine: m.n, Session: session, Claimed: claimed,
		OnHub: claimed && r.code == 0 && !saysForked(r.stderr) && !strings.Contains(r.stderr, "Not replicated") &&
			!strings.Contains(r.stderr, "Not on the hub"),
	}
	last := ""
	if r.code != 0 {
		last = texts[len(texts)-1]
	}
	for _, text := range texts {
		lines := m.linesOf(session, text, last)
		if len(lines) == 0 {
			m.t.Errorf("machine %d: %q is in no file after it was acknowledged", m.n, text)
		}
		for _, line := range lines {
			same := func(l historytest.Line) bool { return l.Body == line.Body }
			if !slices.ContainsFunc(a.Lines, same) {
				a.Lines = append(a.Lines, line)
			}
		}
	}
	m.notes.add(a)
	m.counts["events acknowledged"] += len(a.Lines)
	if a.OnHub {
		m.counts["events acknowledged as on the hub"] += len(a.Lines)
	}
	if !claimed && !offline {
		m.counts["acknowledged unclaimed"]++
	}
}

// linesOf returns the events of the chat in which a message was sent, up to the message last unless it is "". If only
// another file than those of the session has them, such as the journal of a fork, they have no position.
func (m *hubMachine) linesOf(session, text, last string) (lines []historytest.Line) {
	dir := filepath.Join(m.home, "sessions", "demo")
	var paths []string
	for _, pattern := range []string{session + ".jsonl", session + ".aside-*", "*.jsonl", "*.aside-*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			m.t.Error(err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		at := bytes.Index(data, content(text))
		if err != nil || at < 0 {
			continue
		}
		resumed := []byte(`"type":"session.resumed"`)
		begin := bytes.LastIndexByte(data[:max(0, bytes.LastIndex(data[:at], resumed))], '\n') + 1
		end := len(data)
		if next := bytes.Index(data[at:], resumed); next >= 0 {
			end = bytes.LastIndexByte(data[:at+next], '\n') + 1
		}
		for part := range bytes.Lines(data[begin:end]) {
			line, err := historytest.ParseLine(part)
			if err != nil {
				m.t.Errorf("%s: %v", path, err)
				return lines
			}
			if !strings.HasPrefix(filepath.Base(path), session) {
				line.Seq = 0
			}
			lines = append(lines, line)
			if last != "" && bytes.Contains(part, content(last)) {
				break
			}
		}
		return lines
	}
	return nil
}

// content returns the member of a message with a text.
func content(text string) []byte { return []byte(`"content":"` + text + `"`) }

// journals returns the journals of a machine by id.
func (m *hubMachine) journals(t *testing.T) historytest.Journals {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(m.home, "sessions", "demo", "0*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := historytest.Journals{}
	for _, path := range paths {
		if all[strings.TrimSuffix(filepath.Base(path), ".jsonl")], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
