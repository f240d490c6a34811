//go:build unix

package main

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
)

var (
	kills    = flag.Int("kills", 10, "how often TestKill kills the program")
	killSeed = flag.Uint64("killseed", 0, "what TestKill starts its dice with; 0: the clock")
)

// TestKill kills chat at random moments. Whatever had been shown by then is in
// the session, once, and the session goes on.
func TestKill(t *testing.T) {
	dice := *killSeed
	if dice == 0 {
		dice = uint64(time.Now().UnixNano())
	}
	t.Logf("to roll the same dice: -killseed %d", dice)
	k := newKiller(t, rand.New(rand.NewPCG(dice, 0)))
	for round := range *kills {
		k.round(round)
	}
	k.settle()
	events, _ := k.run("replay", "latest", "--output", "events")
	t.Logf("%d rounds, %d torn tails seen, %d turns interrupted, %d messages checked",
		*kills, k.torn, strings.Count(events, `"finishReason":"interrupted"`), len(k.shown))
}

// replySizes are in bytes; none is a multiple of a page.
var replySizes = []int{300, 1_000, 4_095, 4_097, 12_345, 65_537, 131_000, 300_001}

// killer is one session that is killed and resumed, again and again.
type killer struct {
	t      *testing.T
	dice   *rand.Rand
	binary string
	dir    string
	shown  map[string]bool // the beginnings of the messages that were shown

	torn int // tails that were found
}

func newKiller(t *testing.T, dice *rand.Rand) *killer {
	k := &killer{t: t, dice: dice, dir: t.TempDir(), shown: map[string]bool{}}
	k.binary = filepath.Join(k.dir, "program")
	if out, err := exec.Command("go", "build", "-o", k.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// The agent answers with the name that it was given, and as many letters.
	k.write("answer.sh", `set -- $(sed -n 's/.*ask \(n[0-9]*x[0-9]*\) \([0-9]*\) end.*/\1 \2/p' | tail -n 1)
printf 'reply %s ' "$1"
head -c "$2" /dev/zero | tr '\0' a
echo
`)
	k.write("team.json", `{"schemaVersion": "1.2",
  "agents": [{"name": "answer", "command": "sh", "args": ["answer.sh"]}],
  "team": {"name": "kill", "description": "Replies of any length", "members": [
    {"name": "hugo", "displayName": "Hugo", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "answer", "engine": "command", "baseDir": ".", "systemInstruction": ""}]}}`)
	return k
}

func (k *killer) write(name, content string) {
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(content), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killer) command(args ...string) *exec.Cmd {
	cmd := exec.Command(k.binary, args...)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+filepath.Join(k.dir, "home"))
	cmd.WaitDelay = patience
	return cmd
}

// run runs the program to its end, which has to be a good one.
func (k *killer) run(args ...string) (stdout, stderr string) {
	k.t.Helper()
	var out, errs strings.Builder
	cmd := k.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		k.t.Fatalf("%q: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// round goes on with the session until it is killed, and checks what is left.
func (k *killer) round(n int) {
	args := []string{"chat", "-t", "team.json"}
	if len(k.messages()) > 0 {
		args = append(args, "--resume")
	}
	cmd := k.command(args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	var talking sync.WaitGroup
	talking.Go(func() { k.ask(n, stdin) })
	talking.Go(func() { k.listen(stdout) })
	time.Sleep(time.Duration(k.dice.IntN(300_000)) * time.Microsecond) // when the blow falls
	cmd.Process.Kill()
	talking.Wait()
	cmd.Wait()
	k.check()
}

// ask sends questions until nobody reads them any more.
func (k *killer) ask(round int, stdin io.Writer) {
	sizes := rand.New(rand.NewPCG(uint64(round), 1))
	for i := 0; ; i++ {
		size := replySizes[sizes.IntN(len(replySizes))]
		if _, err := fmt.Fprintf(stdin, "ask n%dx%d %d end\n", round, i, size); err != nil {
			return
		}
	}
}

// listen remembers each message that was shown to its end.
func (k *killer) listen(stdout io.Reader) {
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if reply, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "Ada: "); ok {
			k.shown[reply] = true
		}
	}
}

// messages are those of the session, and how often each is in it.
func (k *killer) messages() map[string]int {
	if paths, _ := filepath.Glob(filepath.Join(k.dir, "home", "sessions", "kill", "*.jsonl")); len(paths) == 0 {
		return nil
	}
	list, _ := k.run("sessions")
	if list == "" {
		return nil // it was killed before the first word
	}
	out, _ := k.run("replay", "latest", "--output", "json")
	count := map[string]int{}
	for line := range strings.Lines(out) {
		var m struct {
			Content string
			Partial bool
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			k.t.Fatalf("replay printed %q: %v", line, err)
		}
		if m.Partial {
			continue
		}
		count[m.Content]++
	}
	return count
}

func (k *killer) check() {
	k.t.Helper()
	_, stderr := k.run("verify")
	if strings.Contains(stderr, "unfinished write") {
		k.torn++
	}
	messages := k.messages()
	for reply := range k.shown {
		if messages[reply] != 1 {
			k.t.Errorf("%.20q of %d bytes was shown, and is %d times in the session", reply, len(reply), messages[reply])
		}
	}
	for content, n := range messages {
		if n != 1 {
			k.t.Errorf("%.30q is %d times in the session", content, n)
		}
	}
	if k.t.Failed() {
		k.t.FailNow()
	}
}

// settle goes on once more, in peace.
func (k *killer) settle() {
	before := len(k.messages())
	args := []string{"chat", "-t", "team.json", "-m", "ask n0x999999 300 end"}
	if before > 0 {
		args = append(args, "--resume")
	}
	stdout, _ := k.run(args...)
	if !strings.HasPrefix(stdout, "Ada: reply n0x999999 ") {
		k.t.Errorf("it does not go on: %.100q", stdout)
	}
	if after := len(k.messages()); after != before+2 {
		k.t.Errorf("%d messages became %d", before, after)
	}
	_, stderr := k.run("verify")
	if strings.Contains(stderr, "unfinished write") {
		k.t.Errorf("a torn tail was not set aside: %s", stderr)
	}
}
