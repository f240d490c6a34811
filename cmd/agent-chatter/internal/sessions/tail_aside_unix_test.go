//go:build unix

package sessions

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// tailOf prints a file that was set aside.
func tailOf(t *testing.T, path string) (stdout, stderr string, err error) {
	t.Helper()
	var out, notices bytes.Buffer
	a, err := app.New(app.IO{Stdout: &out, Stderr: &notices}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = (&Tail{ID: path, N: 10, Output: "text"}).Run(a)
	return out.String(), notices.String(), err
}

func TestTailOfAsideFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.aside-12")
	hostile := `{"seq":7,"time":"2026-11-28T12:00:00Z","type":"a\u001b[2J.b\nc","data":{},"sum":"00000000"}` + "\n" +
		"\x00\x1b[31m\n" + `{"seq":0}` + "\n[]\n" + strings.Repeat("x", 1<<20) + "\n{"
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := tailOf(t, path)
	if err != nil || strings.Count(stdout, "\n") != 1 || strings.ContainsAny(stdout+stderr, "\x1b\x00") ||
		!strings.Contains(stdout, "  7  a") || !strings.Contains(stderr, "1048598 bytes of it are not events.") {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

func TestTailOfAsideFileReadsRegularFilesOnly(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to /dev/…": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a directory":      func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "x.aside-1")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, _, err := tailOf(t, path); !errors.As(err, new(*regularfile.KindError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
