package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

const restoreID = "01K9ZZZZZZZZZZZZZZZZZZZZZZ"

// A tree is the files and links of a directory by their paths.
type tree map[string]objects.Entry

// contents is a store in memory.
type contents map[objects.Hash][]byte

func (c contents) read(h objects.Hash) ([]byte, error) {
	content, ok := c[h]
	if !ok {
		return nil, &objects.MissingError{Hash: h}
	}
	return content, nil
}

// capture returns the tree of a directory, without the files of restores, and keeps its contents.
func (c contents) capture(t testing.TB, root string) tree {
	t.Helper()
	files := tree{}
	must(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || isTemp(entry.Name()) {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		e, content, err := readEntry(file)
		if err != nil {
			return err
		}
		c[e.Hash] = content
		files[filepath.ToSlash(name)] = e
		return nil
	}))
	return files
}

// readEntry returns the entry and the content of a file or link.
func readEntry(file string) (objects.Entry, []byte, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return objects.Entry{}, nil, err
	}
	e := objects.Entry{Mode: objects.ModeFile | uint32(info.Mode().Perm())}
	for bit, mode := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&bit != 0 {
			e.Mode |= mode
		}
	}
	var content []byte
	if info.Mode()&fs.ModeSymlink != 0 {
		var text string
		text, err = os.Readlink(file)
		e.Mode, content = objects.ModeLink, []byte(text)
	} else {
		content, err = os.ReadFile(file)
	}
	e.Hash, e.Size = objects.HashOf(content), int64(len(content))
	return e, content, err
}

// changes returns what differs between two trees, sorted.
func changes(before, after tree) []objects.Change {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var list []objects.Change
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != after[name] {
			list = append(list, objects.Change{Path: name, Before: before[name], After: after[name]})
		}
	}
	return list
}

// leftovers returns the files of restores in a directory.
func leftovers(t testing.TB, root string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if isTemp(filepath.Base(file)) {
			names = append(names, file)
		}
		return err
	}))
	return names
}

// agentsPlan plans to undo a turn that changed all that differs.
func agentsPlan(root string, target, present tree) Plan {
	return NewPlan([]Span{{Turn: &Turn{Name: "turn 1"}, Changes: changes(target, present)}},
		PlanOptions{Times: TimesBelow(root)})
}

// put writes files with contents; a content of "-> TEXT" makes a link.
func put(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if text, ok := strings.CutPrefix(files[name], "-> "); ok {
			must(t, os.Symlink(text, file))
		} else {
			must(t, os.WriteFile(file, []byte(files[name]), 0o644))
		}
	}
}

// A scenario is a directory before and after a turn.
type scenario struct{ before, after map[string]string }

// run makes the directory, as it was before the turn and then after it, and returns both trees.
func (s scenario) run(t testing.TB, root string, store contents) (before, after tree) {
	t.Helper()
	put(t, root, s.before)
	before = store.capture(t, root)
	entries, err := os.ReadDir(root)
	must(t, err)
	for _, entry := range entries {
		must(t, os.RemoveAll(filepath.Join(root, entry.Name())))
	}
	put(t, root, s.after)
	return before, store.capture(t, root)
}

var scenarios = map[string]scenario{
	"replace": {map[string]string{"d/x": "old"}, map[string]string{"d/x": "new"}},
	"create":  {map[string]string{"d/x": "old", "y": "y"}, map[string]string{"y": "y"}},
	"remove":  {map[string]string{"y": "y"}, map[string]string{"d/x": "new", "y": "y"}},
	"file in place of a directory": {
		map[string]string{"d/x": "old", "d/e/y": "old"}, map[string]string{"d": "new"},
	},
	"directory in place of a file": {
		map[string]string{"d": "old"}, map[string]string{"d/x": "new", "d/e/y": "new"},
	},
}

func TestRestoreAndUndo(t *testing.T) {
	for name, s := range scenarios {
		for _, noExchange := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without exchange: %t", name, noExchange), func(t *testing.T) {
				root, store := realTemp(t), contents{}
				before, after := s.run(t, root, store)
				o := RestoreOptions{ID: restoreID, Root: root, Read: store.read, noExchange: noExchange}
				for _, want := range []struct{ target, present tree }{{before, after}, {after, before}} {
					got, err := Restore(t.Context(), agentsPlan(root, want.target, want.present), o)
					must(t, err)
					if len(got.Kept)+len(got.Failed) > 0 {
						t.Errorf("kept %v, failed %v", got.Kept, got.Failed)
					}
					if diff := cmp.Diff(want.target, store.capture(t, root)); diff != "" {
						t.Error(diff)
					}
				}
				if left := leftovers(t, root); left != nil {
					t.Errorf("left %q", left)
				}
			})
		}
	}
}

// planAfterCrash is agentsPlan after an interrupted restore.
func planAfterCrash(root string, target, before, present tree) Plan {
	history := []Span{{Turn: &Turn{Name: "turn 1"}, Changes: changes(target, before)}}
	restored := func(path string) objects.Entry { return target[path] }
	history = append(history, SplitRestore(&Turn{Name: "restore"}, changes(before, present), restored)...)
	return NewPlan(history, PlanOptions{Times: TimesBelow(root)})
}

// errCrash is the panic of a crash in a test.
var errCrash = errors.New("crash")

// crashing restores until the operation n, and calls a function before each operation. It reports whether it came so
// far.
func crashing(t testing.TB, p Plan, o RestoreOptions, n int, before func()) (crashed bool) {
	t.Helper()
	defer func() {
		if p := recover(); p == errCrash {
			crashed = true
		} else if p != nil {
			panic(p)
		}
	}()
	o.before = func(string) {
		if n--; n < 0 {
			panic(errCrash)
		}
		before()
	}
	_, err := Restore(t.Context(), p, o)
	must(t, err)
	return false
}

func TestCrashLeavesEachPathOldOrNew(t *testing.T) {
	for name, s := range scenarios {
		for _, noExchange := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without exchange: %t", name, noExchange), func(t *testing.T) {
				for n, crashed := 0, true; crashed; n++ {
					root, store := realTemp(t), contents{}
					before, after := s.run(t, root, store)
					o := RestoreOptions{ID: restoreID, Root: root, Read: store.read, noExchange: noExchange}
					crashed = crashing(t, agentsPlan(root, before, after), o, n, func() {})
					checkRecovered(t, root, store, before, after)
					_, err := Restore(t.Context(), planAfterCrash(root, before, after, store.capture(t, root)), o)
					must(t, err)
					if diff := cmp.Diff(before, store.capture(t, root)); diff != "" {
						t.Errorf("restored after a crash at operation %d:\n%s", n, diff)
					}
				}
			})
		}
	}
}

// checkRecovered recovers a directory after a crash, and checks that each path is as it was before the restore or as
// its target.
func checkRecovered(t testing.TB, root string, store contents, target, present tree) {
	t.Helper()
	left, err := Recover(root, restoreID, changes(present, target))
	must(t, err)
	if names := leftovers(t, root); left != nil || names != nil {
		t.Errorf("left %v, files %q", left, names)
	}
	got := store.capture(t, root)
	for _, c := range changes(present, target) {
		if now := got[c.Path]; now != c.Before && now != c.After {
			t.Errorf("%s is %v, want %v or %v", c.Path, now, c.Before, c.After)
		}
	}
}

// saves are ways in which a person saves a path.
var saves = map[string]func(file, content string) error{
	"overwrite": func(file, content string) error { return os.WriteFile(file, []byte(content), 0o644) },
	"rename over": func(file, content string) error {
		if err := os.WriteFile(file+"~", []byte(content), 0o644); err != nil {
			return err
		}
		return os.Rename(file+"~", file)
	},
	"replace by a link": func(file, content string) error {
		if err := os.Symlink(content, file+"~"); err != nil {
			return err
		}
		return os.Rename(file+"~", file)
	},
}

// savedIn reports whether a directory has a file or link with a content, under any name.
func savedIn(t testing.TB, root, content string) bool {
	t.Helper()
	found := false
	must(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, got, err := readEntry(file)
		found = found || string(got) == content
		return err
	}))
	return found
}

func TestSaveDuringARestoreIsNotLost(t *testing.T) {
	for name, s := range scenarios {
		for how, save := range saves {
			for _, noExchange := range []bool{false, true} {
				for _, second := range []bool{false, true} { // the path is saved again before the next operation
					t.Run(fmt.Sprintf("%s, %s, without exchange: %t, twice: %t", name, how, noExchange, second),
						func(t *testing.T) { testSaves(t, s, save, noExchange, second) })
				}
			}
		}
	}
}

// testSaves saves each path before each operation of a restore.
func testSaves(t *testing.T, s scenario, save func(file, content string) error, noExchange, twice bool) {
	for n, more := 0, true; more; n++ {
		for _, name := range slices.Sorted(maps.Keys(s.before)) {
			root, store := realTemp(t), contents{}
			before, after := s.run(t, root, store)
			o := RestoreOptions{ID: restoreID, Root: root, Read: store.read, noExchange: noExchange}
			var saved []string
			at, i := "", 0
			o.before = func(operation string) {
				if i == n || twice && i == n+1 {
					content := fmt.Sprintf("saved %d", i)
					if save(filepath.Join(root, filepath.FromSlash(name)), content) == nil {
						saved = append(saved[:0], content) // a save may replace the one before
					}
					at = operation
				}
				i++
			}
			got, err := Restore(t.Context(), agentsPlan(root, before, after), o)
			must(t, err)
			for _, content := range saved {
				if !savedIn(t, root, content) {
					t.Errorf("%s, saved before operation %d (%s), is lost: %+v", name, n, at, got)
				}
			}
			more = i > n
		}
	}
}

func TestSaveBeforeACrashIsRecovered(t *testing.T) {
	for _, name := range []string{"replace", "remove"} {
		for how, save := range saves {
			for n, crashed := 0, true; crashed; n++ {
				root, store := realTemp(t), contents{}
				before, after := scenarios[name].run(t, root, store)
				file, i := filepath.Join(root, "d", "x"), 0
				o := RestoreOptions{ID: restoreID, Root: root, Read: store.read}
				crashed = crashing(t, agentsPlan(root, before, after), o, n+1, func() {
					if i++; i == n+1 {
						must(t, save(file, "saved"))
					}
				})
				left, err := Recover(root, restoreID, changes(after, before))
				must(t, err)
				_, content, err := readEntry(file)
				if string(content) != "saved" || left != nil || leftovers(t, root) != nil {
					t.Errorf("%s: %s before operation %d: %q, %v, left %v", name, how, n, content, err, left)
				}
			}
		}
	}
}

func TestRestoreKeepsWhatChangedAfterThePlan(t *testing.T) {
	root, store := realTemp(t), contents{}
	put(t, root, map[string]string{"deleted": "1", "edited": "1", "mode": "1", "gone/x": "1", "parent/x": "1"})
	target := store.capture(t, root)
	put(t, root, map[string]string{
		"deleted": "2", "edited": "2", "mode": "2", "gone/x": "2", "parent/x": "2", "new": "2", "d/new": "2",
	})
	must(t, os.Remove(filepath.Join(root, "deleted")))
	present := store.capture(t, root)
	plan := agentsPlan(root, target, present)
	put(t, root, map[string]string{"deleted": "3", "edited": "3", "new": "3"})
	must(t, os.Chmod(filepath.Join(root, "mode"), 0o444))
	must(t, os.RemoveAll(filepath.Join(root, "gone")))
	must(t, os.RemoveAll(filepath.Join(root, "d")))
	must(t, os.RemoveAll(filepath.Join(root, "parent")))
	put(t, root, map[string]string{"parent": "3"})
	want := store.capture(t, root)
	got, err := Restore(t.Context(), plan, RestoreOptions{
		ID: restoreID, Root: root, Read: store.read,
		before: func(operation string) {
			if operation == "rename away" || operation == "exchange" {
				t.Errorf("%s of a path that has changed", operation)
			}
		},
	})
	must(t, err)
	var kept []string
	for _, k := range got.Kept {
		kept = append(kept, k.Path)
	}
	slices.Sort(kept)
	if len(got.Written)+len(got.Removed)+len(got.Failed) > 0 || len(kept) != 7 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(want, store.capture(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestMissingContentFails(t *testing.T) {
	root, store := realTemp(t), contents{}
	before, after := scenarios["replace"].run(t, root, store)
	delete(store, before["d/x"].Hash)
	got, err := Restore(t.Context(), agentsPlan(root, before, after),
		RestoreOptions{ID: restoreID, Root: root, Read: store.read})
	must(t, err)
	if len(got.Failed) != 1 || got.Failed[0].Path != "d/x" || got.Written != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(after, store.capture(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestRecoverLeavesUnknownVersions(t *testing.T) {
	root, store := realTemp(t), contents{}
	before, after := scenarios["replace"].run(t, root, store)
	name := path.Join("d", tempName(restoreID, "d/x"))
	put(t, root, map[string]string{name: "saved", "d/x": "saved later"})
	left, err := Recover(root, restoreID, changes(after, before))
	must(t, err)
	if len(left) != 1 || left[0].Path != name || !savedIn(t, root, "saved") || !savedIn(t, root, "saved later") {
		t.Errorf("left %v", left)
	}
}

func TestFoldsCaseIsThatOfTheDirectory(t *testing.T) {
	root := realTemp(t)
	put(t, root, map[string]string{"1": "", "Name": ""})
	_, err := os.Lstat(filepath.Join(root, "nAME"))
	if got := FoldsCase(root); got != (err == nil) {
		t.Errorf("got %t, and another case of a name: %v", got, err)
	}
}

// No capture has empty directories: those in the place of a file are removed with it, and a directory that has a file
// which is in no capture stays whole.
func TestRestoreOfAFileThatBecameADirectory(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		store, root := contents{}, t.TempDir()
		put(t, root, map[string]string{"a": "file"})
		target := store.capture(t, root)
		if err := os.Remove(filepath.Join(root, "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, "a", "b", "c"), 0o755); err != nil {
			t.Fatal(err)
		}
		plan := agentsPlan(root, target, store.capture(t, root))
		if hidden {
			put(t, root, map[string]string{"a/b/d": "not captured"})
		}
		got, err := Restore(t.Context(), plan, RestoreOptions{ID: restoreID, Root: root, Read: store.read})
		if err != nil || len(got.Kept) > 0 != hidden || len(got.Written) > 0 == hidden {
			t.Errorf("hidden %t: %+v, %v", hidden, got, err)
		}
		if _, err := os.Stat(filepath.Join(root, "a", "b", "c")); (err == nil) != hidden {
			t.Errorf("hidden %t: the directory in it: %v", hidden, err)
		}
	}
}
