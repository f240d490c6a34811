//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A conversation that is entered on a page writes the journal of the same conversation that is typed in a terminal, but
// for ids, times, and devices.
func TestPageWritesWhatATerminalWrites(t *testing.T) {
	skipIfShort(t)
	typed, entered := newWorkplace(t), newWorkplace(t)
	typed.typeConversation(t)
	entered.enterConversation(t)
	want, got := typed.journals(t), entered.journals(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journals differ (-terminal +page):\n%s", diff)
	}
}

// A workplace is a home with a team, and a directory in which it works.
type workplace struct{ home, dir string }

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "ac") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	w := &workplace{filepath.Join(root, "home"), filepath.Join(root, "work")}
	for _, dir := range []string{w.dir, filepath.Join(w.home, "team-config")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	team := strings.ReplaceAll(readFile(t, teamPath("asking.json")), `"baseDir": "."`, fmt.Sprintf(`"baseDir": %q`, w.dir))
	if err := os.WriteFile(filepath.Join(w.home, "team-config", "asking.json"), []byte(team), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "notes.txt"), []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workplace) command(args ...string) *exec.Cmd {
	c := exec.Command("agent-chatter", args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+w.home)
	return c
}

// What is said in the conversation.
const (
	endless       = "hang" // begins a turn that is cancelled
	firstMessage  = "say one"
	panelMessage  = "say all [NEXT: ada | bea | cleo]"
	withFile      = "say look at @notes.txt"
	askedMessage  = "ask rm -r a"
	queuedMessage = "say never"
	retitle       = "/rename Another title"
	afterFork     = "say after the fork"
)

// typeConversation has the conversation in a terminal.
func (w *workplace) typeConversation(t *testing.T) {
	p := startTerminal(t, w.home, w.command("chat", "-t", "asking"))
	p.expect("hugo> ")
	p.typeLine(firstMessage)
	p.expect("hugo> ")
	for _, key := range []string{"y", "n"} {
		p.typeLine(askedMessage)
		p.expect("[N] Refuse")
		p.press(key + "\r")
		p.expect("hugo> ")
	}
	p.typeLine(withFile)
	p.expect("hugo> ")
	p.typeLine(panelMessage)
	p.expect("hugo> ")
	p.typeLine(endless)
	p.expect("Let me see.")
	p.typeLine(queuedMessage)
	p.expect("queued: " + queuedMessage)
	p.press("\x1b[A")
	p.expect("> " + queuedMessage)
	p.press("\x15") // Ctrl+U
	p.press("\x1b")
	p.expect("hugo> ")
	p.typeLine(retitle)
	p.expect("renamed")
	p.typeLine("/fork")
	p.expect("hugo> ")
	p.typeLine(afterFork)
	p.expect("after the fork")
	p.expect("hugo> ")
	p.typeLine("/end")
	p.ends(0)
}

// enterConversation has it on a page.
func (w *workplace) enterConversation(t *testing.T) {
	p := &webPage{t: t}
	p.open(w.command("serve", "--chat", "--output", "json"))
	post := func(path string, body map[string]any, answer any) {
		t.Helper()
		if err := p.post(path, body, answer); err != nil {
			t.Fatalf("%s %v: %v", path, body, err)
		}
	}
	n := 0
	say := func(text string) (id string) {
		t.Helper()
		n++
		var said struct{ ID string }
		post("sessions/"+p.key+"/say", map[string]any{"id": fmt.Sprint(n), "text": text}, &said)
		return said.ID
	}
	// turn waits until a person is next, after the message with an id was sent.
	turn := func(id string) {
		t.Helper()
		p.look(func(s liveState) bool { return slices.Contains(s.Sent, id) && len(s.Waiting) > 0 })
	}
	var begun struct{ Key string }
	post("conversations", map[string]any{"id": "0", "text": firstMessage, "team": "asking", "directory": w.dir}, &begun)
	p.key = begun.Key
	turn("page/0")
	for _, decision := range []string{"allow", "refuse"} {
		id := say(askedMessage)
		asked := p.look(func(s liveState) bool { return len(s.Questions) > 0 }).Questions[0]
		post("sessions/"+p.key+"/answer", map[string]any{"question": asked.ID, "decision": decision}, nil)
		turn(id)
	}
	turn(say(withFile))
	turn(say(panelMessage))
	id := say(endless)
	p.await("Let me see.")
	queued := say(queuedMessage)
	post("sessions/"+p.key+"/takeback", map[string]any{"id": queued}, nil)
	post("sessions/"+p.key+"/cancel", map[string]any{"member": ""}, nil)
	turn(id)
	say(retitle)
	say("/fork")
	forked := p.look(func(s liveState) bool { return s.Session != p.key && len(s.Waiting) > 0 }).Session
	p.key = forked
	turn(say(afterFork))
	say("/end")
	p.end()
}

// An entry is an event without what differs between two conversations.
type entry struct {
	Type string
	Data any
}

// journals returns the events of the sessions, the oldest session first.
func (w *workplace) journals(t *testing.T) (all [][]entry) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("the journals are %q, %v", paths, err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		var entries []entry
		for _, e := range objects[entry](t, readFile(t, path)) {
			if e.Type != "input.received" && e.Type != "turn.text" {
				entries = append(entries, entry{e.Type, w.normal(e.Data)})
			}
		}
		all = append(all, entries)
	}
	return all
}

var (
	ulids  = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)
	hashes = regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)
)

// different are the names of values that differ: devices, times, numbers of events, and digests of the directories.
var different = []string{
	"device", "timestamp", "app", "host", "secrets", "settings", "sum", "team", "seen", "from", "seq", "lastSeq", "id",
}

// normal returns a value without ids, times, durations, devices and the paths of the workplace.
func (w *workplace) normal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, of := range v {
			switch {
			case strings.HasSuffix(name, "Ms"), slices.Contains(different, name):
				delete(v, name)
			default:
				v[name] = w.normal(of)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = w.normal(v[i])
		}
		return v
	case string:
		v = strings.ReplaceAll(v, filepath.Dir(w.home), "ROOT")
		return hashes.ReplaceAllString(ulids.ReplaceAllString(v, "ID"), "HASH")
	}
	return value
}
