package home

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

func TestHomeInWorkingDirectory(t *testing.T) {
	root := t.TempDir()
	clone, user := filepath.Join(root, "clone"), filepath.Join(root, "user")
	for _, dir := range []string{filepath.Join(clone, ".agent-chatter"), filepath.Join(user, "x")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	programtest.SkipOnWindows(t, os.Symlink(clone, filepath.Join(root, "link")))
	programtest.SkipOnWindows(t, os.Symlink(user, filepath.Join(clone, "out")))
	t.Chdir(clone)
	t.Setenv("HOME", user)
	t.Setenv("USERPROFILE", user)
	for name, tt := range map[string]struct {
		named, env, cwd string // cwd "": clone
		want            bool
	}{
		"default":                  {},
		"default, no variable":     {env: filepath.Join(user, "x"), cwd: user},
		"the default's name":       {named: "~/.agent-chatter", env: filepath.Join(user, "x"), cwd: user},
		"elsewhere and missing":    {named: filepath.Join(root, "gone")},
		"in no working directory":  {named: root, cwd: filepath.Join(root, "gone")},
		"relative":                 {named: ".agent-chatter", want: true},
		"absolute":                 {named: filepath.Join(clone, ".agent-chatter"), want: true},
		"missing":                  {named: "new", want: true},
		"the directory itself":     {named: ".", want: true},
		"through a link":           {named: filepath.Join(root, "link", ".agent-chatter"), want: true},
		"link out of it":           {named: "out", want: true},
		"elsewhere":                {named: filepath.Join(user, "x")},
		"above":                    {named: "../user"},
		"variable":                 {named: filepath.Join(clone, "h"), env: filepath.Join(clone, "h")},
		"relative variable":        {named: "h", env: "h", want: true},
		"flag and variable":        {named: "h", env: filepath.Join(user, "x"), want: true},
		"in the root of the disks": {named: filepath.Join(clone, "h"), cwd: filepath.VolumeName(root) + string(filepath.Separator)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AGENT_CHATTER_HOME", tt.env)
			dir, err := Dir(tt.named)
			if err != nil {
				t.Fatal(err)
			}
			if got := InsideWorkingDirectory(dir, tt.named, cmp.Or(tt.cwd, clone)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHomeIsNamedByFlag(t *testing.T) {
	t.Setenv("AGENT_CHATTER_HOME", "/of/the/environment")
	for named, want := range map[string]bool{
		"": false, "~/.agent-chatter": false, "/of/the/environment": false, "/another": true,
	} {
		if got := ByFlag(named); got != want {
			t.Errorf("%q: %v", named, got)
		}
	}
}
