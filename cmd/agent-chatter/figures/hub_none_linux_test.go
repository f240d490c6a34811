package figures

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// beforeHub is the last commit without a hub.
const beforeHub = "373bc2631c2755806ffb2559f338e126e2c187b7"

// withoutHub measures what the hub costs a chat that has none: next to a chat whose hub is not used and, at full size,
// to the program before there was a hub.
func (f *figures) withoutHub(t *testing.T) {
	t.Setenv("AGENT_CHATTER_HUB", "")
	f.offlineCost(t)
	if !*full {
		return
	}
	before, ok := f.buildBeforeHub(t)
	if !ok {
		fmt.Printf("\nNot compared with the program before the hub: this repository lacks its commit.\n")
		return
	}
	now, than := f.chatFiles(t, f.program), f.chatFiles(t, before)
	if now != than {
		t.Errorf("a chat without a hub writes:\n%s\nand before there was a hub:\n%s", now, than)
	}
	f.atMost("a chat without a hub: bytes in its files, relative to the program before the hub",
		float64(len(now))/float64(len(than)), 1, "×")
	older := *f // its runs alternate with those of the program before the hub
	older.old, older.copies = before, map[string]string{}
	v := version{f.program, f.home(t)}
	v.do(t, nil, "chat", "-m", "hello") // only the first chat looks for agents
	results := older.race(t,
		contestant{
			name: "chat without a hub, to the first paint", home: v.home, prints: prompted, terminal: true,
			args: []string{f.program, "chat"},
		},
		contestant{
			name: "chat without a hub, one message", home: v.home, prints: "Critic: ",
			args: []string{f.program, "chat", "-m", "hello"},
		},
	)
	f.bounds = older.bounds
	printCosts(results)
	for _, r := range results {
		than := costs{runs: r.old}
		f.atMost(r.name+", slower than before the hub by", milliseconds(r.least()-than.least()), 1, "ms")
		f.atMost(r.name+", relative to before the hub", slowdown(r, than), 1.15, "×")
	}
}

// slowdown returns the least of three ratios: of the medians, of the least times and of the CPU times. Other load
// changes each of them; a slower program changes all.
func slowdown(c, than costs) float64 {
	return min(c.wall().Seconds()/than.wall().Seconds(), c.least().Seconds()/than.least().Seconds(),
		c.cpu().Seconds()/than.cpu().Seconds())
}

// offlineCost measures a chat without a hub next to one whose hub is not used.
func (f *figures) offlineCost(t *testing.T) {
	without, with := version{f.program, f.home(t)}, f.hubHome(t)
	results := f.race(t,
		contestant{
			name: "chat without a hub, one message", home: without.home, prints: "Critic: ",
			args: []string{f.program, "chat", "-m", "hello"},
		},
		contestant{
			name: "the same, with a hub and --offline", home: with.home, prints: "Critic: ",
			args: []string{f.program, "--hub", "nats://127.0.0.1:1", "--offline", "chat", "-m", "hello"},
		},
	)
	printCosts(results)
	f.atMost(results[1].name+", relative to no hub", slowdown(results[1], results[0]), 1.15, "×")
}

// buildBeforeHub builds the program of beforeHub from the history of the repository, if it has that.
func (f *figures) buildBeforeHub(t *testing.T) (path string, ok bool) {
	t.Helper()
	dir := f.home(t)
	root := filepath.Join("..", "..", "..")
	if exec.Command("git", "-C", root, "cat-file", "-e", beforeHub+"^{commit}").Run() != nil {
		return "", false
	}
	archive := filepath.Join(dir, "source.tar")
	for _, cmd := range []*exec.Cmd{
		exec.Command("git", "-C", root, "archive", "-o", archive, beforeHub),
		exec.Command("tar", "-xf", archive, "-C", dir),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	path = filepath.Join(f.dir, "before-hub")
	build(t, filepath.Join(dir, "cmd", "agent-chatter"), path, ".")
	return path, true
}

// changing is what differs between two chats of the same messages: ids, times, sums, durations, and the directory.
var changing = regexp.MustCompile(
	`[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\dT[0-9:.]+Z|"sum":"[0-9a-f]{8}"|"durationMs":\d+`)

// chatFiles returns the names of the files of a first chat, and its journal, without what is changing.
func (f *figures) chatFiles(t *testing.T, program string) string {
	t.Helper()
	v := version{program, f.home(t)}
	v.do(t, nil, "chat", "-m", "hello")
	_, path := onlyJournal(t, v.home)
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil {
		t.Fatal(err)
	}
	var files strings.Builder
	for _, name := range names {
		fmt.Fprintln(&files, filepath.Base(name))
	}
	return changing.ReplaceAllStringFunc(files.String()+readFile(t, path), func(text string) string {
		if strings.HasPrefix(text, `"durationMs"`) {
			return `"durationMs":0`
		}
		return strings.Repeat("X", len(text))
	})
}
