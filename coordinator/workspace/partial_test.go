package workspace_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newLarge returns a repository with committed files, of which two can be captured.
func newLarge(t *testing.T) *project {
	p := newProject(t, true)
	for _, name := range []string{"a", "b", "c", "d/e"} {
		p.write(name, name+" 1\n")
	}
	p.commit()
	p.Limits.Files = 2
	return p
}

// commit commits all files.
func (p *project) commit() {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "all")
	p.settle()
}

// settle makes the index younger than the files: those that are as old may have changed after Git compared them. Git
// compares seconds, so that a file that is changed afterwards must have another size for it.
func (p *project) settle() {
	p.t.Helper()
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(p.dir, ".git", "index"), later, later); err != nil {
		p.t.Fatal(err)
	}
}

// wantPartial captures the directory and compares the files whose contents are captured, and the paths of those that
// Git has.
func (p *project) wantPartial(contents map[string]string, inGit ...string) workspace.Capture {
	p.t.Helper()
	c := p.capture()
	if c.Exceeded == nil {
		p.t.Error("all files were captured")
	}
	got, names := map[string]string{}, []string(nil)
	entries, err := p.Store().Files(c.Tree)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name].Type() == objects.ModeInGit {
			names = append(names, name)
			continue
		}
		content, err := p.Store().Read(entries[name].Hash)
		if err != nil {
			p.t.Fatal(err)
		}
		got[name] = string(content)
	}
	if diff := cmp.Diff(contents, got); diff != "" {
		p.t.Errorf("captured:\n%s", diff)
	}
	if diff := cmp.Diff(inGit, names); diff != "" {
		p.t.Errorf("Git has:\n%s", diff)
	}
	return c
}

// limitOf returns the limit that a capture exceeds.
func (p *project) limitOf() *workspace.LimitError {
	p.t.Helper()
	_, err := p.Capture(context.Background(), "01KAHV8MPR0000000000000001", nil)
	var limit *workspace.LimitError
	if !errors.As(err, &limit) {
		p.t.Fatalf("the error is %v", err)
	}
	return limit
}

// changed returns what is known to differ between two captures.
func (p *project) changed(before, after workspace.Capture) []string {
	p.t.Helper()
	changes, err := p.Changes(before.Tree, after.Tree)
	if err != nil {
		p.t.Fatal(err)
	}
	var texts []string
	for _, c := range changes.Changes {
		texts = append(texts, string(c.Kind)+" "+string(c.Path))
	}
	return texts
}

func (p *project) wantChanged(before, after workspace.Capture, want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.changed(before, after)); diff != "" {
		p.t.Error(diff)
	}
}

// Of a directory over a limit, only the files are captured that are not as in Git's index. Once captured, a file stays
// so, also if Git has it.
func TestPartialCapture(t *testing.T) {
	p := newLarge(t)
	first := p.wantPartial(map[string]string{}, "a", "b", "c", "d/e")
	if same := p.capture(); same.Tree != first.Tree {
		t.Error("the same files have another tree")
	}
	p.write("a", "a two\n")
	p.write("new", "1\n")
	second := p.wantPartial(map[string]string{"a": "a two\n", "new": "1\n"}, "b", "c", "d/e")
	p.wantChanged(first, second, "modified a", "added new")
	p.commit()
	committed := p.wantPartial(map[string]string{"a": "a two\n", "new": "1\n"}, "b", "c", "d/e")
	p.wantChanged(second, committed)
	p.remove("b")
	p.write("a", "a three\n")
	third := p.wantPartial(map[string]string{"a": "a three\n", "new": "1\n"}, "c", "d/e")
	p.wantChanged(committed, third, "modified a", "deleted b")
}

// What a turn changes and commits is known, though not its content.
func TestPartialCaptureOfCommits(t *testing.T) {
	p := newLarge(t)
	first := p.capture()
	p.write("a", "a two\n")
	p.write("new", "1\n")
	p.commit()
	second := p.wantPartial(map[string]string{}, "a", "b", "c", "d/e", "new")
	p.wantChanged(first, second, "modified a", "added new")
	p.git("checkout", "-q", "-b", "other")
	p.write("b", "b two\n")
	p.commit()
	p.git("checkout", "-q", "master")
	p.settle()
	third := p.wantPartial(map[string]string{}, "a", "b", "c", "d/e", "new")
	p.wantChanged(second, third)
	p.git("checkout", "-q", "other")
	p.settle()
	p.wantChanged(third, p.capture(), "modified b")
}

// A file that was written again with what Git has did not change.
func TestPartialCaptureOfTheSameContent(t *testing.T) {
	p := newLarge(t)
	first := p.capture()
	p.write("a", "a 1\n")
	second := p.wantPartial(map[string]string{"a": "a 1\n"}, "b", "c", "d/e")
	p.wantChanged(first, second)
}

// Files that Git has make room for those that it lacks.
func TestPartialCaptureOverTheLimit(t *testing.T) {
	p := newLarge(t)
	p.write("a", "a two\n")
	p.write("b", "b two\n")
	first := p.wantPartial(map[string]string{"a": "a two\n", "b": "b two\n"}, "c", "d/e")
	p.commit()
	p.write("c", "c two\n")
	second := p.wantPartial(map[string]string{"c": "c two\n"}, "a", "b", "d/e")
	p.wantChanged(first, second, "modified c")
	p.write("a", "a three\n")
	p.write("b", "b three\n")
	if limit := p.limitOf(); limit.Limit != "Files" {
		t.Errorf("three changed files exceed %v", limit)
	}
}

// Files without number are not listed, also if Git has them.
func TestPartialCaptureOfTooManyNames(t *testing.T) {
	p := newLarge(t)
	p.Limits.Files = 1
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		p.write(name, name)
	}
	p.commit()
	if limit := p.limitOf(); limit.Limit != "Files" || limit.Value != 1 {
		t.Errorf("eleven files exceed %v", limit)
	}
}

// Files that are too large together are captured as those are that are too many.
func TestPartialCaptureOfTooManyBytes(t *testing.T) {
	p := newLarge(t)
	p.Limits.Files, p.Limits.Bytes = 0, 10
	first := p.wantPartial(map[string]string{}, "a", "b", "c", "d/e")
	p.write("a", "a two\n")
	second := p.wantPartial(map[string]string{"a": "a two\n"}, "b", "c", "d/e")
	p.wantChanged(first, second, "modified a")
	p.write("b", strings.Repeat("b", 11))
	if limit := p.limitOf(); limit.Limit != "Bytes" {
		t.Errorf("a large changed file exceeds %v", limit)
	}
}

// Trees with and without the files that Git has are not compared.
func TestPartialCaptureAfterAFullOne(t *testing.T) {
	p := newLarge(t)
	p.Limits.Files = 5
	p.write("a", "a two\n")
	p.write("new", "1\n")
	full := p.capture()
	p.write("more", "1\n")
	partial := p.wantPartial(map[string]string{"a": "a two\n", "more": "1\n", "new": "1\n"}, "b", "c", "d/e")
	var mixed *workspace.PartialError
	if _, err := p.Changes(full.Tree, partial.Tree); !errors.As(err, &mixed) {
		t.Errorf("they were compared: %v", err)
	}
	p.open()
	p.Limits.Files = 50
	if again := p.capture(); again.Exceeded != nil {
		t.Error("with a raised limit, the capture is partial")
	}
}

// A partial capture runs no filter, and believes neither Git's flags nor times that were put back.
func TestPartialCaptureBelievesTheDisk(t *testing.T) {
	p := newLarge(t)
	mark := filepath.Join(p.home, "mark")
	p.git("update-index", "--assume-unchanged", "a")
	p.git("update-index", "--skip-worktree", "b")
	p.git("config", "filter.x.clean", "touch "+mark)
	p.git("config", "filter.x.process", "touch "+mark)
	p.git("config", "core.fsmonitor", "touch "+mark)
	p.write(".git/info/attributes", "* filter=x\n")
	p.settle()
	old, err := os.Stat(filepath.Join(p.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("a", "A 1\n")
	if err := os.Chtimes(filepath.Join(p.dir, "a"), old.ModTime(), old.ModTime()); err != nil {
		t.Fatal(err)
	}
	p.write("b", "B 1\n")
	p.wantPartial(map[string]string{"a": "A 1\n", "b": "B 1\n"}, "c", "d/e")
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// Files that were written when the index was, may have changed after Git compared them.
func TestPartialCaptureOfARacyIndex(t *testing.T) {
	p := newLarge(t)
	info, err := os.Stat(filepath.Join(p.dir, "c"))
	if err != nil {
		t.Fatal(err)
	}
	old := info.ModTime().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(p.dir, ".git", "index"), old, old); err != nil {
		t.Fatal(err)
	}
	p.Limits.Files = 3
	if limit := p.limitOf(); limit.Limit != "Files" {
		t.Errorf("four files exceed %v", limit)
	}
}

// The index of a merge conflict has up to three versions of a file, and none that the file is like.
func TestPartialCaptureOfAConflict(t *testing.T) {
	p := newLarge(t)
	p.git("checkout", "-q", "-b", "other")
	p.write("a", "theirs\n")
	p.commit()
	p.git("checkout", "-q", "master")
	p.write("a", "ours\n")
	p.commit()
	merge := exec.Command(programtest.Path(t, "git"), "-c", "user.name=a", "-c", "user.email=a@b", "merge", "other")
	merge.Dir = p.dir
	if out, err := merge.CombinedOutput(); err == nil {
		t.Fatalf("no conflict:\n%s", out)
	}
	p.settle()
	c := p.capture()
	entries, err := p.Store().Files(c.Tree)
	if err != nil || !entries["a"].Stored() || entries["b"].Type() != objects.ModeInGit {
		t.Errorf("a is %v, b is %v, %v", entries["a"], entries["b"], err)
	}
}

// A directory of a large work tree has the files that Git reports as changed there, and a nested repository those that
// Git reports in it.
func TestPartialCaptureBelow(t *testing.T) {
	p := newLarge(t)
	p.write("d/f", "1\n")
	p.write("d/g", "1\n")
	p.commit()
	below, err := p.Below(filepath.Join(p.dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = below
	p.write("d/e", "two\n")
	p.write("a", "two\n")
	p.wantPartial(map[string]string{"e": "two\n"}, "f", "g")
}

func TestPartialCaptureOfNestedRepositories(t *testing.T) {
	p := newLarge(t)
	nested := &project{t: t, dir: filepath.Join(p.dir, "nested")}
	nested.write("n", "1\n")
	nested.git("init", "-q")
	nested.commit()
	nested.write("m", "1\n")
	p.write(".git/info/exclude", "")
	p.wantPartial(map[string]string{"nested/m": "1\n"}, "a", "b", "c", "d/e", "nested/n")
}

// An edited tree has the other files as they were, also those that Git has.
func TestEditOfAPartialCapture(t *testing.T) {
	p := newLarge(t)
	p.write("a", "a two\n")
	before := p.capture()
	edited, _, err := p.Edit(t.Context(), "01KAHV8MPR0000000000000001", before.Tree, "a", []byte("edited\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.wantChanged(before, workspace.Capture{Tree: edited}, "modified a")
	files, err := p.Store().Files(edited)
	if err != nil || len(files) != 4 || files["b"].Type() != objects.ModeInGit {
		t.Errorf("%v, %v", files, err)
	}
}
