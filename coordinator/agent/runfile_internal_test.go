package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRunFilesOfDeadProcessesAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // on Windows
	path, remove, err := newRunFile("a.json", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(os.TempDir(), runFilePrefix+"left") // its lock is not held
	other := filepath.Join(os.TempDir(), "other")
	for _, dir := range []string{left, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, "a.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	removeLeftRunFiles(time.Now())
	for what, name := range map[string]string{"young": left, "used": path, "other": other} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	removeLeftRunFiles(time.Now().Add(2 * runFileAge))
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
	for what, name := range map[string]string{"used": path, "other": other} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	remove()
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("removed: %v", err)
	}
}
