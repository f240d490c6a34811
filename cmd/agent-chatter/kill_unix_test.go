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
)

var (
	kills    = flag.Int("kills", 30, "how often TestKill kills chat; it kills compact, repair and clean a third as often")
	killDice = flag.Uint64("killdice", 0, "what TestKill starts its dice with; 0: the clock")
)

// TestKill kills the real program with SIGKILL, at moments that are aimed at
// what it writes. Nothing that it had acknowledged is lost, doubled or moved, and
// it goes on from whatever it left.
func TestKill(t *testing.T) {
	newKiller := killers(t)
	t.Run("chat", func(t *testing.T) { killChat(t, newKiller) })
	t.Run("compact", func(t *testing.T) { compactChore(newKiller(t, 1), 200_000).kill() })
	t.Run("repair", func(t *testing.T) { repairChore(newKiller(t, 2), 200_000).kill() })
	t.Run("clean", func(t *testing.T) { cleanChore(newKiller(t, 3), 10).kill() })
	killCopies(t, newKiller, 1_500_000, (*chore).kill)
}

// killers builds the program, rolls the dice, and returns what makes killers of
// them: those of one stream get the same numbers.
func killers(t *testing.T) func(t *testing.T, stream uint64) *killer {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes a minute, and what it kills is built as people have it: the race detector sees nothing of it")
	}
	dice := *killDice
	if dice == 0 {
		dice = uint64(time.Now().UnixNano())
	}
	t.Logf("to roll the same dice: -killdice %d", dice)
	binary := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(t *testing.T, stream uint64) *killer {
		return &killer{t: t, dice: rand.New(rand.NewPCG(dice, stream)), binary: binary, dir: t.TempDir()}
	}
}

// enoughKills are so many that what they are for has to have happened.
const enoughKills = 300

// killer runs the program in a directory of its own, and has dice.
type killer struct {
	t      *testing.T
	dice   *rand.Rand
	binary string
	dir    string // home/ is the home
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
	cmd.WaitDelay = patience
	return cmd
}

func (k *killer) start(args ...string) *program {
	k.t.Helper()
	return startCommand(k.t, k.home(), k.command(args...))
}

// run runs the program to its end, which has to be a good one.
func (k *killer) run(args ...string) (stdout, stderr string) {
	k.t.Helper()
	return k.fed("", args...)
}

// fed is run with something on standard input.
func (k *killer) fed(input string, args ...string) (stdout, stderr string) {
	k.t.Helper()
	var out, errs strings.Builder
	cmd := k.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		k.t.Fatalf("%q: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// list is what sessions says, which names each session once.
func (k *killer) list() map[string]sessionJSON {
	k.t.Helper()
	out, _ := k.run("sessions", "--all", "--output", "json")
	all := map[string]sessionJSON{}
	for _, s := range objects[sessionJSON](k.t, out) {
		if _, twice := all[s.ID]; twice {
			k.t.Fatalf("session %s is in the list twice:\n%s", s.ID, out)
		}
		all[s.ID] = s
	}
	return all
}

// objects reads one object a line.
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

// killed kills the program, and reports whether it had not ended before.
func (p *program) killed() bool {
	p.cmd.Process.Kill()
	<-p.ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// roundsPerSession is how often one session is killed. A longer session only
// makes the rounds slower.
const roundsPerSession = 10

// killChat kills chat in the middle of conversations.
func killChat(t *testing.T, newKiller func(t *testing.T, stream uint64) *killer) {
	var sum tally
	for first := 0; first < *kills; first += roundsPerSession {
		t.Run(fmt.Sprintf("rounds from %d", first), func(t *testing.T) {
			s := newHardLife(newKiller(t, 1000+uint64(first)), &sum)
			for round := first; round < min(*kills, first+roundsPerSession); round++ {
				s.round(round)
			}
			s.settle()
		})
	}
	t.Logf("%d rounds, %d torn tails seen, %d turns interrupted; %d events acknowledged, %d of them lost; %d not acknowledged and there",
		sum.rounds, sum.torn, sum.interrupted, sum.acknowledged, sum.lost, sum.behind)
	if *kills >= enoughKills && sum.torn == 0 && runtime.GOOS == "linux" {
		t.Error("no write was torn: the blows did not fall where they were aimed")
	}
}

// tally is what is counted over all rounds.
type tally struct {
	rounds, torn, interrupted  int
	acknowledged, lost, behind int // events
}

// hardLife is one session that is killed and resumed, again and again, and
// followed all the time.
type hardLife struct {
	*killer
	sum *tally

	id    string   // of the session; "": there is none yet
	sound string   // the journal after the last round, as far as it checks
	torn  []string // what stood behind that, round after round
	tail  *program // what it prints begins with the first event
}

func newHardLife(k *killer, sum *tally) *hardLife {
	k.writeTeam()
	return &hardLife{killer: k, sum: sum}
}

// writeTeam writes team.json: a human, and an agent who answers at any length.
func (k *killer) writeTeam() {
	k.t.Helper()
	// The agent notes down who asked, and answers with as many letters as were
	// asked for. The question is the last line of the prompt; of a program that is
	// killed, the prompt may be cut off.
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
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "answer", "engine": "command", "baseDir": ".", "systemInstruction": ""}]}}`)
}

// anySize is in bytes, 300 to 1,000,000, one in four below 16,000, half of them
// above 125,000. Next to none is a multiple of a page.
func anySize(dice *rand.Rand) int { return 300 + int(999_700*math.Pow(dice.Float64(), 3)) }

// question is a message of so many bytes that asks for a reply of so many.
func question(name string, bytes, reply int) string {
	return fmt.Sprintf("%s %s %d end\n", name, strings.Repeat("q", bytes), reply)
}

// ask sends questions until nobody reads them any more.
func ask(stdin io.Writer, round int, dice *rand.Rand) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("n%dx%d", round, i)
		if _, err := io.WriteString(stdin, question(name, anySize(dice), anySize(dice))); err != nil {
			return
		}
	}
}

// round goes on with the session until it is killed, and checks what is left.
func (s *hardLife) round(n int) {
	s.t.Helper()
	s.sum.rounds++
	if s.tail == nil || s.dice.IntN(2) == 0 {
		s.follow()
	}
	blow := s.aim()
	args := []string{"chat", "-t", "team.json", "--output", "json"}
	if s.id != "" {
		args = append(args, "--resume", s.id)
	}
	chat := s.start(args...)
	asking := make(chan struct{})
	sizes := rand.New(rand.NewPCG(s.dice.Uint64(), 0))
	go func() {
		ask(chat.stdin, n, sizes)
		close(asking)
	}()
	blow(chat)
	if !chat.killed() {
		s.t.Fatalf("it ended by itself.\nstderr:\n%s", chat.stderr)
	}
	<-asking
	s.check(wholeLines(chat.stdout.String()))
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// follow begins to follow the session, whatever is at its end. Where there is
// none yet, its first message is waited for.
func (s *hardLife) follow() {
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

// aim chooses the moment of the blow, and returns what waits for it: some time;
// until so many events were acknowledged; and most often from there until the
// journal grows by more than a page, which is in the middle of a long write. A
// kernel stops such a write behind the piece that it is copying.
func (s *hardLife) aim() func(chat *program) {
	pause := time.Duration(s.dice.IntN(150_000)) * time.Microsecond
	lines := s.dice.IntN(12)
	switch s.dice.IntN(10) {
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

// awaitLines waits until the program has printed so many lines.
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

// awaitGrowth waits until the journal is longer by so many bytes. It looks all
// the time: a notification comes when a write is over, which is too late to tear
// it.
func (s *hardLife) awaitGrowth(chat *program, bytes int64) {
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

// awaitJournal waits until there is a journal, and opens it; nil: the program
// has ended.
func (s *hardLife) awaitJournal(chat *program) *os.File {
	for chat.running() {
		if file, err := os.Open(s.journal()); err == nil {
			return file
		}
	}
	return nil
}

// journal is the path of the session's journal, or of the newest one when there
// is no session yet.
func (s *hardLife) journal() string {
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

// wholeLines is a text without what follows its last newline.
func wholeLines(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// check looks at what a kill has left, given the lines that were acknowledged.
func (s *hardLife) check(acknowledged string) {
	s.t.Helper()
	before := s.sound
	events := strings.Count(acknowledged, "\n")
	s.sum.acknowledged += events
	if !s.look() {
		if before+acknowledged != "" {
			s.sum.lost += events
			s.t.Errorf("the session is gone, with %d events that were acknowledged", events)
		}
		return
	}
	added, ok := strings.CutPrefix(s.sound, before)
	if !ok {
		s.t.Errorf("the %d bytes that were in the journal before are not its beginning any more", len(before))
		return
	}
	if lost := events - commonLines(added, acknowledged); lost > 0 {
		s.sum.lost += lost
		s.t.Errorf("%d of the %d events that were acknowledged are not in the journal, in their places", lost, events)
	}
	s.sum.behind += strings.Count(added, "\n") - events
	s.sum.interrupted += strings.Count(added, `"finishReason":"interrupted"`)
	s.checkMessages()
	s.checkTail()
}

// look reads the journal. It reports false when there is no session yet.
func (s *hardLife) look() bool {
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
		s.t.Errorf("verify says of a tail of %d bytes behind %d events: %q", len(torn), verdicts[0].Events, stderr)
	}
	if torn != "" && !slices.Contains(s.torn, torn) {
		s.torn = append(s.torn, torn)
		s.sum.torn++
	}
	return true
}

// firstLines is the beginning of a text, to the end of line n.
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

// commonLines is how many lines two texts have in common, from their beginnings.
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

// checkMessages proves that each message is there once, those among them that
// an agent has heard, and that the session can be gone on with.
func (s *hardLife) checkMessages() {
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
			s.t.Errorf("an agent has heard message %s, and it is not in the session", name)
		}
	}
	if list := s.list(); len(list) != 1 || list[s.id].MessageCount != messages {
		s.t.Errorf("replay has %d messages, the list says %+v", messages, list)
	}
	before := readFile(s.t, s.journal())
	_, stderr := s.run("chat", "-t", "team.json", "--resume", s.id)
	if want := fmt.Sprintf("Resumed session: %s (%d messages loaded)", s.id, messages); !strings.Contains(stderr, want) {
		s.t.Errorf("it does not say %q but %q", want, stderr)
	}
	if readFile(s.t, s.journal()) != before {
		s.t.Error("resuming without a word has changed the journal")
	}
}

// checkTail waits until the follower has printed as many lines as the journal
// has, and compares them.
func (s *hardLife) checkTail() {
	s.t.Helper()
	if !strings.Contains(s.sound, `"type":"message.appended"`) {
		return // the first message is waited for
	}
	s.tail.printed(strings.Count(s.sound, "\n"))
	if got := s.tail.stdout.String(); got != s.sound {
		s.t.Errorf("tail printed %d lines in %d bytes, of which %d are the beginning of the journal, which has %d in %d",
			strings.Count(got, "\n"), len(got), commonLines(got, s.sound), strings.Count(s.sound, "\n"), len(s.sound))
	}
}

// settle goes on once more, in peace: what was torn is set aside, each byte of
// it, and the session is whole.
func (s *hardLife) settle() {
	s.t.Helper()
	if s.id == "" {
		return
	}
	before := s.sound
	stdout, _ := s.fed(question("last", 300, 300), "chat", "-t", "team.json", "--output", "json", "--resume", s.id)
	s.check(stdout)
	if s.sound != before+stdout || !strings.Contains(stdout, "to-last ") {
		s.t.Errorf("it does not go on: %.1000q", stdout)
	}
	if content := readFile(s.t, s.journal()); content != s.sound {
		s.t.Errorf("%d bytes behind the last event", len(content)-len(s.sound))
	}
	asides, err := filepath.Glob(strings.TrimSuffix(s.journal(), ".jsonl") + ".aside-*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, torn := range s.torn {
		if !slices.ContainsFunc(asides, func(path string) bool { return readFile(s.t, path) == torn }) {
			s.t.Errorf("a torn tail of %d bytes is in none of the %d files that were set aside", len(torn), len(asides))
		}
	}
	s.tail.signal(syscall.SIGTERM)
	s.tail.ends(exitDone)
}
