package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// A merging is a directory with a worktree.
type merging struct {
	*project
	worktree *project
	base     workspace.Capture
}

func newMerging(t *testing.T, files map[string]string) *merging {
	t.Helper()
	p := newProject(t, true)
	for name, content := range files {
		p.write(name, content)
	}
	p.git("add", ".")
	p.git("commit", "-qm", "first", "--allow-empty")
	tree, _ := p.layOut()
	m := &merging{project: p, worktree: p.in(tree)}
	m.base = m.worktree.capture()
	return m
}

// plan plans the merge of the paths.
func (m *merging) plan(conflicts bool, paths ...string) *workspace.Merged {
	m.t.Helper()
	merge := workspace.Merge{
		Into: m.Workspace, From: m.worktree.Workspace, Base: m.base.Tree, Theirs: m.worktree.capture().Tree,
		Ours: m.capture().Tree, Paths: paths, Conflicts: conflicts, Name: "ada",
	}
	merged, err := merge.Plan(m.t.Context(), m.id())
	if err != nil {
		m.t.Fatal(err)
	}
	return merged
}

// id returns the id of a new pack.
func (m *merging) id() string {
	m.captures++
	return fmt.Sprintf("%026d", m.captures)
}

// wantPlan compares a plan in words.
func (m *merging) wantPlan(merged *workspace.Merged, want ...string) {
	m.t.Helper()
	var got []string
	for _, step := range merged.Plan.Removals {
		got = append(got, "remove "+step.Path)
	}
	for _, step := range merged.Plan.Writes {
		content, err := m.Store().Read(step.Target.Hash)
		if err != nil {
			m.t.Error(err)
		}
		got = append(got, fmt.Sprintf("write %s: %q", step.Path, content))
	}
	for _, kept := range merged.Plan.Kept {
		got = append(got, "keep "+kept.Path+": "+kept.Why)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.t.Errorf("the plan differs:\n%s", diff)
	}
}

const sevenLines = "1\n2\n3\n4\n5\n6\n7\n"

func TestMerge(t *testing.T) {
	m := newMerging(t, map[string]string{
		"both": sevenLines, "conflict": "1\n", "deleted": "1\n", "edited": "1\n", "binary": "\x001", "theirs": "1\n",
		"gone/a": "1\n",
	})
	m.worktree.write("both", strings.Replace(sevenLines, "7", "seven", 1))
	m.write("both", strings.Replace(sevenLines, "1", "one", 1))
	m.worktree.write("conflict", "2\n")
	m.write("conflict", "3\n")
	m.worktree.write("deleted", "2\n")
	m.remove("deleted")
	m.worktree.remove("edited")
	m.write("edited", "2\n")
	m.worktree.write("binary", "\x002")
	m.write("binary", "\x003")
	m.worktree.write("theirs", "2\n")
	m.worktree.write("new/file", "new\n")
	m.worktree.remove("gone")
	m.write("ours", "new\n")
	applied := []string{
		"remove gone/a", `write both: "one\n2\n3\n4\n5\n6\nseven\n"`, `write new/file: "new\n"`, `write theirs: "2\n"`,
		"keep binary: you and the worktree changed it: it is no text",
	}
	kept := []string{
		"keep deleted: you deleted it, and the worktree changed it",
		"keep edited: you changed it, and the worktree deleted it",
	}
	m.wantPlan(m.plan(false), append(append(applied, "keep conflict: you and the worktree changed the same lines"),
		kept...)...)
	m.wantPlan(m.plan(true, "conflict", "edited"),
		`write conflict: "<<<<<<< yours\n3\n=======\n2\n>>>>>>> ada\n"`, kept[1])
	m.wantPlan(m.plan(false, "new"), `write new/file: "new\n"`)
	if dirs := m.plan(false).Plan.Dirs; len(dirs) != 1 || dirs[0] != "gone" {
		t.Errorf("directories %q", dirs)
	}
}

func TestMergeWithoutGit(t *testing.T) {
	m := newMerging(t, map[string]string{"a": sevenLines, "b": "1"})
	m.worktree.write("a", sevenLines+"8\n")
	m.worktree.write("b", "2")
	m.write("a", "0\n"+sevenLines)
	t.Setenv("PATH", "")
	m.wantPlan(m.plan(false), `write b: "2"`, "keep a: you and the worktree changed it: git is not installed")
}

// What no capture has on one side is kept.
func TestMergeOfSkippedFiles(t *testing.T) {
	m := newMerging(t, map[string]string{"a": "1", "b": "1"})
	m.Limits.FileBytes, m.worktree.Limits.FileBytes = 10, 10
	m.worktree.write("a", strings.Repeat("a", 11))
	m.worktree.write("b", "2")
	m.write("b", strings.Repeat("b", 11))
	m.wantPlan(m.plan(false), "keep a: the worktree has it in no capture: 11 bytes, over 10",
		"keep b: not captured now, so it could not be undone: 11 bytes, over 10")
}

// A file that Git does not list in the worktree any more was not deleted.
func TestMergeOfFilesThatGitIgnores(t *testing.T) {
	m := newMerging(t, map[string]string{"a": "1\n", "k.log": "1\n"})
	for _, files := range []*project{m.project, m.worktree} {
		files.write("notes", "mine\n")
	}
	m.base = m.worktree.capture()
	m.worktree.write(".gitignore", "notes\n")
	const why = ": the worktree still has it, but Git does not list it there any more"
	m.wantPlan(m.plan(false), `write .gitignore: "notes\n"`, "keep notes"+why)
	m.worktree.write(".gitignore", "*.log\n")
	m.worktree.remove(".git") // so that Git knows no tracked files
	m.wantPlan(m.plan(false), `write .gitignore: "*.log\n"`, "keep k.log"+why)
}

// A directory in the place of a file, and a file below a link, are not that file.
func TestMergeOfFilesThatBecomeDirectories(t *testing.T) {
	m := newMerging(t, map[string]string{"a": "1\n", "dir/b": "1\n", "other/b": "1\n"})
	m.worktree.remove("a")
	m.worktree.write("a/in", "2\n")
	m.worktree.remove("dir")
	err := os.Symlink("other", filepath.Join(m.worktree.dir, "dir"))
	if err != nil && runtime.GOOS == "windows" {
		t.Skip("Windows lets few users make links:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.wantPlan(m.plan(false), "remove dir/b", "remove a", `write a/in: "2\n"`, `write dir: "other"`)
}

// The second merge begins with what the first has merged.
func TestMergeTwice(t *testing.T) {
	m := newMerging(t, map[string]string{"a": "1\n", "b": "1\n"})
	m.worktree.write("a", "2\n")
	m.worktree.write("b", "2\n")
	m.write("b", "3\n")
	merged := m.plan(false)
	result, err := workspace.Restore(t.Context(), merged.Plan, workspace.RestoreOptions{
		ID: "01K9ZZZZZZZZZZZZZZZZZZZZZZ", Root: m.Root(), Read: m.Store().Read,
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.base.Tree, err = merged.BaseAfter(t.Context(), m.id(), result); err != nil {
		t.Fatal(err)
	}
	m.write("a", "4\n")
	m.wantPlan(m.plan(false), "keep b: you and the worktree changed the same lines")
	m.write("b", "2\n")
	m.wantPlan(m.plan(false))
}
