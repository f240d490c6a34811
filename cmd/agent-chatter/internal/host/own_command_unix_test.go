//go:build unix

package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A clone may have links to any file, and pipes that never end.
func TestOwnCommandsOfOtherKinds(t *testing.T) {
	a := newTestApp(t)
	builtIn := func(string) bool { return false }
	secret := filepath.Join(t.TempDir(), "secret.md")
	writeFile(t, secret, "secret")
	here := filepath.Join(a.Cwd, ".agent-chatter", "commands")
	writeFile(t, filepath.Join(here, "good.md"), "Good.")
	if err := os.Symlink(secret, filepath.Join(here, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(here, "dir.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{here, filepath.Join(a.Home, "commands")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, _ := OwnCommands(a, builtIn)
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		if text, err := c.read(a); (err == nil) != (c.Name == "/good") || strings.Contains(text, "secret") {
			t.Errorf("%s: %q, %v", c.Name, text, err)
		}
	}
	if got := strings.Join(names, " "); got != "/pipe /good" {
		t.Errorf("the commands are %s", got)
	}
	elsewhere := newTestApp(t)
	if err := os.Symlink(filepath.Dir(here), filepath.Join(elsewhere.Cwd, ".agent-chatter")); err != nil {
		t.Fatal(err)
	}
	if all, _ := OwnCommands(elsewhere, builtIn); len(all) > 0 {
		t.Errorf("through a link: %+v", all)
	}
}
