//go:build !windows

package attach

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestPathsMatchByTheirLetters(t *testing.T) {
	files := []string{
		"coordinator/say.go", "coordinator/say_test.go", "README.md", "projection/message.go", "say/other.go",
		"cmd/sample.yaml",
	}
	for word, want := range map[string][]string{
		"say.go":                       {"coordinator/say.go"},
		"SAY":                          {"coordinator/say.go", "coordinator/say_test.go", "cmd/sample.yaml", "say/other.go"},
		"cosay":                        {"coordinator/say.go", "coordinator/say_test.go"},
		"prmess":                       {"projection/message.go"},
		"zzz":                          nil,
		"read":                         {"README.md"},
		"x" + strings.Repeat("y", 300): nil,
	} {
		got := bestMatches(files, word)
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || want == nil && got != nil {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// matchesOf returns the matches of a new index when it is made.
func matchesOf(t *testing.T, dir, word string) []string {
	t.Helper()
	x := NewIndex(dir, filepath.Join(dir, "home"), func() {})
	x.make()
	x.made = time.Now().Add(time.Hour)
	got := x.Match(word)
	slices.Sort(got)
	return got
}

func TestIndexHasTheFilesOfTheTree(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.txt", "b/a2.txt", "b/with space/a3.txt", ".hidden/a4.txt", "b/.a5.txt", "b/a\x1b6.txt", "home/ab.txt"} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), nil)
	}
	put(t, filepath.Join(elsewhere, "a7.txt"), nil)
	must(t, os.Symlink(elsewhere, filepath.Join(dir, "link")))
	must(t, os.Symlink(filepath.Join(elsewhere, "a7.txt"), filepath.Join(dir, "a8.txt")))
	deep := dir
	for range maxDepth + 2 {
		deep = filepath.Join(deep, "d")
	}
	put(t, filepath.Join(deep, "a9.txt"), nil)
	if got, want := matchesOf(t, dir, "txt"), []string{"a.txt", "b/a2.txt"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIndexHasTheFilesThatGitLists(t *testing.T) {
	programtest.Path(t, "git")
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".gitignore"), []byte("ignored.txt\n"))
	for _, name := range []string{"new.txt", "ignored.txt", "below/tracked.txt"} {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), nil)
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", args, out)
		}
	}
	git("init", "-q")
	git("add", "below")
	ran := filepath.Join(t.TempDir(), "ran")
	git("config", "core.fsmonitor", "touch "+ran+"; false")
	defer func() {
		if _, err := os.Stat(ran); err == nil {
			t.Error("the repository's program was run")
		}
	}()
	if got, want := matchesOf(t, dir, "txt"), []string{"below/tracked.txt", "new.txt"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := matchesOf(t, filepath.Join(dir, "below"), "txt"); !slices.Equal(got, []string{"tracked.txt"}) {
		t.Errorf("below: %q", got)
	}
}

// The first match makes the index in the background.
func TestMatchDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.txt"), nil)
	done := make(chan struct{})
	x := NewIndex(dir, filepath.Join(dir, "home"), func() { close(done) })
	if got := x.Match("a"); got != nil {
		t.Errorf("%q", got)
	}
	<-done
	if got := x.Match("a"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
