//go:build unix

package changes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// An export creates a file and touches nothing that exists, whatever it is.
func TestExportReplacesNothing(t *testing.T) {
	for _, test := range []struct {
		name string
		put  func(dir, path string) error
		want string // of the error
	}{
		{"a file", func(_, path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }, "exists already"},
		{"an empty file", func(_, path string) error { return os.WriteFile(path, nil, 0o600) }, "exists already"},
		{"a link to a file", func(dir, path string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600), os.Symlink("mine", path))
		}, "exists already"},
		{"a link to nothing", func(_, path string) error { return os.Symlink("planted", path) }, "exists already"},
		{"a link to itself", func(_, path string) error { return os.Symlink(filepath.Base(path), path) }, "exists already"},
		{"a hard link", func(dir, path string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600),
				os.Link(filepath.Join(dir, "mine"), path))
		}, "exists already"},
		{"a named pipe", func(_, path string) error { return syscall.Mkfifo(path, 0o600) }, "exists already"},
		{"a link to a device", func(_, path string) error { return os.Symlink(os.DevNull, path) }, "exists already"},
		{"a file in a directory of this name", func(_, path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, first+".md"), []byte("mine"), 0o600))
		}, "exists already"},
		{"a directory that may not be written", func(_, path string) error { return os.Mkdir(path, 0o500) }, "permission denied"},
	} {
		d := newDesk(t)
		dir := t.TempDir()
		path := filepath.Join(dir, "talk.md")
		if err := test.put(dir, path); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		if test.want == "permission denied" && os.Getuid() == 0 {
			continue
		}
		_, err := d.Export(t.Context(), d.key, path)()
		if got := app.Explain(err).Text; !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q", test.name, got)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("%s: the directory has\n%swant\n%s", test.name, after, before)
		}
	}
}

// tree describes what is in a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		b.WriteString(info.Mode().String() + " " + path)
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(text))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			b.WriteString(" -> " + target)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
