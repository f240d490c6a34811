package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newWorktree returns the worktree of ada in a home of its own, and the tree of a repository with changes.
func newWorktree(t *testing.T) (Worktree, objects.Hash) {
	t.Helper()
	home, root := realTemp(t), filepath.Join(realTemp(t), "project")
	must(t, os.Mkdir(root, 0o755))
	committed(t, root, "a", "b", "dir/c")
	put(t, root, map[string]string{"a": "changed", "new": "new", "link": "-> a"})
	w, err := Open(home, root)
	must(t, err)
	w.Limits.Free = 0
	captured, err := w.Capture(t.Context(), restoreID, nil)
	must(t, err)
	return Worktree{Dir: filepath.Join(home, "worktrees", "session", "ada"), From: w}, captured.Tree
}

// until calls a function with a hook that ends it before the operation n, as a crash would. It reports whether it did.
func until(n int, f func(before func(string))) (crashed bool) {
	defer func() {
		if p := recover(); p == errCrash {
			crashed = true
		} else if p != nil {
			panic(p)
		}
	}()
	f(func(string) {
		if n--; n < 0 {
			panic(errCrash)
		}
	})
	return false
}

// checkEntries checks that Git has the entry of exactly these linked work trees, and would prune none.
func (t Worktree) checkEntries(tb testing.TB, want ...string) {
	tb.Helper()
	entries, _ := os.ReadDir(filepath.Join(t.From.root, ".git", "worktrees"))
	if len(entries) != len(want) {
		tb.Errorf("entries %v, want those of %q", entries, want)
	}
	cmd := exec.Command(programtest.Path(tb, "git"), "worktree", "list", "--porcelain")
	cmd.Dir = t.From.root
	out, err := cmd.Output()
	must(tb, err)
	for _, dir := range want {
		if !strings.Contains(string(out), "worktree "+dir+"\n") || strings.Contains(string(out), "prunable") {
			tb.Errorf("git worktree list: %s", out)
		}
	}
}

// Each crash leaves no worktree or a complete one, and what the next call removes.
func TestLayOutAfterACrash(t *testing.T) {
	for n, crashed := 0, true; crashed; n++ {
		w, tree := newWorktree(t)
		crashed = until(n, func(before func(string)) {
			_, err := w.LayOut(t.Context(), LayOut{Tree: tree, before: before})
			must(t, err)
		})
		if !crashed {
			break
		}
		if _, err := os.Lstat(w.Dir); err == nil {
			t.Fatalf("a crash before operation %d leaves the directory", n)
		}
		_, err := w.LayOut(t.Context(), LayOut{Tree: tree})
		must(t, err)
		w.checkEntries(t, w.Dir)
		got := contents{}.capture(t, w.Dir)
		delete(got, ".git")
		want := contents{}.capture(t, w.From.root)
		for name := range want {
			if strings.HasPrefix(name, ".git/") {
				delete(want, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if left, err := os.ReadDir(filepath.Join(filepath.Dir(w.Dir), layingOutDir)); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}
