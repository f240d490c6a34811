//go:build unix

package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestListOfUnusualNames(t *testing.T) {
	programtest.Path(t, "git")
	names := []string{"line\nend", "tab\tname", "quote\"", "back\\slash", "? x", "H 100644 x 0\ty"}
	if runtime.GOOS == "linux" {
		names = append(names, "invalid\xff\xfe")
	}
	slices.Sort(names)
	root := realTemp(t)
	write(t, root, names...)
	for range 2 { // untracked, then tracked
		if got := mustList(t, listedIn(t, root)); !slices.Equal(got.paths, names) {
			t.Errorf("got %q, want %q", got.paths, names)
		}
		git(t, root, "init", "-q")
		git(t, root, "add", ".")
	}
}

func TestListOfSpecialFiles(t *testing.T) {
	root := realTemp(t)
	write(t, root, "a")
	must(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		if got := mustList(t, listedIn(t, root)); !slices.Equal(got.paths, []string{"a"}) {
			t.Errorf("PATH=%s: got %q", path, got.paths)
		}
	}
}

func TestRepositoryOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a repository to another user")
	}
	root := realTemp(t)
	committed(t, root, "a")
	for _, name := range []string{"", ".git"} {
		must(t, os.Chown(filepath.Join(root, name), 65534, 65534))
	}
	t.Setenv("HOME", t.TempDir())
	got := mustList(t, listedIn(t, root))
	if !slices.Equal(got.paths, []string{"a"}) || len(got.notes) != 1 || !strings.Contains(got.notes[0], "ownership") {
		t.Errorf("got %q, notes %q", got.paths, got.notes)
	}
}

// fakeGit makes a script the only program of the path.
func fakeGit(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir)
}

func TestFailedGitIsAnError(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"fatal", "echo fatal: out of memory >&2; exit 128", "out of memory"},
		{"fatal after output", "printf '? a\\0'; echo fatal: unlucky >&2; exit 128", "unlucky"},
		{"other status", "echo usage >&2; exit 129", "usage"},
		{"killed", "kill -9 $$", "killed"},
		{"unknown output", "printf 'unknown\\0'", "unknown output"},
		{"output without an end", "while :; do printf 0123456789012345678901234567890123456789; done", "without an end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := realTemp(t)
			write(t, root, "a", ".git/HEAD")
			fakeGit(t, test.script)
			got, err := list(t.Context(), listedIn(t, root))
			if err == nil || !strings.Contains(err.Error(), test.want) || got.paths != nil {
				t.Errorf("%q, %v, want an error with %q", got.paths, err, test.want)
			}
		})
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	root := realTemp(t)
	sleep := programtest.Path(t, "sleep")
	fakeGit(t, sleep+" 60; :") // a child that keeps the output open
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := list(ctx, listedIn(t, root))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestWarningsOfGitAreNotes(t *testing.T) {
	fakeGit(t, `echo "warning: could not open directory 'x/': Permission denied" >&2; printf '? a\0'`)
	got := mustList(t, listedIn(t, realTemp(t)))
	want := []string{"git: warning: could not open directory 'x/': Permission denied"}
	if !slices.Equal(got.paths, []string{"a"}) || !slices.Equal(got.notes, want) {
		t.Errorf("got %q, notes %q", got.paths, got.notes)
	}
}

func TestReportsOfGitAreBounded(t *testing.T) {
	w := headWriter{limit: 5}
	for _, part := range []string{"abc", "def", "ghi"} {
		if n, err := w.Write([]byte(part)); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if string(w.head) != "abcde" {
		t.Errorf("got %q", w.head)
	}
}

// Git waits for a pipe that it opens. A list takes little longer then, and still applies the other files.
func TestPipesDoNotBlockGit(t *testing.T) {
	programtest.Path(t, "git")
	for _, test := range []struct {
		name  string
		pipes []string
		want  []string
	}{
		{"ignore files", []string{".gitignore", "d/.gitignore", "d/e/.gitignore"}, []string{"a", "d/b", "d/e/c", "d/e/x.log"}},
		{"repository", []string{".git/info/exclude"}, []string{".gitignore", "a", "d/b", "d/e/c"}},
		{"configuration", []string{".git/config"}, []string{".gitignore", "a", "d/b", "d/e/c"}},
		{"broken repository", []string{".git/HEAD"}, []string{".gitignore", "a", "d/b", "d/e/c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := realTemp(t)
			committed(t, root, "a", "d/b", "d/e/c")
			write(t, root, "d/e/x.log")
			must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n"), 0o644))
			for _, name := range test.pipes {
				_ = os.Remove(filepath.Join(root, name))
				must(t, syscall.Mkfifo(filepath.Join(root, name), 0o600))
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			got, err := list(ctx, listedIn(t, root))
			must(t, err)
			if !slices.Equal(got.paths, test.want) {
				t.Errorf("got %q, want %q; notes %q", got.paths, test.want, got.notes)
			}
		})
	}
}
