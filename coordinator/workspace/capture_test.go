package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// project is a directory with its workspace.
type project struct {
	t    testing.TB
	home string
	dir  string
	*workspace.Workspace
	captures int
}

// newProject returns an empty directory; a Git repository if git.
func newProject(t testing.TB, git bool) *project {
	t.Helper()
	p := &project{t: t, home: t.TempDir(), dir: filepath.Join(t.TempDir(), "project")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if git {
		p.git("init", "-q")
	}
	p.open()
	return p
}

func (p *project) open() {
	p.t.Helper()
	w, err := workspace.Open(p.home, p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Workspace = w
	p.Limits.Free = 0
}

func (p *project) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command(programtest.Path(p.t, "git"), append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (p *project) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// capture captures the directory.
func (p *project) capture() workspace.Capture {
	p.t.Helper()
	p.captures++
	c, err := p.Capture(context.Background(), fmt.Sprintf("%026d", p.captures), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// files are the files of a tree: their types and contents.
func (p *project) files(tree objects.Hash) map[string]string {
	p.t.Helper()
	entries, err := p.Store().Files(tree)
	if err != nil {
		p.t.Fatal(err)
	}
	files := map[string]string{}
	for name, e := range entries {
		content, err := p.Store().Read(e.Hash)
		if err != nil {
			p.t.Fatal(err)
		}
		files[name] = map[uint32]string{objects.ModeLink: "-> ", objects.ModeSkipped: "skipped: "}[e.Type()] + string(content)
	}
	return files
}

// wantFiles captures the directory and compares its files.
func (p *project) wantFiles(want map[string]string) workspace.Capture {
	p.t.Helper()
	c := p.capture()
	if diff := cmp.Diff(want, p.files(c.Tree)); diff != "" {
		p.t.Errorf("the files that were captured differ:\n%s", diff)
	}
	return c
}

func TestCapture(t *testing.T) {
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprint("git ", git), func(t *testing.T) {
			p := newProject(t, git)
			empty := p.wantFiles(map[string]string{})
			if empty.Tree != objects.HashOf(nil) {
				t.Errorf("an empty directory has the tree %s", empty.Tree)
			}
			p.write("a.txt", "one")
			p.write("d/b.txt", "mixed\r\nends\n")
			p.write(".gitignore", "*.log\n")
			p.write("x.log", "ignored")
			files := map[string]string{"a.txt": "one", "d/b.txt": "mixed\r\nends\n", ".gitignore": "*.log\n"}
			first := p.wantFiles(files)
			if again := p.wantFiles(files); again.Tree != first.Tree {
				t.Error("an unchanged directory has another tree")
			}
			p.remove("d")
			p.write("d", "now a file")
			p.wantFiles(map[string]string{"a.txt": "one", "d": "now a file", ".gitignore": "*.log\n"})
			p.remove("d")
			p.write("d/b.txt", "mixed\r\nends\n")
			if back := p.wantFiles(files); back.Tree != first.Tree || back.Files != 3 || back.Bytes != 21 {
				t.Errorf("the former content is %+v, was %+v", back, first)
			}
		})
	}
}

// A change that size and times do not show is found: times of files are coarse.
func TestRacyChange(t *testing.T) {
	p := newProject(t, true)
	for i := range 50 {
		text := fmt.Sprintf("%03d", i)
		p.write("a", text)
		p.wantFiles(map[string]string{"a": text})
	}
}

func TestTimePutBack(t *testing.T) {
	p := newProject(t, true)
	p.write("a", "one")
	old := time.Now().Add(-time.Hour)
	path := filepath.Join(p.dir, "a")
	for _, text := range []string{"one", "two"} {
		p.write("a", text)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		p.wantFiles(map[string]string{"a": text})
	}
}

// What Git would change, hide or refuse is captured as it is on the disk, and nothing in .git changes.
func TestGitDoesNotChangeWhatIsCaptured(t *testing.T) {
	p := newProject(t, true)
	p.write(".gitattributes", "*.txt filter=gone\n*.md text eol=crlf\n")
	p.git("config", "filter.gone.clean", "false")
	p.git("config", "filter.gone.required", "true")
	p.git("config", "core.safecrlf", "true")
	p.write("b.md", "a\r\nb\n")
	p.write("assumed", "1")
	p.write("skipped", "1")
	p.git("add", "assumed", "skipped")
	p.git("commit", "-qm", "first")
	p.git("update-index", "--assume-unchanged", "assumed")
	p.git("update-index", "--skip-worktree", "skipped")
	p.write("a.txt", "x")
	p.write("assumed", "2")
	p.write("skipped", "2")
	p.write("nested/.git/config", "")
	p.write("nested/file", "n")
	p.write(".git/index.lock", "")
	before := contents(t, filepath.Join(p.dir, ".git"))
	p.wantFiles(map[string]string{
		".gitattributes": "*.txt filter=gone\n*.md text eol=crlf\n",
		"a.txt":          "x", "b.md": "a\r\nb\n", "assumed": "2", "skipped": "2", "nested/file": "n",
	})
	if diff := cmp.Diff(before, contents(t, filepath.Join(p.dir, ".git"))); diff != "" {
		t.Errorf(".git changed:\n%s", diff)
	}
}

// contents returns all files below a directory.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLimits(t *testing.T) {
	p := newProject(t, false)
	p.write("small", "1")
	p.write("large", strings.Repeat("x", 100))
	for name, limits := range map[string]workspace.Limits{
		"Files": {Files: 1}, "Bytes": {Bytes: 100}, "FirstTime": {FirstTime: 1}, "Free": {Free: 1 << 62},
	} {
		p.open()
		p.Limits = limits
		_, err := p.Capture(context.Background(), "1", nil)
		var exceeded *workspace.LimitError
		if !errors.As(err, &exceeded) || exceeded.Limit != name {
			t.Errorf("limit %s: %v", name, err)
		}
	}
	p.open()
	p.Limits.FileBytes = 99
	c := p.wantFiles(map[string]string{"small": "1", "large": "skipped: 100 bytes, over 99"})
	want := []workspace.Skipped{{Path: "large", Why: "100 bytes, over 99"}}
	if diff := cmp.Diff(want, c.Skipped); diff != "" || c.Files != 1 {
		t.Errorf("%+v\n%s", c, diff)
	}
	if again := p.capture(); again.Tree != c.Tree {
		t.Error("an unchanged directory has another tree")
	}
}

// Without its cache, with a damaged one, and after content was removed from the store, a capture stores what is missing.
func TestCacheIsOnlyACache(t *testing.T) {
	p := newProject(t, false)
	for i := range 30 {
		p.write(fmt.Sprint("d/", i), fmt.Sprint("content ", i))
	}
	want := p.files(p.capture().Tree)
	store := filepath.Join(p.home, "files")
	dirs, err := os.ReadDir(store)
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	store = filepath.Join(store, dirs[0].Name())
	cache, err := os.ReadFile(filepath.Join(store, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(cache); at += 97 {
		damaged := slices.Clone(cache)
		damaged[at] ^= 0x40
		for _, content := range [][]byte{damaged, cache[:at], nil} {
			if err := os.WriteFile(filepath.Join(store, "cache"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			p.wantFiles(want)
		}
	}
	packs, err := filepath.Glob(filepath.Join(store, "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, name := range packs {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	p.wantFiles(want)
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	p.wantFiles(want)
}

// Several captures of a directory at once each have all of it.
func TestCapturesAtOnce(t *testing.T) {
	p := newProject(t, false)
	p.write("a", "1")
	want := p.capture().Tree
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			w, err := workspace.Open(p.home, p.dir)
			if err == nil {
				w.Limits.Free = 0
				var c workspace.Capture
				if c, err = w.Capture(context.Background(), fmt.Sprint("at-once-", i), nil); c.Tree != want {
					t.Errorf("capture %d has the tree %s", i, c.Tree)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestCaptureIsCancelled(t *testing.T) {
	p := newProject(t, false)
	for i := range 100 {
		p.write(fmt.Sprint(i), "x")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stopped by a person")
	_, err := p.Capture(ctx, "1", func(n int) {
		if n == 50 {
			cancel(stop)
		}
	})
	if !errors.Is(err, stop) {
		t.Errorf("Capture returns %v", err)
	}
	if n, err := p.Store().Bytes(); n != 0 || err != nil {
		t.Errorf("the store has %d bytes, %v", n, err)
	}
}

// The root is the top of the work tree, but never the home directory of the user, what contains it, or the home of the
// program.
func TestOpen(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("USERPROFILE", user)
	user, err := filepath.EvalSymlinks(user)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(user, ".agent-chatter")
	for _, dir := range []string{"project/.git", "project/sub", "empty/.git", "empty/sub", "plain", ".git", ".agent-chatter/worktrees/s/m"} {
		if err := os.MkdirAll(filepath.Join(user, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"project/.git/HEAD", ".git/HEAD"} {
		if err := os.WriteFile(filepath.Join(user, dir), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"empty/sub": "empty/sub", "project": "project", "project/sub": "project", "plain": "plain", ".": "", "..": "", ".agent-chatter": "",
		".agent-chatter/worktrees": "", ".agent-chatter/worktrees/s/m": ".agent-chatter/worktrees/s/m",
	} {
		w, err := workspace.Open(home, filepath.Join(user, dir))
		var refused *workspace.RefusedError
		switch {
		case want == "" && !errors.As(err, &refused):
			t.Errorf("%s: %v, want it refused", dir, err)
		case want != "" && err != nil:
			t.Errorf("%s: %v", dir, err)
		case want != "" && w.Root() != filepath.Join(user, want):
			t.Errorf("%s: the root is %s, want %s", dir, w.Root(), want)
		}
	}
}

// The program's home within the directory is not captured.
func TestHomeInDirectory(t *testing.T) {
	p := newProject(t, false)
	p.home = filepath.Join(p.dir, "home")
	p.write("home/sessions/1.jsonl", "secret")
	p.write("a", "1")
	p.open()
	p.wantFiles(map[string]string{"a": "1"})
	p.wantFiles(map[string]string{"a": "1"})
}

// Above the limit of all stores nothing is added, and an unchanged directory is still captured.
func TestLimitOfStores(t *testing.T) {
	p := newProject(t, false)
	p.write("a", "1")
	first := p.capture()
	p.Limits.Stores = 1
	if again := p.capture(); again.Tree != first.Tree {
		t.Error("an unchanged directory has another tree")
	}
	p.write("a", "2")
	_, err := p.Capture(context.Background(), "2", nil)
	var exceeded *workspace.LimitError
	if !errors.As(err, &exceeded) || exceeded.Limit != "Stores" {
		t.Errorf("Capture returns %v", err)
	}
}
