package transfer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestOutputPath(t *testing.T) {
	dir := t.TempDir()
	file, created := filepath.Join(dir, "file"), filepath.Join(dir, "a", "b")
	for path, want := range map[string]string{
		file: file, dir: filepath.Join(dir, "name"), created + string(filepath.Separator): filepath.Join(created, "name"),
	} {
		if got, err := outputPath(path, "name"); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", path, got, err, want)
		}
	}
	if info, err := os.Stat(created); err != nil || !info.IsDir() {
		t.Errorf("the directory was not created: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := outputPath(filepath.Join(file, "a")+string(filepath.Separator), "name"); err == nil {
		t.Error("a directory in a file was created")
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, writeErr := io.WriteString(w, text)
			return errors.Join(writeErr, err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("the file has %q, %v, want %q", got, err, want)
		}
	}
	if err := WriteFile(file, write("new", nil)); err != nil {
		t.Error(err)
	}
	check("new")
	failure := errors.New("failure")
	if err := WriteFile(file, write("half", failure)); !errors.Is(err, failure) {
		t.Errorf("a failed write returns %v", err)
	}
	check("new")
	programtest.SkipOnWindows(t, os.Symlink(file, link))
	if err := WriteFile(link, write("through the link", nil)); err != nil {
		t.Error(err)
	}
	check("through the link")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "file"), write("", nil)); app.CodeOf(err) != app.ExitFailed {
		t.Errorf("without the directory: %v", err)
	}
}
