package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// editCalls are calls that write the file NAME with the tool of a program for edits.
var editCalls = map[string]string{
	"claude":   `call <<Write {"file_path": "DIR/NAME", "content": "by an edit\n"}>>`,
	"codex":    `call <<apply_patch {"patch": "*** Begin Patch\n*** Add File: DIR/NAME\n+by an edit\n*** End Patch\n"}>>`,
	"gemini":   `call <<write_file {"file_path": "DIR/NAME", "content": "by an edit\n"}>>`,
	"opencode": `call <<write {"filePath": "DIR/NAME", "content": "by an edit\n"}>>`,
}

// What each turn of a real agent changes is attributed to it, by a tool for edits or by a shell, and files are set back to
// what they were after each turn. What a person changes stays.
func TestRealAgentsChangeFiles(t *testing.T) {
	withEachRealAgent(t, func(t *testing.T, r *realTeam, a *actor) {
		write := func(name, content string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("old", "old\n")
		write("run.sh", "echo run\n")
		program, _, _ := strings.Cut(a.Name, " ")
		edit := func(name string) string {
			return strings.NewReplacer("DIR", r.dir, "NAME", name).Replace(editCalls[program])
		}
		states := []map[string]string{treeOf(t, r.dir)}
		var want [][]string
		turn := func(instruction string, changes ...string) {
			t.Helper()
			a.model.Instruct(instruction)
			do(t, r.home, exitDone, r.chatArgs("-m", "go on")...)
			states, want = append(states, treeOf(t, r.dir)), append(want, changes)
		}
		first := []string{"added first"}
		if program == "opencode" { // it completes its settings
			first = append(first, "modified opencode.json")
		}
		turn(edit("first"), first...)
		write("mine", "by a person\n")
		turn(`tool <<printf 'a\0b' >binary; rm old; chmod 700 run.sh; mkdir sub; ln -s ../first sub/link>>`,
			"added binary", "added sub/link", "deleted old", "mode run.sh")
		turn(edit("sub/second"), "added sub/second")
		write("old", "by a person again\n")
		turn(`tool <<echo more | tee -a first>>`, "modified first")

		stdout, _ := do(t, r.home, exitDone, "files", "latest", "--member", a.name, "--json")
		var got [][]string
		for line := range strings.Lines(stdout) {
			var step struct {
				Turn    int
				Changes []struct{ Path, Kind string }
			}
			if err := json.Unmarshal([]byte(line), &step); err != nil {
				t.Fatal(err)
			}
			var changes []string
			for _, c := range step.Changes {
				changes = append(changes, c.Kind+" "+c.Path)
			}
			slices.Sort(changes)
			got = append(got, changes)
			if step.Turn != len(got) {
				t.Errorf("step %d is of turn %d", len(got), step.Turn)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the changes (-want +got):\n%s", diff)
		}

		last := states[len(states)-1]
		check := func(what string, turn int) {
			t.Helper()
			want := maps.Clone(states[turn])
			for _, name := range []string{"mine", "old"} { // the person's
				want[name] = last[name]
			}
			if diff := cmp.Diff(want, treeOf(t, r.dir)); diff != "" {
				t.Errorf("after %s turn %d (-want +got):\n%s", what, turn, diff)
			}
		}
		for turn := 3; turn >= 1; turn-- {
			code := exitDone
			if turn == 1 { // the old file is the person's since the second turn
				code = exitFailed
			}
			do(t, r.home, code, "files", "restore", "latest", "--at", fmt.Sprintf("turn:%d", turn), "--yes")
			check("going back to", turn)
		}
		do(t, r.home, exitDone, "files", "restore", "latest", "--undo", "--yes")
		check("undoing what went back beyond", 2)
		do(t, r.home, exitDone, "verify")
	})
}

// treeOf returns the modes and contents of the files below a directory, and the texts of links.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.Type() == fs.ModeSymlink {
			files[name], err = os.Readlink(path)
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files[name] = info.Mode().String() + " " + readFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
