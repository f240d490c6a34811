package powerloss_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/journaltest/powerloss"
)

var (
	rounds = flag.Int("rounds", 20, "number of power cuts")
	seed   = flag.Uint64("seed", 0, "seed of the random choices (default: the time)")
)

// TestPowerCutsLoseNothingAcknowledged repeatedly runs a chat on a disk, cuts its
// power, and resumes the chat on the data that is left.
func TestPowerCutsLoseNothingAcknowledged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount: sudo go test ./... in journal/journaltest/powerloss")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("needs FUSE: ", err)
	}
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat the random choices: -seed %d", start)
	h := newRig(t, rand.New(rand.NewPCG(start, 0)))
	for n := range *rounds {
		h.round(n)
	}
	t.Logf("%d rounds, %d disks, %d cuts in a conversation, %d torn tails, %d messages acknowledged, %d lost",
		*rounds, h.sessions, h.cuts, h.torn, h.acknowledged, h.lost)
}

// rig runs the program on a disk whose power is cut.
type rig struct {
	t       *testing.T
	rng     *rand.Rand
	binary  string
	dir     string // where the disk is mounted
	disk    *powerloss.Disk
	unmount func()

	history                                  []string // the messages found in the session
	sessions, cuts, torn, acknowledged, lost int
}

func newRig(t *testing.T, rng *rand.Rand) *rig {
	h := &rig{t: t, rng: rng, dir: t.TempDir(), disk: powerloss.New(), sessions: 1}
	h.binary = filepath.Join(t.TempDir(), "agent-chatter")
	build := exec.Command("go", "build", "-o", h.binary, "./cmd/agent-chatter")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return h
}

func (h *rig) mount() {
	h.t.Helper()
	unmount, err := h.disk.Mount(h.dir)
	if err != nil {
		h.t.Fatal("mount:", err)
	}
	mounted := true
	h.unmount = func() {
		if mounted {
			mounted = false
			if err := unmount(); err != nil {
				h.t.Error("unmount:", err)
			}
		}
	}
	h.t.Cleanup(h.unmount)
}

func (h *rig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.binary, args...)
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+filepath.Join(h.dir, "home"))
	cmd.WaitDelay = time.Minute
	return cmd
}

// run runs the program, which must succeed.
func (h *rig) run(args ...string) (stdout, stderr string) {
	h.t.Helper()
	var out, errs strings.Builder
	cmd := h.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%q: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// round runs a chat until the power is cut, then checks the data that is left.
func (h *rig) round(n int) {
	if h.rng.IntN(3) == 0 { // an empty disk
		h.disk, h.history = powerloss.New(), nil
		h.sessions++
	}
	h.mount()
	args := []string{"chat", "--log-level", "debug"}
	if len(h.history) > 0 {
		args = append(args, "--resume")
	}
	cmd := h.command(args...)
	stdin, err := cmd.StdinPipe()
	h.must(err)
	stdout, err := cmd.StdoutPipe()
	h.must(err)
	stderr, err := cmd.StderrPipe()
	h.must(err)
	h.must(cmd.Start())
	s := &transcript{}
	var wg sync.WaitGroup
	wg.Go(func() { s.send(n, stdin) })
	wg.Go(func() { s.listen(stdout) })
	wg.Go(func() { s.watch(stderr) })

	powerCut := h.disk.CutBefore(1 + h.rng.IntN(60))
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-powerCut:
	case <-ended:
		h.t.Fatal("the chat ended before the power was cut")
	}
	h.must(cmd.Process.Kill())
	left := h.disk.AfterCut(h.rng)
	h.disk.Release()
	<-ended
	cmd.Wait()
	h.unmount()
	h.disk = left
	h.mount()
	h.check(s)
	if len(h.history) > 0 && h.rng.IntN(4) == 0 {
		h.resumeWithoutCut()
	}
	h.unmount()
	if h.t.Failed() {
		h.t.FailNow()
	}
}

// resumeWithoutCut sends a message and ends the chat. Data that the chat did not sync stays
// unsynced on the disk.
func (h *rig) resumeWithoutCut() {
	h.t.Helper()
	h.run("chat", "--resume", "-m", "without a cut")
	if _, stderr := h.run("verify"); stderr != "" {
		h.t.Errorf("verify reports %s", stderr)
	}
	found := h.messages()
	if len(found) != len(h.history)+3 {
		h.t.Errorf("%d messages became %d", len(h.history), len(found))
	}
	h.history = found
}

func (h *rig) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// transcript is what the test sent in one round, and how much of it was acknowledged.
type transcript struct {
	sent     []string
	answered int // user messages whose last reply was printed
	began    int // user messages whose first reply was printed
	saved    int // user messages after which the session was reported as saved
}

// sizes of messages, in bytes; none is a multiple of a page.
var sizes = []int{30, 300, 4_095, 4_097, 12_345, 65_537, 131_000}

// send sends messages until the program no longer reads them.
func (s *transcript) send(round int, stdin io.Writer) {
	rng := rand.New(rand.NewPCG(uint64(round), 1))
	for i := 0; ; i++ {
		message := fmt.Sprintf("n%dx%d %s end", round, i, strings.Repeat("a", sizes[rng.IntN(len(sizes))]))
		s.sent = append(s.sent, message)
		if _, err := fmt.Fprintln(stdin, message); err != nil {
			return
		}
	}
}

// listen counts the messages whose replies were printed. A reply acknowledges its
// message: an agent is started only after the message is synced.
func (s *transcript) listen(stdout io.Reader) {
	for line := range linesOf(stdout) {
		switch {
		case strings.HasPrefix(line, "Planner: "):
			s.began++
		case strings.HasPrefix(line, "Critic: "):
			s.answered++
		}
	}
}

// watch counts how often the program reported that the session was saved.
func (s *transcript) watch(stderr io.Reader) {
	for line := range linesOf(stderr) {
		if strings.Contains(line, `msg="session saved"`) {
			s.saved++
		}
	}
}

// linesOf returns the complete lines of a stream.
func linesOf(r io.Reader) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for b := bufio.NewReader(r); ; {
			line, err := b.ReadString('\n')
			if err != nil || !yield(line) {
				return
			}
		}
	}
}

// acknowledged returns the number of acknowledged messages, those of the agents included.
// Planner replies to the user, Critic to Planner.
func (s *transcript) acknowledged() int {
	n := 3 * s.saved
	if s.began > 0 {
		n = max(n, 3*(s.began-1)+1)
	}
	if s.answered > 0 {
		n = max(n, 3*(s.answered-1)+2)
	}
	return n
}

// check checks that the disk has all earlier messages, then a prefix of those of this
// round that includes the acknowledged ones, each once and in order.
func (h *rig) check(s *transcript) {
	h.t.Helper()
	_, stderr := h.run("verify")
	if strings.Contains(stderr, "unfinished write") {
		h.torn++
	}
	found := h.messages()
	if len(found) < len(h.history) {
		h.lost += len(h.history) - len(found)
		h.t.Errorf("%d of %d earlier messages are left", len(found), len(h.history))
		return
	}
	for i, before := range h.history {
		if found[i] != before {
			h.t.Errorf("message %d was %.60q and is %.60q", i, before, found[i])
		}
	}
	if s == nil {
		return
	}
	h.cuts++
	h.acknowledged += s.acknowledged()
	fresh := found[len(h.history):]
	if missing := s.acknowledged() - len(fresh); missing > 0 {
		h.lost += missing
		h.t.Errorf("%d messages were acknowledged, %d were found (%d begun, %d answered, %d saved)",
			s.acknowledged(), len(fresh), s.began, s.answered, s.saved)
	}
	for i, message := range fresh {
		want := []string{"You: " + s.sent[i/3], "Planner: ", "Critic: "}[i%3]
		if !strings.HasPrefix(message, want) || i%3 == 0 && message != want {
			h.t.Errorf("message %d of the round is %.60q", i, message)
		}
	}
	h.history = found
}

// messages returns the messages of the session.
func (h *rig) messages() (all []string) {
	h.t.Helper()
	if list, _ := h.run("sessions"); list == "" {
		return nil // the power was cut before the first message
	}
	stdout, _ := h.run("replay", "latest", "--output", "json")
	for line := range strings.Lines(stdout) {
		var m struct {
			Content string
			Speaker struct{ DisplayName string }
			Partial bool
		}
		h.must(json.Unmarshal([]byte(line), &m))
		if !m.Partial {
			all = append(all, m.Speaker.DisplayName+": "+m.Content)
		}
	}
	return all
}
