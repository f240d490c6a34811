//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

var (
	kills = flag.Int("kills", 0, "number of times that TestKill kills chat, and other commands a third as often; "+
		"0: 6 with -full, otherwise it is skipped, as TestKillAtEachStep is; also of each way in which "+
		"TestRealAgentsSeeEachMessageAfterAKill does, 1 by default")
	killSeed = flag.Uint64("killseed", 0, "seed of TestKill (default: the time)")
)

// TestKill kills the program with SIGKILL while it writes. No acknowledged event
// is lost, duplicated or moved, and the program continues with what is left.
func TestKill(t *testing.T) {
	t.Parallel()
	newKiller := killers(t)
	t.Run("chat", func(t *testing.T) { killChat(t, newKiller) })
	t.Run("compact", func(t *testing.T) { compactChore(newKiller(t, 1), 200_000).kill() })
	t.Run("repair", func(t *testing.T) { repairChore(newKiller(t, 2), 200_000).kill() })
	t.Run("clean", func(t *testing.T) { cleanChore(newKiller(t, 3), 10, false).kill() })
	t.Run("empty the trash", func(t *testing.T) { cleanChore(newKiller(t, 6), 10, true).kill() })
	killCopies(t, newKiller, 1_500_000, (*chore).kill)
	t.Run("host", func(t *testing.T) { killHost(t, newKiller) })
	t.Run("reindex", func(t *testing.T) { reindexChore(newKiller(t, 7)).kill() })
}

// killers builds the program and returns a function that creates killers. Killers
// of one stream draw the same random numbers.
func killers(t *testing.T) func(t *testing.T, stream uint64) *killer {
	t.Helper()
	if *kills == 0 {
		sizetest.SkipUnlessFull(t, "takes a minute, and runs the program without the race detector")
		*kills = 6
	}
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat this run: -killseed %d", seed)
	binary := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(t *testing.T, stream uint64) *killer {
		return &killer{t: t, random: rand.New(rand.NewPCG(seed, stream)), binary: binary, dir: t.TempDir()}
	}
}

// enoughKills is a number of kills of which some must hit a write.
const enoughKills = 300

// killer runs the program in a directory of its own, at random times.
type killer struct {
	t      *testing.T
	random *rand.Rand
	binary string
	dir    string // the home is dir/home
}

func (k *killer) home() string { return filepath.Join(k.dir, "home") }

func (k *killer) write(name, content string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(content), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killer) command(args ...string) *exec.Cmd {
	cmd := exec.Command(k.binary, args...)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+k.home())
	cmd.WaitDelay = testTimeout
	return cmd
}

func (k *killer) start(args ...string) *program {
	k.t.Helper()
	return startCommand(k.t, k.home(), k.command(args...))
}

// run runs the program to its end, with exit code 0.
func (k *killer) run(args ...string) (stdout, stderr string) {
	k.t.Helper()
	return k.runWith("", args...)
}

// runWith is run with standard input.
func (k *killer) runWith(input string, args ...string) (stdout, stderr string) {
	k.t.Helper()
	var out, errs strings.Builder
	cmd := k.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		k.t.Fatalf("%q: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// list returns the list of sessions, which has each session once.
func (k *killer) list() map[string]sessionJSON {
	k.t.Helper()
	out, _ := k.run("sessions", "--all", "--output", "json")
	all := map[string]sessionJSON{}
	for _, s := range objects[sessionJSON](k.t, out) {
		if _, twice := all[s.ID]; twice {
			k.t.Fatalf("session %s is listed twice:\n%s", s.ID, out)
		}
		all[s.ID] = s
	}
	return all
}

// objects decodes one object per line.
func objects[T any](t *testing.T, lines string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(lines) {
		var object T
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%.100q: %v", line, err)
		}
		all = append(all, object)
	}
	return all
}

// killed kills the program, and reports whether it was still running.
func (p *program) killed() bool {
	p.cmd.Process.Kill()
	<-p.ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// roundsPerSession is the number of kills of one session. A longer session only
// makes rounds slower.
const roundsPerSession = 10

// killChat kills chat during conversations.
func killChat(t *testing.T, newKiller func(t *testing.T, stream uint64) *killer) {
	var sum tally
	for first := 0; first < *kills; first += roundsPerSession {
		t.Run(fmt.Sprintf("rounds from %d", first), func(t *testing.T) {
			s := newKilledSession(newKiller(t, 1000+uint64(first)), &sum)
			for round := first; round < min(*kills, first+roundsPerSession); round++ {
				s.round(round)
			}
			s.settle()
		})
	}
	t.Logf("%d rounds, %d torn tails, %d interrupted turns; %d events acknowledged, %d of them lost; %d kept "+
		"without acknowledgement",
		sum.rounds, sum.torn, sum.interrupted, sum.acknowledged, sum.lost, sum.extra)
	if *kills >= enoughKills && sum.torn == 0 && runtime.GOOS == "linux" {
		t.Error("no write was torn: the kills missed the writes")
	}
}

// tally counts over all rounds.
type tally struct {
	rounds, torn, interrupted int
	acknowledged, lost, extra int // events
}

// killedSession is a session whose chat is killed and resumed repeatedly, while
// tail follows it.
type killedSession struct {
	*killer
	sum *tally

	id    string   // of the session; "": not created yet
	sound string   // the journal after the last round, without a torn tail
	torn  []string // the torn tails of all rounds
	tail  *program // prints from the first event on
}

func newKilledSession(k *killer, sum *tally) *killedSession {
	k.writeTeam()
	return &killedSession{killer: k, sum: sum}
}

// writeTeam writes team.json: a human, and an agent whose replies have any length.
func (k *killer) writeTeam() {
	k.t.Helper()
	// The agent records the name of the question, and answers with as many letters as
	// it asks for. The question is the last line of the prompt, which may be cut off if
	// the program is killed.
	k.write("answer.sh", `set -- $(tail -n 1 | sed -n 's/^\([^ ]*\) q* \([0-9]*\) end$/\1 \2/p')
[ "$1" ] || exit 1
echo "$1" >>asked
printf 'to-%s ' "$1"
head -c "$2" /dev/zero | tr '\0' a
echo
`)
	k.write("team.json", `{"schemaVersion": "1.2",
  "agents": [{"name": "answer", "command": "sh", "args": ["answer.sh"]}],
  "team": {"name": "kill", "description": "Replies of any length", "members": [
    {"name": "hugo", "displayName": "Hugo", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "answer",
      "engine": "command", "baseDir": ".", "systemInstruction": ""}]}}`)
}

// anySize returns a number of bytes from 300 to 1,000,000: one in four below
// 16,000, half of them above 125,000, few of them multiples of a page.
func anySize(random *rand.Rand) int { return 300 + int(999_700*math.Pow(random.Float64(), 3)) }

// question is a message of so many bytes that asks for a reply of a given length.
func question(name string, bytes, reply int) string {
	return fmt.Sprintf("%s %s %d end\n", name, strings.Repeat("q", bytes), reply)
}

// ask sends questions until the program has exited.
func ask(stdin io.Writer, round int, random *rand.Rand) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("n%dx%d", round, i)
		if _, err := io.WriteString(stdin, question(name, anySize(random), anySize(random))); err != nil {
			return
		}
	}
}

// round resumes the session, kills the chat, and checks what is left.
func (s *killedSession) round(n int) {
	s.t.Helper()
	s.sum.rounds++
	if s.tail == nil || s.random.IntN(2) == 0 {
		s.follow()
	}
	waitForKill := s.aim()
	args := []string{"chat", "-t", "team.json", "--output", "json"}
	if s.id != "" {
		args = append(args, "--resume", s.id)
	}
	chat := s.start(args...)
	asking := make(chan struct{})
	sizes := rand.New(rand.NewPCG(s.random.Uint64(), 0))
	go func() {
		ask(chat.stdin, n, sizes)
		close(asking)
	}()
	waitForKill(chat)
	if !chat.killed() {
		s.t.Fatalf("chat exited by itself.\nstderr:\n%s", chat.stderr)
	}
	<-asking
	s.check(wholeLines(chat.stdout.String()))
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// follow starts a tail of the session, whatever its end is; without a session, the
// tail waits for its first message.
func (s *killedSession) follow() {
	s.t.Helper()
	if s.tail != nil {
		s.tail.signal(syscall.SIGTERM)
		s.tail.ends(exitDone)
	}
	args := []string{"tail", "--follow", "-n", everything, "--output", "json"}
	if s.id != "" {
		args = append(args, s.id)
	}
	s.tail = s.start(args...)
}

// aim chooses when to kill, and returns a function that waits for it: a random
// time; a number of acknowledged events; or, most often, that number and then more
// than a page of growth of the journal, which is during a long write. The kernel
// stops such a write after the page that it is copying.
func (s *killedSession) aim() func(chat *program) {
	pause := time.Duration(s.random.IntN(150_000)) * time.Microsecond
	lines := s.random.IntN(12)
	switch s.random.IntN(10) {
	case 0:
		return func(*program) { time.Sleep(pause) }
	case 1, 2:
		return func(chat *program) { awaitLines(chat, 1+lines) }
	}
	return func(chat *program) {
		awaitLines(chat, lines)
		s.awaitGrowth(chat, 4096)
	}
}

// awaitLines waits until the program has printed that many lines.
func awaitLines(p *program, lines int) {
	for p.running() {
		content, changed := p.stdout.look()
		if strings.Count(content, "\n") >= lines {
			return
		}
		select {
		case <-changed:
		case <-p.ended:
		}
	}
}

// awaitGrowth waits until the journal is longer by that many bytes. It polls: a
// notification arrives after the write, too late to tear it.
func (s *killedSession) awaitGrowth(chat *program, bytes int64) {
	file := s.awaitJournal(chat)
	if file == nil {
		return
	}
	defer file.Close()
	size := func() int64 {
		var now syscall.Stat_t
		if err := syscall.Fstat(int(file.Fd()), &now); err != nil {
			s.t.Error(err)
		}
		return now.Size
	}
	for grown := size() + bytes; size() < grown && chat.running(); {
	}
}

// awaitJournal waits for the journal and opens it. It returns nil if the program
// has exited.
func (s *killedSession) awaitJournal(chat *program) *os.File {
	for chat.running() {
		if file, err := os.Open(s.journal()); err == nil {
			return file
		}
	}
	return nil
}

// journal returns the path of the session's journal, or of the newest journal
// before the first round.
func (s *killedSession) journal() string {
	dir := filepath.Join(s.home(), "sessions", "kill")
	if s.id != "" {
		return filepath.Join(dir, s.id+".jsonl")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(paths) == 0 {
		return filepath.Join(dir, "none")
	}
	return slices.Max(paths)
}

// wholeLines returns a text up to its last newline.
func wholeLines(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// check checks what a kill has left, given the lines that were acknowledged.
func (s *killedSession) check(acknowledged string) {
	s.t.Helper()
	before := s.sound
	events := strings.Count(acknowledged, "\n")
	s.sum.acknowledged += events
	if !s.look() {
		if before+acknowledged != "" {
			s.sum.lost += events
			s.t.Errorf("the session is lost, with %d acknowledged events", events)
		}
		return
	}
	added, ok := strings.CutPrefix(s.sound, before)
	if !ok {
		s.t.Errorf("the journal does not begin with the %d bytes that it had before", len(before))
		return
	}
	if lost := events - commonLines(added, acknowledged); lost > 0 {
		s.sum.lost += lost
		s.t.Errorf("%d of the %d acknowledged events are not in the journal, in order", lost, events)
	}
	s.sum.extra += strings.Count(added, "\n") - events
	s.sum.interrupted += strings.Count(added, `"finishReason":"interrupted"`)
	s.checkMessages()
	s.checkTail()
}

// look reads the journal. It reports false if there is no session yet.
func (s *killedSession) look() bool {
	s.t.Helper()
	out, stderr := s.run("verify", "--output", "json")
	verdicts := objects[verdict](s.t, out)
	if len(verdicts) == 0 {
		return false
	}
	if len(verdicts) != 1 || !verdicts[0].OK || s.id != "" && verdicts[0].ID != s.id {
		s.t.Fatalf("verify printed:\n%s%s", out, stderr)
	}
	s.id = verdicts[0].ID
	content := readFile(s.t, s.journal())
	s.sound = firstLines(content, int(verdicts[0].Events))
	torn := content[len(s.sound):]
	if noticed := strings.Contains(stderr, "unfinished write"); noticed != (torn != "") {
		s.t.Errorf("verify prints for a tail of %d bytes after %d events: %q", len(torn), verdicts[0].Events, stderr)
	}
	if torn != "" && !slices.Contains(s.torn, torn) {
		s.torn = append(s.torn, torn)
		s.sum.torn++
	}
	return true
}

// firstLines returns a text up to the end of line n.
func firstLines(text string, n int) string {
	end := 0
	for range n {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			break
		}
		end += i + 1
	}
	return text[:end]
}

// commonLines returns the number of lines of the common prefix of two texts.
func commonLines(a, b string) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		lineA, lineB := firstLines(a, 1), firstLines(b, 1)
		if lineA != lineB {
			break
		}
		n++
		a, b = a[len(lineA):], b[len(lineB):]
	}
	return n
}

// checkMessages checks that each message is in the session once, and every message
// that an agent got, and that the session can be resumed.
func (s *killedSession) checkMessages() {
	s.t.Helper()
	asked, _ := os.ReadFile(filepath.Join(s.dir, "asked"))
	out, _ := s.run("replay", s.id, "--output", "json")
	times, messages := map[string]int{}, 0
	for _, m := range objects[struct {
		Content string
		Partial bool
	}](s.t, out) {
		if !m.Partial {
			messages++
			times[strings.Fields(m.Content)[0]]++
		}
	}
	for name, n := range times {
		if n != 1 {
			s.t.Errorf("message %s is %d times in the session", name, n)
		}
	}
	for _, name := range strings.Fields(string(asked)) {
		if times[name] != 1 {
			s.t.Errorf("message %s was sent to an agent and is not in the session", name)
		}
	}
	if list := s.list(); len(list) != 1 || list[s.id].MessageCount != messages {
		s.t.Errorf("replay has %d messages, the list says %+v", messages, list)
	}
	before := readFile(s.t, s.journal())
	_, stderr := s.run("chat", "-t", "team.json", "--resume", s.id)
	if want := fmt.Sprintf("Resumed session: %s (%d message", s.id, messages); !strings.Contains(stderr, want) {
		s.t.Errorf("stderr is %q, want %q", stderr, want)
	}
	if readFile(s.t, s.journal()) != before {
		s.t.Error("resuming without a message has changed the journal")
	}
}

// checkTail waits until tail has printed as many lines as the journal has, and
// compares them.
func (s *killedSession) checkTail() {
	s.t.Helper()
	if !strings.Contains(s.sound, `"type":"message.appended"`) {
		return // tail waits for the first message
	}
	s.tail.printed(strings.Count(s.sound, "\n"))
	if got := s.tail.stdout.String(); got != s.sound {
		s.t.Errorf("tail printed %d lines in %d bytes, of which %d are the beginning of the journal, which has %d "+
			"in %d",
			strings.Count(got, "\n"), len(got), commonLines(got, s.sound), strings.Count(s.sound, "\n"), len(s.sound))
	}
}

// settle resumes the session once more, without a kill: every torn tail is set
// aside, and the session is complete.
func (s *killedSession) settle() {
	s.t.Helper()
	if s.id == "" {
		return
	}
	before := s.sound
	stdout, _ := s.runWith(question("last", 300, 300), "chat", "-t", "team.json", "--output", "json", "--resume", s.id)
	s.check(stdout)
	if s.sound != before+stdout || !strings.Contains(stdout, "to-last ") {
		s.t.Errorf("the resumed chat prints %.1000q", stdout)
	}
	if content := readFile(s.t, s.journal()); content != s.sound {
		s.t.Errorf("%d bytes after the last event", len(content)-len(s.sound))
	}
	asides, err := filepath.Glob(strings.TrimSuffix(s.journal(), ".jsonl") + ".aside-*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, torn := range s.torn {
		if !slices.ContainsFunc(asides, func(path string) bool { return readFile(s.t, path) == torn }) {
			s.t.Errorf("a torn tail of %d bytes is in none of the %d aside files", len(torn), len(asides))
		}
	}
	s.tail.signal(syscall.SIGTERM)
	s.tail.ends(exitDone)
}
