//go:build unix && !darwin

package web

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// desktop makes a program that opens nothing, in place of that of the desktop. It copies its argument and what the file
// of that name contains.
func desktop(t *testing.T, code string) (argument, contents string) {
	t.Helper()
	dir := t.TempDir()
	argument, contents = filepath.Join(dir, "argument"), filepath.Join(dir, "contents")
	script := "#!/bin/sh\nprintf %s \"$*\" > " + argument + "\ncat \"$1\" > " + contents + "\nexit " + code + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return argument, contents
}

func TestOpenShowsTheAddressToTheUserOnly(t *testing.T) {
	argument, contents := desktop(t, "0")
	t.Setenv("TMPDIR", t.TempDir())
	f, err := NewOpenFile("http://127.0.0.1:1/#token=sesame&<x>")
	if err == nil {
		err = f.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	path, _ := os.ReadFile(argument)
	got, _ := os.ReadFile(contents)
	if strings.Contains(string(path), "sesame") ||
		!strings.Contains(string(got), `content="0;url=http://127.0.0.1:1/#token=sesame&amp;&lt;x&gt;"`) {
		t.Errorf("the program was given %s, which is\n%s", path, got)
	}
	file, err := os.Stat(string(path))
	if err != nil || file.Mode() != 0o600 {
		t.Errorf("the file: %v, %v", file, err)
	}
	dir, err := os.Stat(filepath.Dir(string(path)))
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v", dir, err)
	}
	f.Remove()
	if _, err := os.Stat(filepath.Dir(string(path))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was not removed: %v", err)
	}
}

func TestOpenReportsFailures(t *testing.T) {
	desktop(t, "3")
	t.Setenv("TMPDIR", t.TempDir())
	f, err := NewOpenFile("http://127.0.0.1:1/")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Remove()
	if err := f.Open(); !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("the program failed: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := f.Open(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("there is no program: %v", err)
	}
	if name, err := FindBrowser(); name != "xdg-open" || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Find: %s, %v", name, err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := NewOpenFile("http://127.0.0.1:1/"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is no directory: %v", err)
	}
}
