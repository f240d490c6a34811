//go:build unix

package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// newOwned returns a home with one of each of the deciding files, and without any right of others.
func newOwned(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"team-config", "agents"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"config.json", "trust.json", "agents/config.json", "devices.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOthersCannotWriteWhatDecides(t *testing.T) {
	if err := CheckOwner(newOwned(t)); err != nil {
		t.Error(err)
	}
	if err := CheckOwner(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{".", "config.json", "trust.json", "team-config", "agents", "agents/config.json", "devices.json"} {
		dir := newOwned(t)
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		var found *OthersError
		if err := CheckOwner(dir); !errors.As(err, &found) || found.Path != path || found.Owner != -1 {
			t.Errorf("%s with mode 0777: %v", name, err)
		}
		if name == "." {
			continue
		}
		if err := errors.Join(os.Chmod(dir, 0o700), CheckOwner(dir)); err != nil {
			t.Errorf("%s in a home that others cannot enter: %v", name, err)
		}
	}
}

func TestFilesOfOtherUsersAreNotTrusted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	for _, name := range []string{".", "config.json", "trust.json", "team-config", "agents", "agents/config.json", "devices.json"} {
		for _, mode := range []fs.FileMode{0o755, 0o700} {
			dir := newOwned(t)
			if err := errors.Join(os.Chmod(dir, mode), os.Lchown(filepath.Join(dir, name), 65534, -1)); err != nil {
				t.Fatal(err)
			}
			var found *OthersError
			if err := CheckOwner(dir); !errors.As(err, &found) || found.Owner != 65534 {
				t.Errorf("%s of another user in a home of mode %o: %v", name, mode, err)
			}
		}
	}
}

// A group whose number is that of the owner is the owner's own.
func TestOtherGroupsCannotWriteWhatDecides(t *testing.T) {
	for gid, wrong := range map[int]bool{os.Geteuid(): false, os.Geteuid() + 1: true} {
		dir := newOwned(t)
		path := filepath.Join(dir, "trust.json")
		if err := os.Chown(path, -1, gid); err != nil {
			t.Skip(err)
		}
		if err := os.Chmod(path, 0o664); err != nil {
			t.Fatal(err)
		}
		if err := CheckOwner(dir); (err != nil) != wrong {
			t.Errorf("the group %d: %v", gid, err)
		}
	}
}

// A link in a home points to a file that others can replace, if they can write its directory.
func TestTargetsOfLinksAreChecked(t *testing.T) {
	dir := newOwned(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	target, link := filepath.Join(elsewhere, "mine.json"), filepath.Join(dir, "team-config", "mine.json")
	if err := errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, link), os.Chmod(elsewhere, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := CheckFileOwner(dir, link); err != nil {
		t.Error(err)
	}
	for _, change := range []struct {
		path  string
		mode  fs.FileMode
		wrong bool
	}{
		{target, 0o666, true}, {target, 0o644, false}, {elsewhere, 0o777, true},
		{elsewhere, 0o777 | fs.ModeSticky, false},
	} {
		if err := os.Chmod(change.path, change.mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckFileOwner(dir, link); (err != nil) != change.wrong {
			t.Errorf("%s with mode %v: %v", change.path, change.mode, err)
		}
	}
}
