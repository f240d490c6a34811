package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// must fails a test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// realTemp returns a directory of the test by its path without links.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// write writes files, whose content is their name.
func write(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(name+"\n"), 0o644))
	}
}

// git runs Git in a directory, without the configuration of the system and the user.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	identity := []string{"-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always",
		"-c", "init.defaultBranch=main"}
	cmd := exec.Command(programtest.Path(t, "git"), append(identity, args...)...)
	cmd.Dir = dir
	cmd.Env = append(gitEnvironment(os.Environ(), filepath.Dir(dir)), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// committed makes a repository with files that are committed.
func committed(t testing.TB, root string, names ...string) {
	t.Helper()
	write(t, root, names...)
	git(t, root, "init", "-q")
	git(t, root, "add", "-f", ".")
	git(t, root, "commit", "-qm", "first")
}

func listedIn(t testing.TB, root string) listOptions {
	t.Helper()
	return listOptions{root: root, scratch: realTemp(t), maxFiles: 1000}
}

// mustList lists a directory, and checks that this changes nothing in it.
func mustList(t testing.TB, o listOptions) listing {
	t.Helper()
	before := fingerprint(t, o.root)
	got, err := list(t.Context(), o)
	must(t, err)
	if diff := cmp.Diff(before, fingerprint(t, o.root)); diff != "" {
		t.Errorf("the list changed the directory:\n%s", diff)
	}
	return got
}

// fingerprint returns the mode, the time and the content of everything below a directory, objects of Git without the
// time.
func fingerprint(t testing.TB, root string) map[string]string {
	t.Helper()
	prints := map[string]string{}
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		print := info.Mode().String()
		if !strings.Contains(filepath.ToSlash(path), ".git/objects/") { // a sparse index renews the times of trees
			print += " " + info.ModTime().String()
		}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			print += " " + string(sum[:])
		}
		prints[path] = print
		return nil
	}))
	return prints
}

func TestListOfADirectory(t *testing.T) {
	programtest.Path(t, "git")
	for _, test := range []struct {
		name string
		make func(t *testing.T, root string)
		want string
	}{
		{"without a repository", func(t *testing.T, root string) {
			write(t, root, "b", "d/a", "ignored", ".hidden")
			must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o600))
		}, ".gitignore .hidden b d/a"},
		{"empty", func(*testing.T, string) {}, ""},
		{"repository", func(t *testing.T, root string) {
			write(t, root, ".gitignore")
			must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\nbuild/\n"), 0o600))
			committed(t, root, "tracked", "tracked.log")
			write(t, root, "new", "d/new.log", "build/x")
		}, ".gitignore new tracked tracked.log"},
		{"repository without commits", func(t *testing.T, root string) {
			write(t, root, "a")
			git(t, root, "init", "-q")
		}, "a"},
		{"info/exclude", func(t *testing.T, root string) {
			committed(t, root, "a")
			write(t, root, "secret")
			must(t, os.MkdirAll(filepath.Join(root, ".git/info"), 0o755))
			must(t, os.WriteFile(filepath.Join(root, ".git/info/exclude"), []byte("secret\n"), 0o600))
		}, "a"},
		{"deleted tracked file", func(t *testing.T, root string) {
			committed(t, root, "a", "b")
			must(t, os.Remove(filepath.Join(root, "a")))
		}, "a b"},
		{"assume-unchanged and skip-worktree", func(t *testing.T, root string) {
			committed(t, root, "a", "b", "c")
			git(t, root, "update-index", "--assume-unchanged", "a")
			git(t, root, "update-index", "--skip-worktree", "b")
		}, "a b c"},
		{"sparse checkout", func(t *testing.T, root string) {
			committed(t, root, "in/a", "out/b", "top")
			git(t, root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
			write(t, root, "out/new")
		}, "in/a out/b out/new top"},
		{"merge with conflicts", func(t *testing.T, root string) {
			committed(t, root, "a", "b")
			git(t, root, "checkout", "-qb", "other")
			must(t, os.WriteFile(filepath.Join(root, "a"), []byte("theirs\n"), 0o600))
			git(t, root, "commit", "-qam", "theirs")
			git(t, root, "checkout", "-q", "main")
			must(t, os.WriteFile(filepath.Join(root, "a"), []byte("ours\n"), 0o600))
			git(t, root, "commit", "-qam", "ours")
			if exec.Command("git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", "merge", "other").Run() == nil {
				t.Fatal("no conflict")
			}
		}, "a b"},
		{"SHA-256", func(t *testing.T, root string) {
			git(t, root, "init", "-q", "--object-format=sha256")
			write(t, root, "a")
			git(t, root, "add", ".")
		}, "a"},
		{"index.lock of the user", func(t *testing.T, root string) {
			committed(t, root, "a")
			write(t, root, ".git/index.lock", "b")
		}, "a b"},
		{"nested repositories", func(t *testing.T, root string) {
			committed(t, root, "a")
			write(t, root, "d/empty/x", "d/empty/y.log")
			must(t, os.WriteFile(filepath.Join(root, "d/empty/.gitignore"), []byte("*.log\n"), 0o600))
			git(t, filepath.Join(root, "d/empty"), "init", "-q")
			committed(t, filepath.Join(root, "full"), "x", "in/y")
			committed(t, filepath.Join(root, "full/inner"), "z")
		}, "a d/empty/.gitignore d/empty/x full/in/y full/inner/z full/x"},
		{"submodule", func(t *testing.T, root string) {
			committed(t, filepath.Join(root, "../module"), "x")
			committed(t, root, "a")
			git(t, root, "submodule", "add", "-q", "../module", "sub")
			write(t, root, "sub/new")
		}, ".gitmodules a sub/new sub/x"},
		{"submodule that is not checked out", func(t *testing.T, root string) {
			committed(t, root, "a")
			must(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
			const module = "160000,5ea9548bda27ffd406f9e5b27c1ed0a211ef6cd9,"
			git(t, root, "update-index", "--add", "--cacheinfo", module+"sub")
			git(t, root, "update-index", "--add", "--cacheinfo", module+"missing")
		}, "a missing"},
		{"linked worktree", func(t *testing.T, root string) {
			committed(t, root, "a")
			git(t, root, "worktree", "add", "-q", "trees/one")
			write(t, root, "trees/one/new")
		}, "a trees/one/a trees/one/new"},
		{".git deleted", func(t *testing.T, root string) {
			committed(t, root, "a")
			must(t, os.RemoveAll(filepath.Join(root, ".git")))
		}, "a"},
		{"files in what looks like .git", func(t *testing.T, root string) {
			write(t, root, "a", "d/.git/x", "e/.GIT/y", "f/.git")
		}, "a"},
		{"files of a restore", func(t *testing.T, root string) {
			write(t, root, "a", "d/"+tempName("01K9ZZZZZZZZZZZZZZZZZZZZZZ", "d/x"), ".agent-chatter-notes")
		}, ".agent-chatter-notes a"},
		{"leading hyphens and colons", func(t *testing.T, root string) {
			committed(t, root, "-x", "x")
			write(t, root, "--", "-n")
			if runtime.GOOS != "windows" {
				write(t, root, ":x", ":(top)y")
			}
		}, map[bool]string{true: "-- -n -x x", false: "-- -n -x :(top)y :x x"}[runtime.GOOS == "windows"]},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := filepath.Join(realTemp(t), "root")
			must(t, os.Mkdir(root, 0o755))
			test.make(t, root)
			got := mustList(t, listedIn(t, root))
			if names := strings.Join(got.paths, " "); names != test.want {
				t.Errorf("got %s\nwant %s", names, test.want)
			}
			if len(got.skipped) > 0 || len(got.notes) > 0 {
				t.Errorf("skipped %v, notes %v", got.skipped, got.notes)
			}
		})
	}
}

func TestRefusedRepositoryIsListedByItsIgnoreFiles(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		refuse       func(t *testing.T, root string)
	}{
		{"unknown extension", "unknown repository extension", func(t *testing.T, root string) {
			git(t, root, "config", "core.repositoryFormatVersion", "1")
			git(t, root, "config", "extensions.reftableX", "true")
		}},
		{"bare", "must be run in a work tree", func(t *testing.T, root string) {
			git(t, root, "config", "core.bare", "true")
		}},
		{"broken", "not a git repository", func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, ".git", "HEAD")))
		}},
		{"worktree of a missing repository", "not a git repository", func(t *testing.T, root string) {
			must(t, os.RemoveAll(filepath.Join(root, ".git")))
			must(t, os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: /missing\n"), 0o600))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			outer := realTemp(t)
			committed(t, outer, "above")
			must(t, os.WriteFile(filepath.Join(outer, ".gitignore"), []byte("root\n"), 0o600))
			root := filepath.Join(outer, "root")
			write(t, root, "ignored")
			must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o600))
			committed(t, root, "a")
			test.refuse(t, root)
			got := mustList(t, listedIn(t, root))
			if want := []string{".gitignore", "a"}; !slices.Equal(got.paths, want) {
				t.Errorf("got %q, want %q", got.paths, want)
			}
			if len(got.notes) != 1 || !strings.Contains(got.notes[0], test.reason) || !strings.Contains(got.notes[0], root) {
				t.Errorf("notes %q, want one with %q", got.notes, test.reason)
			}
		})
	}
}

func TestInheritedGitVariablesAreIgnored(t *testing.T) {
	root, other := realTemp(t), realTemp(t)
	committed(t, root, "a")
	committed(t, other, "b")
	o := listedIn(t, root)
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, ".git", "index"))
	if got := mustList(t, o); !slices.Equal(got.paths, []string{"a"}) {
		t.Errorf("got %q", got.paths)
	}
}

func TestListIsLimitedToASubdirectory(t *testing.T) {
	for _, withGit := range []bool{true, false} {
		root := realTemp(t)
		write(t, root, "[a]/ignored")
		must(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("ignored\n"), 0o600))
		committed(t, root, "[a]/x", "a/y", "z")
		o := listedIn(t, root)
		o.sub = "[a]"
		want := []string{"[a]/ignored", "[a]/x"}
		if !withGit {
			t.Setenv("PATH", t.TempDir())
		}
		if got := mustList(t, o); !slices.Equal(got.paths, want) {
			t.Errorf("got %q, want %q", got.paths, want)
		}
	}
}

func TestExcludedDirectoriesAreNotListed(t *testing.T) {
	root := realTemp(t)
	committed(t, root, "a", "home/x", "homes/y")
	committed(t, filepath.Join(root, "home/nested"), "z")
	o := listedIn(t, root)
	o.exclude = []string{filepath.Join(root, "home"), filepath.Join(filepath.Dir(root), "elsewhere")}
	want := []string{"a", "homes/y"}
	if got := mustList(t, o); !slices.Equal(got.paths, want) {
		t.Errorf("got %q, want %q", got.paths, want)
	}
	t.Setenv("PATH", t.TempDir())
	if got := mustList(t, o); !slices.Equal(got.paths, want) {
		t.Errorf("without Git: got %q, want %q", got.paths, want)
	}
}

func TestNestedRepositoriesAreLimited(t *testing.T) {
	root := realTemp(t)
	committed(t, root, "a")
	deep := root
	for _, name := range []string{"1", "2", "3", "4"} {
		deep = filepath.Join(deep, name)
		committed(t, deep, "x")
	}
	got := mustList(t, listedIn(t, root))
	if want := []string{"1/2/3/x", "1/2/x", "1/x", "a"}; !slices.Equal(got.paths, want) {
		t.Errorf("got %q, want %q", got.paths, want)
	}
	if len(got.skipped) != 1 || got.skipped[0].Path != "1/2/3/4" {
		t.Errorf("skipped %v, want 1/2/3/4", got.skipped)
	}
	must(t, os.RemoveAll(filepath.Join(root, "1")))
	committed(t, filepath.Join(root, "n00"), "x")
	for i := 1; i <= maxNested; i++ {
		name := filepath.Join(root, fmt.Sprintf("n%02d", i))
		must(t, os.CopyFS(name, os.DirFS(filepath.Join(root, "n00"))))
	}
	got = mustList(t, listedIn(t, root))
	if len(got.paths) != 1+maxNested || len(got.skipped) != 1 || got.skipped[0].Path != "n50" {
		t.Errorf("%d paths, skipped %v", len(got.paths), got.skipped)
	}
}

func TestListStopsAtItsLimit(t *testing.T) {
	root := realTemp(t)
	committed(t, root, "a", "b", "c")
	o := listedIn(t, root)
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		o.maxFiles = 3
		mustList(t, o)
		o.maxFiles = 2
		var tooMany *TooManyError
		if _, err := list(t.Context(), o); !errors.As(err, &tooMany) || tooMany.Limit != 2 {
			t.Errorf("PATH=%s: %v, want an error that names the limit", path, err)
		}
	}
}

func TestListWithoutGit(t *testing.T) {
	root := realTemp(t)
	write(t, root,
		"b", "a/.gitignore", "a/node_modules/x", "a/target/x", ".venv/x", "__pycache__/x", "n/.git/x", "targets")
	o := listedIn(t, root)
	t.Setenv("PATH", t.TempDir())
	got := mustList(t, o)
	if want := []string{"a/.gitignore", "b", "targets"}; !slices.Equal(got.paths, want) {
		t.Errorf("got %q, want %q", got.paths, want)
	}
	if len(got.notes) != 1 || !strings.Contains(got.notes[0], "git is not installed") {
		t.Errorf("notes %q", got.notes)
	}
	o.root = filepath.Join(root, "missing")
	if _, err := list(t.Context(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

func TestDamagedIndexIsAnError(t *testing.T) {
	root := realTemp(t)
	committed(t, root, "a")
	must(t, os.WriteFile(filepath.Join(root, ".git", "index"), []byte("DIRC, but no index\n"), 0o600))
	_, err := list(t.Context(), listedIn(t, root))
	var failed *gitError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "index") || !strings.Contains(err.Error(), root) {
		t.Errorf("%v, want an error that names the index and the directory", err)
	}
}

func TestListOfLinks(t *testing.T) {
	root, outside := realTemp(t), realTemp(t)
	write(t, outside, "x")
	write(t, root, "d/x")
	for name, target := range map[string]string{
		"dangling": "missing", "loop": "loop", "toDir": "d", "outside": outside, "d/up": "..",
	} {
		programtest.SkipOnWindows(t, os.Symlink(target, filepath.Join(root, filepath.FromSlash(name))))
	}
	want := []string{"d/up", "d/x", "dangling", "loop", "outside", "toDir"}
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		if got := mustList(t, listedIn(t, root)); !slices.Equal(got.paths, want) {
			t.Errorf("PATH=%s: got %q, want %q", path, got.paths, want)
		}
	}
}

func BenchmarkList(b *testing.B) {
	root := realTemp(b)
	for i := range 10_000 {
		write(b, root, fmt.Sprintf("d%d/f%d", i%100, i))
	}
	git(b, root, "init", "-q")
	git(b, root, "add", ".")
	o := listedIn(b, root)
	o.maxFiles = 20_000
	for b.Loop() {
		if _, err := list(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}
