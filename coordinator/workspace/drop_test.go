package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// losses returns what the removal of a worktree would lose, since it was laid out.
func (p *project) losses(tree workspace.Worktree, base workspace.Capture) workspace.Losses {
	p.t.Helper()
	losses, err := tree.Losses(p.t.Context(), base.Tree, p.in(tree).capture())
	if err != nil {
		p.t.Fatal(err)
	}
	return losses
}

func TestLosses(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	if got := p.losses(tree, base); !got.IsNone() || got.Head == "" {
		t.Errorf("nothing has changed: %+v", got)
	}
	w.write("changed", "by ada")
	w.write("added", "by ada")
	w.remove("run")
	w.write("build/a", "a")
	w.write("build/b", "b")
	w.write(".env", "SECRET=2")
	w.write(".env.same", "SECRET=1")
	p.write(".env.same", "SECRET=1")
	got := p.losses(tree, base)
	var unmerged []string
	for _, c := range got.Unmerged {
		unmerged = append(unmerged, c.Path)
	}
	if diff := cmp.Diff([]string{"added", "changed", "run"}, unmerged); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".env", "build/"}, got.Ignored); diff != "" {
		t.Error(diff)
	}
	if got.NeedForce() {
		t.Errorf("no commits: %+v", got)
	}
}

func TestLossesOfCommits(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	commit := func(text string) {
		w.write("changed", text)
		w.git("commit", "-qam", text)
	}
	commit("one")
	commit("two")
	got := p.losses(tree, base)
	if got.Commits != 2 || !got.NeedForce() || got.Head != strings.TrimSpace(w.output("rev-parse", "HEAD")) {
		t.Errorf("two commits: %+v", got)
	}
	other := p.worktree("bea")
	if _, err := other.LayOut(t.Context(), workspace.LayOut{Tree: p.capture().Tree}); err != nil {
		t.Fatal(err)
	}
	p.in(other).git("checkout", "-qf", got.Head+"^")
	if got := p.losses(tree, base); got.Commits != 1 {
		t.Errorf("another work tree has one of two commits: %+v", got)
	}
	for _, bad := range []string{"master", "-x", "a..b"} {
		if err := tree.Keep(t.Context(), bad, got.Head); err == nil {
			t.Errorf("the branch %q is made", bad)
		}
	}
	if err := tree.Keep(t.Context(), "of-ada", got.Head); err != nil {
		t.Fatal(err)
	}
	if got := p.losses(tree, base); got.Commits != 0 || got.NeedForce() {
		t.Errorf("a branch has the commits: %+v", got)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept := strings.TrimSpace(p.output("rev-parse", "of-ada")); kept != got.Head {
		t.Errorf("the branch has %s, want %s", kept, got.Head)
	}
}

func TestLossesOfRepositories(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	w.git("init", "-q", "sub")
	w.write("sub/a", "a")
	got := p.losses(tree, base)
	if !slices.Equal(got.Repositories, []string{"sub"}) || !got.NeedForce() || len(got.Unmerged) != 1 {
		t.Errorf("a nested repository: %+v", got)
	}
}

// A worktree whose file names something else than the entry of the repository has the commits of that entry all the
// same, and those of a repository that the member has made.
func TestLossesOfAChangedRepository(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	w.write("changed", "one")
	w.git("commit", "-qam", "one")
	head := strings.TrimSpace(w.output("rev-parse", "HEAD"))
	w.write(".git", "gitdir: "+p.Root()+"\n")
	if got := p.losses(tree, base); got.Commits != 1 || got.Head != head || !got.NeedForce() {
		t.Errorf("another entry: %+v", got)
	}
	w.remove(".git")
	w.git("init", "-q")
	got := p.losses(tree, base)
	if got.Commits != 1 || !slices.Equal(got.Repositories, []string{"."}) || !got.NeedForce() {
		t.Errorf("another repository: %+v", got)
	}
}

// What cannot be found out counts as a loss.
func TestLossesThatAreUnknown(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	now := w.capture()
	if err := os.Rename(filepath.Join(p.dir, ".git"), filepath.Join(p.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	got, err := tree.Losses(t.Context(), base.Tree, now)
	if err != nil || len(got.Unknown) != 1 || !got.NeedForce() {
		t.Errorf("without its repository: %+v, %v", got, err)
	}
}

// The commits of a worktree that is missing are losses, too.
func TestLossesOfAMissingWorktree(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	w.write("changed", "one")
	w.git("commit", "-qam", "one")
	if err := os.RemoveAll(tree.Dir); err != nil {
		t.Fatal(err)
	}
	if got, err := tree.CommitLosses(t.Context()); err != nil || got.Commits != 1 || !got.NeedForce() {
		t.Errorf("missing: %+v, %v", got, err)
	}
}

func TestLossesAreBounded(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	for i := range 1001 {
		w.write(fmt.Sprintf(".env%d", i), "x")
	}
	if got := p.losses(tree, base); len(got.Ignored) != 1000 || !got.IgnoredMore {
		t.Errorf("%d ignored files, more: %t", len(got.Ignored), got.IgnoredMore)
	}
}

// Without a repository, only the files count.
func TestLossesWithoutARepository(t *testing.T) {
	p := newProject(t, false)
	p.write(".gitignore", "out\n")
	tree, _ := p.layOut()
	w := p.in(tree)
	base := w.capture()
	w.write("out", "ignored")
	w.write("new", "new")
	got := p.losses(tree, base)
	if !slices.Equal(got.Ignored, []string{"out"}) || len(got.Unmerged) != 1 || got.Head != "" {
		t.Errorf("%+v", got)
	}
}
