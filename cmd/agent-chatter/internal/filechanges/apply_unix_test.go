//go:build unix

package filechanges

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// files are the contents of a directory, by their paths.
type files map[string]side

// The paths of random histories: some are directories of others, and Git quotes some.
var randomPaths = []string{
	"a", "a/b", "a/b/c", "a/d", "d e/f g", "d e/h", "quote\"", "back\\slash", "line\nbreak", "tab\t", "\xff\xfe",
	"\u00fc", "-x", ":x", "z/" + strings.Repeat("long ", 40),
}

// conflicts reports whether one of two paths is in the place of a directory of the other.
func conflicts(a, b string) bool { return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") }

// draw returns a random file or link.
func draw(t *rapid.T, now side) side {
	lines := strings.SplitAfter(string(now.content), "\n")
	if now.mode == 0 || now.mode == gitLink || rapid.IntRange(0, 3).Draw(t, "new") == 0 {
		lines = rapid.SliceOfN(rapid.SampledFrom([]string{
			"", "\n", "one\n", "two\r\n", "three", "\x00\n", "\xff\n", "-- four\n", "++ five\n", "@@ six\n",
			"\\ seven\n",
		}), 0, 30).Draw(t, "lines")
	} else {
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		lines = slices.Insert(lines, at, fmt.Sprintf("%d\n", rapid.IntRange(0, 99).Draw(t, "line")))
	}
	mode := rapid.SampledFrom([]uint32{gitFile, gitFile, gitExecutable, gitLink}).Draw(t, "mode")
	s := side{mode, []byte(strings.Join(lines, ""))}
	if s.mode == gitLink {
		s.content = []byte(rapid.SampledFrom([]string{"other", "../b", "/nowhere", "no\nwhere"}).Draw(t, "link"))
	}
	return s
}

// change returns files after a random change.
func change(t *rapid.T, before files) files {
	after := maps.Clone(before)
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		path := rapid.SampledFrom(randomPaths).Draw(t, "path")
		if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
			delete(after, path)
			continue
		}
		maps.DeleteFunc(after, func(other string, _ side) bool { return conflicts(other, path) })
		after[path] = draw(t, after[path])
	}
	return after
}

// put stores files as a capture does, and returns the hash of their tree.
func put(t rapid.TB, h *history, dir string, all files, id int) string {
	var root objects.Hash
	err := h.workspace(dir).Store().Write(fmt.Sprintf("%026d", id), func(w *objects.Writer) error {
		var entries []objects.File
		for path, s := range all {
			hash, err := w.Put(s.content)
			if err != nil {
				return err
			}
			mode := map[uint32]uint32{gitFile: 0o100600, gitExecutable: 0o100755, gitLink: objects.ModeLink}[s.mode]
			e := objects.Entry{Mode: mode, Hash: hash, Size: int64(len(s.content))}
			entries = append(entries, objects.File{Path: path, Entry: e})
		}
		var err error
		root, err = objects.Tree(entries, w.Put)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root.String()
}

// writeFiles writes files to an empty directory.
func writeFiles(t *rapid.T, dir string, all files) {
	for path, s := range all {
		at := filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(at), 0o777)
		if err == nil && s.mode == gitLink {
			err = os.Symlink(string(s.content), at)
		} else if err == nil {
			err = os.WriteFile(at, s.content, os.FileMode(s.mode&0o777))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readFiles returns the files of a directory.
func readFiles(t *rapid.T, dir string) files {
	all := files{}
	err := filepath.WalkDir(dir, func(at string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		path, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		if entry.Type() == os.ModeSymlink {
			text, err := os.Readlink(at)
			all[path] = side{gitLink, []byte(text)}
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(at)
		all[path] = side{gitFile, content}
		if info.Mode()&0o100 != 0 {
			all[path] = side{gitExecutable, content}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s side) equal(other side) bool {
	return s.mode == other.mode && bytes.Equal(s.content, other.content)
}

// TestGitAppliesPatches applies patches of random histories with git apply to the first tree: that gives the last one
// for all paths that only agents changed, and leaves the others as they were.
func TestGitAppliesPatches(t *testing.T) {
	programtest.Path(t, "git")
	home := t.TempDir()
	n := 0
	propertytest.Check(t, func(t *rapid.T) {
		for range 10 {
			n++
			checkHistory(t, home, n)
		}
	})
	t.Log(n, "histories")
}

func checkHistory(t *rapid.T, home string, n int) {
	dir := filepath.Join(home, fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	h := newHistory(home, "")
	now := change(t, change(t, files{}))
	trees, person := []files{now}, map[string]bool{}
	root := put(t, h, dir, now, 0)
	for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
		now = change(t, now)
		s := step{seq: uint64(i + 2), at: uint64(i + 2), dir: dir, before: root, after: put(t, h, dir, now, i+1)}
		if rapid.IntRange(0, 3).Draw(t, "agent") > 0 {
			s.turn, s.changed = i+1, &projection.FilesChanged{MemberID: "ada", TurnID: fmt.Sprint(i)}
		} else {
			for _, path := range randomPaths {
				if !trees[i][path].equal(now[path]) {
					person[path] = true
				}
			}
		}
		h.steps, trees, root = append(h.steps, s), append(trees, now), s.after
	}
	p, err := newPatch(h, dir, "", h.steps)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, trees[0])
	patch := apply(t, p, dir)
	got, last := readFiles(t, dir), trees[len(trees)-1]
	for _, path := range randomPaths {
		touched := func(other string) bool { return person[other] && (other == path || conflicts(other, path)) }
		c := p.chains[path]
		want := trees[0][path]
		switch {
		case !slices.ContainsFunc(randomPaths, touched):
			want = last[path]
		case c != nil && c.taken && c.why == "":
			want = side{gitMode(c.after), nil}
			if want.mode != 0 {
				if want, err = h.side(dir, path, c.after); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !got[path].equal(want) {
			t.Fatalf("%q: got %o %q, want %o %q; patch:\n%s",
				path, got[path].mode, got[path].content, want.mode, want.content, patch)
		}
	}
}

// apply applies a patch in a directory.
func apply(t *rapid.T, p *patch, dir string) (patch string) {
	for _, name := range p.paths() {
		if c := p.chains[name]; c.why == "" {
			text, err := p.h.gitDiff(p.dir, name, c.before, c.after)
			if err != nil {
				t.Fatal(err)
			}
			patch += string(text)
		}
	}
	if patch == "" {
		return ""
	}
	cmd := exec.Command("git", "apply", "--whitespace=nowarn")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, patch)
	}
	return patch
}

func TestPathsFromDirectories(t *testing.T) {
	for _, test := range []struct {
		cwd, name string
		want      []string
	}{
		{"/d/sub", "a", []string{"sub/a", "a"}},
		{"/d", "./a/", []string{"a"}},
		{"/elsewhere", "a", []string{"a"}},
		{"/elsewhere", "/d/a", []string{"a"}},
		{"/d/sub", "../a", []string{"a"}},
		{"/d", "../a", nil},
		{"/d", ".", []string{"."}},
	} {
		if got := namesIn("/d", test.cwd, test.name); !slices.Equal(got, test.want) {
			t.Errorf("%s in %s: %q, want %q", test.name, test.cwd, got, test.want)
		}
	}
}
