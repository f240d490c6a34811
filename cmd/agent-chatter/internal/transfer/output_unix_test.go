//go:build unix

package transfer

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestDirectoryOfExportsIsCreated(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	dir := filepath.Join(t.TempDir(), "a", "b")
	path, err := outputPath(dir+"/", "name")
	if err != nil || path != filepath.Join(dir, "name") {
		t.Errorf("%s, %v", path, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestExportNeedsItsDirectory(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"md", "bundle"} {
		stdout, stderr, code := runCommand(t, home, &Export{All: true, Format: format, To: filepath.Join(file, "x") + "/"})
		if stdout != "" || code != app.ExitFailed || !strings.Contains(stderr, file) {
			t.Errorf("%s: exit code %d, it printed %q and %q", format, code, stdout, stderr)
		}
	}
}

func TestBundleOfOneSessionHasItsName(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	apptest.CrashedSession(t, home)
	want := filepath.Join(dir, apptest.AliceID+".bundle")
	if _, stderr, code := runCommand(t, home, &Export{All: true, Format: "bundle", To: dir + "/"}); code != 0 ||
		stderr != "Written: "+want+"\n" {
		t.Errorf("exit code %d, it printed %q", code, stderr)
	}
	if _, stderr, code := runCommand(t, home, &Import{Path: []string{want}, Format: "auto", AsNew: true}); code != 0 {
		t.Error(stderr)
	}
}

// A journal that is not named like one is copied to be read.
func TestImportLeavesNoTemporaryFile(t *testing.T) {
	home, dir, temporary := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	journal := filepath.Join(apptest.CrashedSession(t, home).Path(), apptest.AliceID+".jsonl")
	content, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		content string
		code    int
	}{"copy.txt": {string(content), 0}, "copy.jsonl.zst": {"no archive", app.ExitFailed}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := runCommand(t, t.TempDir(), &Import{Path: []string{path}, Format: "journal"}); code != test.code {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
	copied, remove, err := copyJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info.Mode(), err)
	}
}

func TestFullDeviceIsReported(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	err := WriteFile("/dev/full", func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err == nil {
		t.Error("no error")
	}
}
