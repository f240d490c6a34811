package objects_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// tree is the content of the files of a tree, by their paths.
type tree map[string]string

// files puts the content of a tree, and returns its files.
func (tr tree) files(t rapid.TB, w *objects.Writer) []objects.File {
	var files []objects.File
	for name, content := range tr {
		h, err := w.Put([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		entry := objects.Entry{Mode: objects.ModeFile | 0o644, Hash: h, Size: int64(len(content))}
		files = append(files, objects.File{Path: name, Entry: entry})
	}
	return files
}

// write writes a tree as a capture does, and returns its hash.
func (tr tree) write(t rapid.TB, s *objects.Store, id string) objects.Hash {
	t.Helper()
	var root objects.Hash
	err := s.Write(id, func(w *objects.Writer) (err error) {
		root, err = objects.Tree(tr.files(t, w), w.Put)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// read returns a tree of a store.
func read(s *objects.Store, root objects.Hash) (tree, error) {
	files, err := s.Files(root)
	if err != nil {
		return nil, err
	}
	tr := tree{}
	for name, e := range files {
		content, err := s.Read(e.Hash)
		if err != nil {
			return nil, err
		}
		tr[name] = string(content)
	}
	return tr, nil
}

func check(t rapid.TB, s *objects.Store, root objects.Hash, want tree) {
	t.Helper()
	got, err := read(s, root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

var trees = rapid.Custom(func(t *rapid.T) tree {
	tr := tree{}
	part := rapid.SampledFrom([]string{"a", "b", "a-b", "a.b", "é", "line\nbreak", "\xff", "-x"})
	for _, parts := range rapid.SliceOfN(rapid.SliceOfN(part, 1, 4), 0, 12).Draw(t, "paths") {
		name := strings.Join(parts, "/")
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tr)), func(other string) bool {
			return strings.HasPrefix(other+"/", name+"/") || strings.HasPrefix(name+"/", other+"/")
		}) {
			tr[name] = strings.Repeat(rapid.StringN(0, 20, 40).Draw(t, "content"), rapid.IntRange(0, 50).Draw(t, "times"))
		}
	}
	return tr
})

// Trees come back as they were stored, compare as their files do, and keep what they need in a sweep.
func TestTreesComeBack(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		mem := journaltest.NewMem()
		s := objects.Open(mem, "/files")
		var roots []objects.Hash
		all := rapid.SliceOfN(trees, 1, 5).Draw(t, "trees")
		for i, tr := range all {
			roots = append(roots, tr.write(t, s, fmt.Sprint(i)))
		}
		for i, tr := range all {
			check(t, objects.Open(mem, "/files"), roots[i], tr)
			for j := range all {
				compare(t, s, roots[i], roots[j], tr, all[j])
			}
		}
		kept := rapid.Permutation(roots).Draw(t, "kept")[:rapid.IntRange(0, len(roots)).Draw(t, "number")]
		if _, err := s.Sweep("sweep", kept); err != nil {
			t.Fatal(err)
		}
		for i, tr := range all {
			if slices.Contains(kept, roots[i]) {
				check(t, objects.Open(mem, "/files"), roots[i], tr)
			}
		}
		if _, err := s.Sweep("empty", nil); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Bytes(); n != 0 || err != nil {
			t.Fatalf("an empty store has %d bytes, %v", n, err)
		}
	})
}

func compare(t *rapid.T, s *objects.Store, a, b objects.Hash, before, after tree) {
	t.Helper()
	want, got := tree{}, tree{}
	for name := range maps.Keys(before) {
		if content, ok := after[name]; !ok || content != before[name] {
			want[name] = ""
		}
	}
	for name := range maps.Keys(after) {
		if _, ok := before[name]; !ok {
			want[name] = ""
		}
	}
	for c, err := range s.Compare(a, b) {
		if err != nil {
			t.Fatal(err)
		}
		if _, was := before[c.Path]; was == c.Before.IsZero() || c.Before == c.After {
			t.Fatalf("%+v", c)
		}
		got[c.Path] = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// The example of a directory in the format, byte by byte.
func TestDirectoryFormat(t *testing.T) {
	h := objects.HashOf([]byte("hi"))
	root, err := objects.Tree([]objects.File{
		{Path: "b/c", Entry: objects.Entry{Mode: objects.ModeFile | 0o755, Hash: h, Size: 300}},
		{Path: "a", Entry: objects.Entry{Mode: objects.ModeLink, Hash: h, Size: 2}},
	}, objects.HashObject)
	if err != nil {
		t.Fatal(err)
	}
	sub := objects.HashOf([]byte("\x00\x00\x81\xed" + string(h[:]) + "\xac\x02c\x00"))
	want := objects.HashOf([]byte("\x00\x00\xa0\x00" + string(h[:]) + "\x02a\x00" + "\x00\x00\x40\x00" + string(sub[:]) + "\x00b\x00"))
	if root != want {
		t.Errorf("the tree has the hash %s, want %s", root, want)
	}
}

// steps are the trees that the tests of faults store.
var steps = []tree{
	{"a": "one", "d/b": "two"}, {"a": "one", "d/b": strings.Repeat("three", 99)}, {"d/e/f": "four"},
}

// After a power cut at any moment, each capture whose Write returned nil is whole, and the store takes the next one.
func TestPowerCut(t *testing.T) {
	seeds := uint64(60)
	if sizetest.Full() {
		seeds = 2000
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		mem := journaltest.NewMem()
		faulty := journaltest.New(mem)
		var after *journaltest.Mem
		cut, ops := random.IntN(60), 0
		faulty.Before(func() {
			if ops++; ops == cut {
				after = mem.PowerCut(func() bool { return random.IntN(2) == 0 })
			}
		})
		s, roots, done := objects.Open(faulty, "/files"), []objects.Hash{}, 0
		for i, tr := range steps {
			roots = append(roots, tr.write(t, s, fmt.Sprint(i)))
			if after == nil {
				done = i + 1
			}
		}
		if after == nil {
			after = mem.PowerCut(func() bool { return random.IntN(2) == 0 })
		}
		restarted := objects.Open(after, "/files")
		for i := range done {
			check(t, restarted, roots[i], steps[i])
		}
		for i, tr := range steps {
			check(t, restarted, tr.write(t, restarted, fmt.Sprint("again", i)), tr)
		}
	}
}

// A sweep that is cut off at any moment leaves the trees that are needed.
func TestPowerCutInSweep(t *testing.T) {
	for cut := range 40 {
		mem := journaltest.NewMem()
		faulty := journaltest.New(mem)
		s := objects.Open(faulty, "/files")
		var roots []objects.Hash
		for i, tr := range steps {
			roots = append(roots, tr.write(t, s, fmt.Sprint(i)))
		}
		var images []*journaltest.Mem
		ops := 0
		faulty.Before(func() {
			if ops++; ops == cut {
				for _, image := range mem.Images(4, uint64(cut)) {
					images = append(images, image)
				}
			}
		})
		if _, err := s.Sweep("sweep", roots[1:2]); err != nil {
			t.Fatal(err)
		}
		faulty.Before(func() {})
		for _, image := range append(images, mem) {
			check(t, objects.Open(image, "/files"), roots[1], steps[1])
		}
	}
}

// Any operation that fails is reported, nothing that is stored is lost, and the next try succeeds.
func TestFailures(t *testing.T) {
	for nth := range 40 {
		mem := journaltest.NewMem()
		fsys := journaltest.New(mem)
		s := objects.Open(fsys, "/files")
		first := steps[0].write(t, s, "0")
		fsys.Fail(nth+1, errors.New("broken"))
		var second objects.Hash
		err := s.Write("1", func(w *objects.Writer) (err error) {
			second, err = objects.Tree(steps[1].files(t, w), w.Put)
			return err
		})
		failed := fsys.Failed()
		if (err == nil) == failed {
			t.Fatalf("operation %d fails: %v, Write returns %v\n%s", nth+1, failed, err, fsys)
		}
		fsys.Heal()
		check(t, objects.Open(mem, "/files"), first, steps[0])
		if err == nil {
			check(t, s, second, steps[1])
			return
		}
		check(t, s, steps[1].write(t, s, "2"), steps[1])
	}
	t.Fatal("no number of operations is enough")
}

// A changed byte anywhere in a pack is found: the content is as it was, or an error that is not that of an absent file.
func TestDamage(t *testing.T) {
	mem := journaltest.NewMem()
	root := steps[1].write(t, objects.Open(mem, "/files"), "0")
	whole, err := vfs.ReadFile(mem, "/files/0.pack", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		for _, damaged := range [][]byte{flip(whole, at), whole[:at]} {
			disk := journaltest.NewMem()
			if _, err := vfs.MkdirAll(disk, "/files"); err != nil {
				t.Fatal(err)
			}
			if err := vfs.WriteFile(disk, "/files/0.pack", damaged); err != nil {
				t.Fatal(err)
			}
			s := objects.Open(disk, "/files")
			got, err := read(s, root)
			var isDamaged *objects.DamagedError
			switch {
			case err == nil && cmp.Equal(got, steps[1]):
			case errors.As(err, &isDamaged) && !errors.Is(err, os.ErrNotExist):
				s.Sweep("sweep", []objects.Hash{root})
				if kept, err := vfs.ReadFile(disk, "/files/0.pack", 1<<20); err != nil || !bytes.Equal(kept, damaged) {
					t.Errorf("byte %d: a sweep removes what is damaged: %v", at, err)
				}
			default:
				t.Errorf("byte %d: %q, %v", at, got, err)
			}
		}
	}
}

func flip(data []byte, at int) []byte {
	changed := slices.Clone(data)
	changed[at] ^= 1
	return changed
}

func TestMissingObjectIsAnError(t *testing.T) {
	s := objects.Open(journaltest.NewMem(), "/files")
	var missing *objects.MissingError
	if _, err := s.Read(objects.HashOf([]byte("x"))); !errors.As(err, &missing) || errors.Is(err, os.ErrNotExist) {
		t.Errorf("Read returns %v", err)
	}
	if _, err := s.Files(objects.Hash{}); !errors.As(err, &missing) {
		t.Errorf("Files returns %v", err)
	}
}

// On a real disk, packs are private, a link in the place of a pack is refused, and unfinished packs are removed.
func TestFilesOfTheStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files", "0123")
	s := objects.Open(vfs.OS, dir)
	root := steps[0].write(t, s, "0")
	if err := os.WriteFile(filepath.Join(dir, "9.pack.01234567.tmp"), []byte("unfinished"), 0o600); err != nil {
		t.Fatal(err)
	}
	steps[1].write(t, s, "1")
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = path.Base(filepath.ToSlash(name))
	}
	if diff := cmp.Diff([]string{"0.pack", "1.pack"}, names); diff != "" {
		t.Error(diff)
	}
	check(t, s, root, steps[0])
}

// Objects that the store has are not stored again.
func TestNoObjectTwice(t *testing.T) {
	mem := journaltest.NewMem()
	s := objects.Open(mem, "/files")
	steps[1].write(t, s, "0")
	before, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	steps[1].write(t, objects.Open(mem, "/files"), "1")
	if after, err := s.Bytes(); err != nil || after != before {
		t.Errorf("the store has %d bytes after %d, %v", after, before, err)
	}
	err = s.Write("2", func(*objects.Writer) error { return io.ErrUnexpectedEOF })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Write returns %v", err)
	}
}
