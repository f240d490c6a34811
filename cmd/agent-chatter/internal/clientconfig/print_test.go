package clientconfig

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestInstalledPrefersLinks(t *testing.T) {
	dir := t.TempDir()
	versioned, link := filepath.Join(dir, "opt", "v1"), filepath.Join(dir, "bin", "chatter.exe")
	for _, d := range []string{versioned, filepath.Dir(link)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(versioned, "chatter.exe")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.SkipOnWindows(t, os.Symlink(program, link))
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "chatter.exe"), []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ path, typed, want string }{
		"in PATH":                 {filepath.Dir(link), "chatter.exe", link},
		"in PATH, typed by path":  {filepath.Dir(link), program, link},
		"not in PATH":             {"", link, link},
		"another program in PATH": {other, "chatter.exe", program},
		"started under any name":  {"", "-", program},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			if got := installed(program, test.typed); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestInstalledIsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	program := filepath.Join(must(os.Getwd()), "chatter.exe")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	typed := "." + string(filepath.Separator) + "chatter.exe"
	if got := installed(program, typed); got != program {
		t.Errorf("%s, want %s", got, program)
	}
}

func must(dir string, err error) string {
	if err != nil {
		panic(err)
	}
	return dir
}

// TestUnusableCommandsAreRefused needs no program: this test itself was built into a temporary directory.
func TestUnusableCommandsAreRefused(t *testing.T) {
	usable := filepath.Join(string(filepath.Separator), "bin", "agent-chatter")
	for name, c := range map[string]Command{
		"built by go run":  {filepath.Join(os.TempDir(), "go-build123", "b001", "exe", "agent-chatter"), nil},
		"a path in Latin1": {usable + "\xe9", nil},
		"a home in Latin1": {usable, []string{"--home", "/caf\xe9"}},
	} {
		var exit *app.ExitError
		if err := c.check(); !errors.As(err, &exit) || exit.Code != app.ExitFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Command{usable, []string{"--home", "/café"}}).check(); err != nil {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the golden file has the paths of other systems")
	}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "notUTF8Text", Shown: notUTF8Text("/a/caf\xe9" + apptest.Hostile)},
		{Function: "temporaryText", Shown: temporaryText("/tmp/go-build1/" + apptest.Hostile)},
	})
}
