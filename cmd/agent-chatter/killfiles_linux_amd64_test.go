package main

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	stored "github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A fileKiller kills commands that capture files, or set them back, after a system call that changes a file.
type fileKiller struct {
	*killer
	project string
	session string
}

// TestKillFilesAtEachStep kills commands that capture, set back, merge and remove files.
func TestKillFilesAtEachStep(t *testing.T) {
	if testing.Short() || racetest.Enabled {
		t.Skip("builds the program without the race detector, and runs it many times")
	}
	binary := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name, kill := range map[string]func(t *testing.T, binary string){
		"restore": killRestore, "capture": killCapture, "first capture": killFirstCapture,
		"drop": killDrop, "worktree": killWorktree, "merge": killMerge,
	} {
		t.Run(name, func(t *testing.T) { kill(t, binary) })
	}
}

// newFileKiller returns a project with files and a session. The agent changes, creates and deletes files in each turn.
func newFileKiller(t *testing.T, binary string) *fileKiller {
	t.Helper()
	k := &fileKiller{killer: &killer{t: t, random: rand.New(rand.NewPCG(1, 2)), binary: binary, dir: t.TempDir()}}
	k.project = filepath.Join(k.dir, "project")
	k.write("change.sh", `cat >/dev/null
for f in a b d/c; do echo "changed $$" >>$f; done
chmod 755 run
if [ -e gone ]; then rm gone; else echo back >gone; fi
mkdir -p new/deep; echo "new $$" >new/deep/f; ln -sfn "to-$$" link
if [ -d kind ]; then rm -r kind; echo file >kind; else rm kind; mkdir kind; echo dir >kind/f; fi
echo done
`)
	k.write("team.json", fmt.Sprintf(`{"schemaVersion": "1.2",
  "agents": [{"name": "changes", "command": "sh", "args": [%q]}],
  "team": {"name": "kill", "description": "Changes files", "members": [
    {"name": "hugo", "displayName": "Hugo", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
    {"name": "ada", "displayName": "Ada", "role": "author", "type": "ai", "agentType": "changes",
      "engine": "command", "baseDir": "project", "systemInstruction": ""}]}}`, filepath.Join(k.dir, "change.sh")))
	for _, dir := range []string{"d", "kind"} {
		if err := os.MkdirAll(filepath.Join(k.project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "d/c", "run", "gone", "kind/f"} {
		k.write("project/"+name, "original "+name+"\n")
	}
	return k
}

// chat returns the arguments of a turn.
func (k *fileKiller) chat() []string {
	args := []string{"chat", "-t", "team.json", "-m", "go"}
	if k.session != "" {
		args = append(args, "--resume", k.session)
	}
	return args
}

// turn runs a turn to its end.
func (k *fileKiller) turn() {
	k.t.Helper()
	k.run(k.chat()...)
	if k.session == "" {
		k.session = slices.Collect(maps.Keys(k.list()))[0]
	}
}

// files returns the files and links of the project: their modes and contents.
func (k *fileKiller) files() map[string]string {
	k.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(k.project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(k.project, path)
		if entry.Type() == fs.ModeSymlink {
			all[name], err = os.Readlink(path)
			return err
		}
		content, err := os.ReadFile(path)
		all[name] = fmt.Sprint(info.Mode(), " ", string(content))
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return all
}

// steps calls a function with the numbers of the steps at which a command is killed, until it returns false: each one
// with -full, otherwise one in stride.
func (k *fileKiller) steps(stride int, kill func(n int) bool) {
	k.t.Helper()
	first := 1 + k.random.IntN(stride)
	if sizetest.Full() {
		first, stride = 1, 1
	}
	rounds := 0
	for n := first; kill(n); n += stride {
		if rounds++; k.t.Failed() {
			k.t.Fatalf("after a kill at step %d", n)
		}
	}
	k.t.Logf("killed at %d steps", rounds)
	if rounds == 0 {
		k.t.Error("it was never killed")
	}
}

// events returns the events of the session with their payloads.
func (k *fileKiller) events() (all []projection.Event) {
	k.t.Helper()
	r, err := journal.OpenReader(k.journalPath(k.session), journal.Options{})
	if err != nil {
		k.t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			k.t.Fatal(err)
		}
		all = append(all, projection.DecodeEvent(e))
	}
	return all
}

// killRestore kills files restore. Each path is then as it was or set back, the next command finds no lock,
// and the same restore, or --undo, completes it.
func killRestore(t *testing.T, binary string) {
	k := newFileKiller(t, binary)
	target := k.files()
	k.turn()
	present := k.files()
	restore := []string{"files", "restore", k.session, "--at", "2", "--yes"}
	undo := []string{"files", "restore", k.session, "--undo", "--yes"}
	restores := func() (n int) {
		for _, e := range k.events() {
			if e.Type == "files.restoring" {
				n++
			}
		}
		return n
	}
	want := func(state string, want map[string]string) {
		t.Helper()
		if got := k.files(); !maps.Equal(got, want) {
			t.Errorf("%s: the files are %q, want %q", state, got, want)
		}
	}
	k.steps(9, func(n int) bool {
		before := restores()
		killed := (&chore{killer: k.killer, args: restore}).mustKillAtStep(n)
		for name, got := range k.files() {
			isTemp := strings.HasPrefix(filepath.Base(name), ".agent-chatter-")
			if !isTemp && got != target[name] && got != present[name] {
				t.Errorf("after the kill, %s is %q", name, got)
			}
		}
		for name, content := range present {
			if _, ok := k.files()[name]; !ok && target[name] == content {
				t.Errorf("after the kill, %s is missing", name)
			}
		}
		if n%2 == 0 || restores() == before {
			k.run(restore...)
			want("after the same restore", target)
		}
		k.run(undo...)
		want("after the undo", present)
		return killed
	})
	k.run("verify")
}

// killCapture kills a chat that captures files around a turn. The next turn finds no lock, and every tree
// that the session names is complete.
func killCapture(t *testing.T, binary string) {
	k := newFileKiller(t, binary)
	k.turn()
	k.steps(16, func(n int) bool {
		killed := (&chore{killer: k.killer, args: k.chat()}).mustKillAtStep(n)
		k.turn()
		last := k.checkTrees()
		if last.Type != "files.changed" {
			t.Errorf("after the next turn, the last event of files is %s", last.Type)
		}
		return killed
	})
	k.run("verify")
}

// killFirstCapture kills a chat that makes the home, the session and the store.
func killFirstCapture(t *testing.T, binary string) {
	k := newFileKiller(t, binary)
	k.steps(32, func(n int) bool {
		if err := os.RemoveAll(k.home()); err != nil {
			t.Fatal(err)
		}
		killed := (&chore{killer: k.killer, args: k.chat()}).mustKillAtStep(n)
		k.run(k.chat()...)
		changes := 0
		for id := range k.list() {
			if k.session = id; k.checkTrees().Type == "files.changed" {
				changes++
			}
		}
		k.session = ""
		if changes == 0 {
			t.Error("the next turn recorded no changes")
		}
		return killed
	})
	k.run("verify")
}

// checkTrees reads every content that the session names, and returns the last event of files.
func (k *fileKiller) checkTrees() (last projection.Event) {
	k.t.Helper()
	store := workspace.Stored(k.home(), k.project).Store()
	read := map[string]bool{}
	for _, e := range k.events() {
		var roots []string
		switch p := e.Payload.(type) {
		case projection.FilesCaptured:
			roots = []string{p.Root}
		case projection.FilesChanged:
			roots = []string{p.Before, p.After}
		default:
			continue
		}
		last = e
		for _, root := range roots {
			if read[root] {
				continue
			}
			read[root] = true
			if err := readTree(store, root); err != nil {
				k.t.Errorf("event %d: %v", e.Seq, err)
			}
		}
	}
	return last
}

func readTree(store *stored.Store, root string) error {
	tree, err := stored.ParseHash(root)
	if err != nil {
		return err
	}
	files, err := store.Files(tree)
	for _, e := range files {
		if err == nil {
			_, err = store.Read(e.Hash)
		}
	}
	return err
}
