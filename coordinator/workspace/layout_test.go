package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// worktree returns the worktree of a member, which need not exist.
func (p *project) worktree(member string) workspace.Worktree {
	p.t.Helper()
	home, err := filepath.EvalSymlinks(p.home)
	if err != nil {
		p.t.Fatal(err)
	}
	return workspace.Worktree{Dir: filepath.Join(home, "worktrees", "session", member), From: p.Workspace}
}

// layOut captures the directory and lays it out for ada.
func (p *project) layOut(copied ...string) (workspace.Worktree, workspace.LaidOut) {
	p.t.Helper()
	tree := p.worktree("ada")
	laidOut, err := tree.LayOut(p.t.Context(), workspace.LayOut{Tree: p.capture().Tree, Copy: copied})
	if err != nil {
		p.t.Fatal(err)
	}
	return tree, laidOut
}

// in returns the project that a worktree is.
func (p *project) in(tree workspace.Worktree) *project {
	p.t.Helper()
	w, err := tree.Workspace()
	if err != nil {
		p.t.Fatal(err)
	}
	return &project{t: p.t, home: p.home, dir: tree.Dir, Workspace: w, captures: 1000}
}

// output returns what Git prints.
func (p *project) output(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(programtest.Path(p.t, "git"), args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// newChanged returns a repository with changes that are not committed.
func newChanged(t *testing.T) *project {
	p := newProject(t, true)
	p.write("changed", "old")
	p.write("deleted", "deleted")
	p.write("dir/same", "same")
	p.write("run", "run")
	p.write(".gitignore", "/.env*\n/build\n")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	p.write("changed", "new")
	p.remove("deleted")
	p.write("dir/new", "new")
	p.write(".env", "SECRET=1")
	p.write("build/out", "out")
	return p
}

func TestLayOut(t *testing.T) {
	p := newChanged(t)
	if err := os.Chmod(filepath.Join(p.dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(p.dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := p.capture()
	tree, laidOut := p.layOut()
	w := p.in(tree)
	if head := strings.TrimSpace(p.output("rev-parse", "HEAD")); laidOut.Head != head || laidOut.Files != 5 {
		t.Errorf("laid out %+v, HEAD is %s", laidOut, head)
	}
	want := map[string]string{
		".gitignore": "/.env*\n/build\n", "changed": "new", "dir/same": "same", "dir/new": "new", "run": "run",
	}
	packs := packsOf(t, p.home)
	if after := w.wantFiles(want); after.Tree != before.Tree {
		t.Errorf("the capture of the worktree has the tree %v, want %v", after.Tree, before.Tree)
	}
	if now := packsOf(t, p.home); !slices.Equal(now, packs) {
		t.Errorf("the capture of the worktree stored something: %q, before it %q", now, packs)
	}
	wantStatus := p.output("status", "--porcelain")
	if status := w.output("status", "--porcelain"); status != wantStatus {
		t.Errorf("git status has %q, in the directory %q", status, wantStatus)
	}
	if branches := p.output("branch", "--list"); strings.Count(branches, "\n") != 1 {
		t.Errorf("branches: %q", branches)
	}
	if list := p.output("worktree", "list", "--porcelain"); !strings.Contains(list, "worktree "+tree.Dir+"\n") {
		t.Errorf("git worktree list has %q", list)
	}
	if out := p.output("worktree", "prune", "--dry-run", "--verbose", "--expire=now"); out != "" {
		t.Errorf("git worktree prune: %q", out)
	}
	entries, err := os.ReadDir(filepath.Join(p.dir, ".git/worktrees"))
	if err != nil || len(entries) != 1 || entries[0].Name() != "ada" {
		t.Errorf("entries %v, %v", entries, err)
	}
	if info, err := os.Stat(filepath.Dir(tree.Dir)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the parent: %v, %v", info, err)
	}
}

// Git reports no file as deleted that a sparse checkout lacks, and none of a submodule as changed.
func TestLayOutOfUnusualRepositories(t *testing.T) {
	p := newChanged(t)
	sub := newProject(t, true)
	sub.write("in-sub", "in-sub")
	sub.git("add", ".")
	sub.git("commit", "-qm", "first")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
	p.write("outside/a", "a")
	p.git("add", "outside", "sub")
	p.git("commit", "-qm", "second")
	p.git("sparse-checkout", "set", "dir")
	before := p.capture()
	tree, _ := p.layOut()
	w := p.in(tree)
	if after := w.capture(); after.Tree != before.Tree {
		t.Errorf("want, got:\n%s", cmp.Diff(p.files(before.Tree), w.files(after.Tree)))
	}
	if status, want := w.output("status", "--porcelain"), p.output("status", "--porcelain"); status != want {
		t.Errorf("git status has %q, in the directory %q", status, want)
	}
}

// What a crash has left of a worktree counts as one, and is removed like it.
func TestWorktrees(t *testing.T) {
	p := newProject(t, false)
	p.layOut()
	for _, member := range []string{"bea", "cy", "di"} {
		if err := p.worktree(member).SetUnused(); err != nil {
			t.Fatal(err)
		}
	}
	session := filepath.Dir(p.worktree("ada").Dir)
	for _, name := range []string{".removed/di", ".part/cy"} {
		if err := os.MkdirAll(filepath.Join(session, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	found, err := workspace.Worktrees(p.home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Session+" "+filepath.Base(f.Dir))
		if err := f.Worktree(p.home).Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"session ada", "session bea", "session cy", "session di"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Lstat(session); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the session: %v", err)
	}
}

// packsOf returns the packs of all stores of a home.
func packsOf(t testing.TB, home string) []string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(home, "files/*/*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return packs
}

func TestLayOutTwice(t *testing.T) {
	p := newChanged(t)
	tree, _ := p.layOut()
	_, err := tree.LayOut(t.Context(), workspace.LayOut{Tree: p.capture().Tree})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("laid out twice: %v", err)
	}
}

// Without a commit, without Git and without a repository that it works with, the files are laid out alone.
func TestLayOutOfFilesAlone(t *testing.T) {
	for name, prepare := range map[string]func(*project){
		"no repository": func(*project) {},
		"no commit":     func(p *project) { p.git("init", "-q") },
		"unknown extension": func(p *project) {
			p.git("init", "-q")
			p.git("add", ".")
			p.git("commit", "-qm", "first")
			p.git("config", "core.repositoryFormatVersion", "1")
			p.git("config", "extensions.unknown", "true")
		},
		"no git": func(p *project) { p.t.(*testing.T).Setenv("PATH", "") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, false)
			p.write("a", "a")
			p.write("dir/b", "b")
			prepare(p)
			tree, laidOut := p.layOut()
			if laidOut.Head != "" {
				t.Errorf("laid out %+v", laidOut)
			}
			p.in(tree).wantFiles(map[string]string{"a": "a", "dir/b": "b"})
			if _, err := os.Lstat(filepath.Join(tree.Dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it has a .git: %v", err)
			}
		})
	}
}

func TestLayOutIsCancelled(t *testing.T) {
	p := newChanged(t)
	captured, tree := p.capture(), p.worktree("ada")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := tree.LayOut(ctx, workspace.LayOut{Tree: captured.Tree, Progress: func(int) { stop() }})
	if err == nil {
		t.Fatal("no error")
	}
	if left := contents(t, filepath.Join(p.home, "worktrees")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if entries, _ := os.ReadDir(filepath.Join(p.dir, ".git/worktrees")); len(entries) > 0 {
		t.Errorf("entries %v", entries)
	}
	p.layOut()
}

func TestLayOutCopiesIgnoredFiles(t *testing.T) {
	p := newChanged(t)
	p.write(".env.local", "LOCAL=1")
	p.write("build/deep/out", "deep")
	p.write("nested/.git/config", "none")
	_, laidOut := p.layOut(".env*", "build/**", "**/config", "missing")
	want := []string{".env", ".env.local", "build/deep/out", "build/out"}
	if diff := cmp.Diff(want, laidOut.Copied); diff != "" {
		t.Error(diff)
	}
	if got, err := os.ReadFile(filepath.Join(p.worktree("ada").Dir, ".env")); string(got) != "SECRET=1" {
		t.Errorf(".env has %q, %v", got, err)
	}
}

func TestCheckPattern(t *testing.T) {
	for _, bad := range []string{"", "/etc/passwd", "../x", "a/../../x", "a/", "./a", ".git/config", "a/.GIT/x", "["} {
		if workspace.CheckPattern(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// A worktree of a part of a directory would lack files.
func TestLayOutOfAPart(t *testing.T) {
	p := newLarge(t)
	tree := p.worktree("ada")
	_, err := tree.LayOut(t.Context(), workspace.LayOut{Tree: p.capture().Tree})
	var part *workspace.PartError
	if !errors.As(err, &part) {
		t.Errorf("the error is %v", err)
	}
}
