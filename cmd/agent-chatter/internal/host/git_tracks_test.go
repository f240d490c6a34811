package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestTracks(t *testing.T) {
	programtest.Path(t, "git")
	for _, version := range []string{"2", "4"} {
		root := t.TempDir()
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", args...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
		check := func(what, dir string, want bool) {
			t.Helper()
			if got := gitTracks(filepath.Join(root, filepath.FromSlash(dir))); got != want {
				t.Errorf("version %s, %s: %v, want %v", version, what, got, want)
			}
		}
		write(t, root, "sub/.home/sessions/a.jsonl")
		check("no repository", "sub/.home/sessions", false)
		git("init", "-q")
		git("config", "index.version", version)
		check("an empty repository", "sub/.home/sessions", false)
		write(t, root, "sub/.home/teams/t.json")
		git("add", "sub/.home/teams")
		check("other files", "sub/.home/sessions", false)
		git("add", ".")
		check("a session", "sub/.home/sessions", true)
		check("a directory that does not exist", "sub/.home/session", false)

		git("commit", "-q", "-m", "x")
		git("worktree", "add", "-q", filepath.Join(root, "tree"))
		check("a linked work tree", "tree/sub/.home/sessions", true)
		check("a directory outside of it", "sub/.home/other", false)
	}
}

func TestTracksWithoutValidIndex(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".home", "sessions")
	write(t, root, ".git/index")
	if err := os.WriteFile(filepath.Join(root, ".git/index"), []byte("no index of .home/sessions/"), 0o600); err != nil {
		t.Fatal(err)
	}
	if gitTracks(dir) {
		t.Error("a file that is no index tracks it")
	}
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if gitTracks(dir) {
		t.Error("a file that names no repository tracks it")
	}
}

// A .git file names the directory of the repository, as one of a submodule does. One that cannot be read is in no
// work tree: that of a parent directory counts.
func TestTracksByAGitFile(t *testing.T) {
	const name = "gitdir: ../repository"
	for _, test := range []struct {
		what, content string
		want          bool
	}{
		{"a relative path", name + "\n", true},
		{"a path and spaces up to the limit", name + strings.Repeat(" ", 4<<10-len(name)), true},
		{"more than the limit", name + strings.Repeat(" ", 4<<10-len(name)+1), false},
		{"no path", "../repository\n", false},
	} {
		root := t.TempDir()
		for file, content := range map[string]string{
			"tree/.git": test.content, "repository/index": "DIRC .home/sessions/a.jsonl",
			".git/index": "DIRC tree/.home/teams/t.json",
		} {
			write(t, root, file)
			if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := gitTracks(filepath.Join(root, "tree", ".home", "sessions")); got != test.want {
			t.Errorf("%s: sessions: %v, want %v", test.what, got, test.want)
		}
		if got := gitTracks(filepath.Join(root, "tree", ".home", "teams")); got == test.want {
			t.Errorf("%s: teams: %v, want %v", test.what, got, !test.want)
		}
	}
}

func write(t *testing.T, root, name string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
}
