//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// restoreTo sets a directory back to a tree, after the change of a function between the plan and the restore.
func restoreTo(t *testing.T, root string, store contents, target tree, meanwhile func()) Result {
	t.Helper()
	plan := agentsPlan(root, target, store.capture(t, root))
	meanwhile()
	got, err := Restore(t.Context(), plan, RestoreOptions{ID: restoreID, Root: root, Read: store.read})
	must(t, err)
	return got
}

func TestRestoreDoesNotOpenSpecialFiles(t *testing.T) {
	root, store := realTemp(t), contents{}
	put(t, root, map[string]string{"deleted": "1", "edited": "1"})
	target := store.capture(t, root)
	put(t, root, map[string]string{"edited": "2", "new": "2"})
	must(t, os.Remove(filepath.Join(root, "deleted")))
	got := restoreTo(t, root, store, target, func() {
		for _, name := range []string{"deleted", "edited", "new"} {
			os.Remove(filepath.Join(root, name))
			must(t, syscall.Mkfifo(filepath.Join(root, name), 0o600))
		}
	})
	if len(got.Kept) != 3 || len(got.Written)+len(got.Removed)+len(got.Failed) > 0 {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"deleted", "edited", "new"} {
		if info, err := os.Lstat(filepath.Join(root, name)); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestRestoreDoesNotFollowLinks(t *testing.T) {
	root, outside, store := realTemp(t), realTemp(t), contents{}
	for _, dir := range []string{root, outside} {
		put(t, dir, map[string]string{"d/edited": "1", "d/deleted": "1", "other/x": "1"})
	}
	target := store.capture(t, root)
	for _, dir := range []string{root, outside} {
		put(t, dir, map[string]string{"d/edited": "2", "d/new": "2"})
		must(t, os.Remove(filepath.Join(dir, "d", "deleted")))
	}
	before := store.capture(t, outside)
	for _, link := range []string{filepath.Join(outside, "d"), "other"} {
		got := restoreTo(t, root, store, target, func() {
			must(t, os.RemoveAll(filepath.Join(root, "d")))
			must(t, os.Symlink(link, filepath.Join(root, "d")))
		})
		if len(got.Kept) != 3 || len(got.Written)+len(got.Removed)+len(got.Failed) > 0 {
			t.Errorf("link to %s: %+v", link, got)
		}
		if diff := cmp.Diff(before, store.capture(t, outside)); diff != "" {
			t.Errorf("link to %s: %s", link, diff)
		}
		must(t, os.Remove(filepath.Join(root, "d")))
		put(t, root, map[string]string{"d/edited": "2", "d/new": "2"})
	}
}

func TestRestoreOfARootThatIsALinkFails(t *testing.T) {
	link := filepath.Join(realTemp(t), "link")
	must(t, os.Symlink(realTemp(t), link))
	if _, err := Restore(t.Context(), Plan{}, RestoreOptions{ID: restoreID, Root: link}); err == nil {
		t.Error("no error")
	}
}

func TestRestoreNeverWritesToGit(t *testing.T) {
	root, store := realTemp(t), contents{}
	put(t, root, map[string]string{".git/config": "1", "d/.GIT/config": "1"})
	target := store.capture(t, root)
	put(t, root, map[string]string{".git/config": "2", "d/.GIT/config": "2"})
	want := store.capture(t, root)
	got := restoreTo(t, root, store, target, func() {})
	if len(got.Kept) != 2 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(want, store.capture(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestRestoreSetsModes(t *testing.T) {
	root, store := realTemp(t), contents{}
	modes := map[string]fs.FileMode{
		"private": 0o600, "readonly": 0o444, "program": 0o755, "setuid": 0o755 | fs.ModeSetuid, "open": 0o666,
	}
	for name, mode := range modes {
		put(t, root, map[string]string{name: "1"})
		must(t, os.Chmod(filepath.Join(root, name), mode))
	}
	target := store.capture(t, root)
	for name := range modes {
		must(t, os.Chmod(filepath.Join(root, name), 0o640))
	}
	if got := restoreTo(t, root, store, target, func() {}); len(got.Written) != len(modes) {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(target, store.capture(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestRestoreOfAHardLinkLeavesItsOtherName(t *testing.T) {
	root, store := realTemp(t), contents{}
	put(t, root, map[string]string{"x": "1"})
	target := store.capture(t, root)
	put(t, root, map[string]string{"x": "2"})
	other := filepath.Join(realTemp(t), "other")
	must(t, os.Link(filepath.Join(root, "x"), other))
	if got := restoreTo(t, root, store, target, func() {}); !slices.Equal(got.Written, []string{"x"}) {
		t.Errorf("%+v", got)
	}
	if data, err := os.ReadFile(other); string(data) != "2" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestRestoreInAReadOnlyDirectoryFails(t *testing.T) {
	if asUnprivileged(t) {
		return
	}
	root, store := realTemp(t), contents{}
	put(t, root, map[string]string{"d/deleted": "1", "d/edited": "1", "x": "1"})
	target := store.capture(t, root)
	put(t, root, map[string]string{"d/edited": "2", "d/new": "2", "x": "2"})
	must(t, os.Remove(filepath.Join(root, "d", "deleted")))
	dir := filepath.Join(root, "d")
	got := restoreTo(t, root, store, target, func() { must(t, os.Chmod(dir, 0o555)) })
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if len(got.Failed) != 3 || !slices.Equal(got.Written, []string{"x"}) || len(got.Kept)+len(got.Removed) > 0 {
		t.Errorf("%+v", got)
	}
	for _, failed := range got.Failed {
		if !strings.Contains(failed.Why, "permission denied") {
			t.Errorf("%+v", failed)
		}
	}
}

func TestRenameByLinkReplacesNothing(t *testing.T) {
	root := realTemp(t)
	put(t, root, map[string]string{"from": "1", "used": "2", "link": "-> missing"})
	d, err := openDir(root, ".", false)
	must(t, err)
	defer d.close()
	if err := d.renameByLink("from", "used"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name in use: %v", err)
	}
	must(t, d.renameByLink("from", "to"))
	must(t, d.renameByLink("link", "moved"))
	if text, err := os.Readlink(filepath.Join(root, "moved")); text != "missing" {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{"from", "link"} {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
