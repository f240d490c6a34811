package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newWorktreeKiller returns a project in a repository, whose agent changes files in a worktree. The directory outside is
// beside the project, and the worktree has a link to it.
func newWorktreeKiller(t *testing.T, binary string) *fileKiller {
	t.Helper()
	k := newFileKiller(t, binary)
	outside := filepath.Join(k.dir, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	k.write("outside/kept", "kept\n")
	k.write("change.sh", fmt.Sprintf(`cat >/dev/null
ln -sfn %s out
for f in a b d/c; do echo changed >$f; done
rm -f gone; mkdir -p new/deep; echo new >new/deep/f; echo link >link; echo ignored >x.o
echo done
`, outside))
	k.write("project/.gitignore", "*.o\nout\n")
	team := readFile(t, filepath.Join(k.dir, "team.json"))
	team = strings.Replace(team, `"schemaVersion": "1.2"`, `"schemaVersion": "1.3"`, 1)
	k.write("team.json", strings.Replace(team, `"engine": "command"`, `"engine": "command", "worktree": {}`, 1))
	git := programtest.Path(t, "git")
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x"},
	} {
		cmd := exec.Command(git, args...)
		cmd.Dir = k.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return k
}

// kept returns the files of the project with its repository, but for the entry of the worktree, and those outside.
func (k *fileKiller) kept() map[string]string {
	k.t.Helper()
	all := k.files()
	entries := filepath.Join(".git", "worktrees")
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, entries) })
	all["outside"] = readFile(k.t, filepath.Join(k.dir, "outside", "kept"))
	return all
}

// worktrees returns the directories of worktrees, those that are being made or removed included.
func (k *fileKiller) worktrees() (names []string) {
	k.t.Helper()
	root := filepath.Join(k.home(), "worktrees")
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "ada" {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
			return fs.SkipDir
		}
		return nil
	})
	return names
}

// killDrop kills files drop. Nothing outside the worktree changes, and the next turn has a whole worktree.
func killDrop(t *testing.T, binary string) {
	k := newWorktreeKiller(t, binary)
	k.turn()
	before := k.kept()
	check := func(state string) {
		t.Helper()
		if now := k.kept(); !maps.Equal(now, before) {
			t.Errorf("%s: outside of the worktree there is %q, want %q", state, now, before)
		}
	}
	k.steps(24, func(n int) bool {
		drop := &chore{killer: k.killer, args: []string{"files", "drop", k.session, "ada", "--yes"}}
		killed := drop.mustKillAtStep(n)
		check("after the kill")
		k.turn()
		check("after the next turn")
		if names := k.worktrees(); len(names) != 1 {
			t.Errorf("the worktrees are %q", names)
		}
		if _, err := os.Stat(filepath.Join(k.home(), "worktrees", k.session, "ada", "run")); err != nil {
			t.Error(err)
		}
		return killed
	})
	k.run("verify")
}

// killWorktree kills a chat that makes a worktree. Nothing outside of it changes, and the next turn makes
// it.
func killWorktree(t *testing.T, binary string) {
	k := newWorktreeKiller(t, binary)
	k.turn()
	before := k.kept()
	k.steps(48, func(n int) bool {
		k.run("files", "drop", k.session, "ada", "--yes")
		killed := (&chore{killer: k.killer, args: k.chat()}).mustKillAtStep(n)
		k.turn()
		if now := k.kept(); !maps.Equal(now, before) {
			t.Errorf("outside of the worktree there is %q, want %q", now, before)
		}
		if names := k.worktrees(); len(names) != 1 {
			t.Errorf("the worktrees are %q", names)
		}
		return killed
	})
	k.run("verify")
}

// killMerge kills files merge. Each path is then as it was or merged; the same merge completes it, and
// --undo sets back what was there.
func killMerge(t *testing.T, binary string) {
	k := newWorktreeKiller(t, binary)
	k.turn()
	k.write("project/run", "the person's\n")
	present := k.kept()
	merge := []string{"files", "merge", k.session, "ada", "--yes"}
	undo := []string{"files", "restore", k.session, "--undo", "--yes"}
	k.run(merge...)
	target := k.kept()
	k.run(undo...)
	want := func(state string, want map[string]string) {
		t.Helper()
		if got := k.kept(); !maps.Equal(got, want) {
			t.Errorf("%s: the files are %q, want %q", state, got, want)
		}
	}
	want("after an undo", present)
	k.steps(24, func(n int) bool {
		killed := (&chore{killer: k.killer, args: merge}).mustKillAtStep(n)
		for name, got := range k.kept() {
			isTemp := strings.HasPrefix(filepath.Base(name), ".agent-chatter-")
			if !isTemp && got != target[name] && got != present[name] {
				t.Errorf("after the kill, %s is %q", name, got)
			}
		}
		k.run(merge...)
		want("after the same merge", target)
		k.run(undo...)
		want("after the undo", present)
		return killed
	})
	k.run("verify")
}
