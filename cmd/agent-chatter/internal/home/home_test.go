package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHomeInWorkingDirectoryIsNotTheUsersOwn(t *testing.T) {
	root := t.TempDir()
	clone, user := filepath.Join(root, "clone"), filepath.Join(root, "user")
	for _, dir := range []string{filepath.Join(clone, ".agent-chatter"), filepath.Join(user, "x")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(clone, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(user, filepath.Join(clone, "out")); err != nil {
		t.Skip(err)
	}
	t.Chdir(clone)
	t.Setenv("HOME", user)
	t.Setenv("USERPROFILE", user)
	own := filepath.Join(user, ".agent-chatter")
	for name, tt := range map[string]struct {
		named, env string
		cwd, want  string // "": clone, the named one
	}{
		"default":                  {want: own},
		"default, no variable":     {env: filepath.Join(user, "x"), cwd: user, want: own},
		"the default's name":       {named: "~/.agent-chatter", env: filepath.Join(user, "x"), cwd: user, want: own},
		"elsewhere and missing":    {named: filepath.Join(root, "gone"), want: filepath.Join(root, "gone")},
		"in no working directory":  {named: root, cwd: filepath.Join(root, "gone"), want: root},
		"relative":                 {named: ".agent-chatter", want: own},
		"absolute":                 {named: filepath.Join(clone, ".agent-chatter"), want: own},
		"missing":                  {named: "new", want: own},
		"the directory itself":     {named: ".", want: own},
		"through a link":           {named: filepath.Join(root, "link", ".agent-chatter"), want: own},
		"link out of it":           {named: "out", want: own},
		"elsewhere":                {named: filepath.Join(user, "x"), want: filepath.Join(user, "x")},
		"above":                    {named: "../user", want: user},
		"variable":                 {named: filepath.Join(clone, "h"), env: filepath.Join(clone, "h"), want: filepath.Join(clone, "h")},
		"relative variable":        {named: "h", env: "h", want: own},
		"flag and variable":        {named: "h", env: filepath.Join(user, "x"), want: filepath.Join(user, "x")},
		"flag, relative variable":  {named: "h", env: "g", want: own},
		"home in the user's":       {named: "~/.agent-chatter", cwd: user, want: own},
		"in the root of the disks": {named: filepath.Join(clone, "h"), cwd: filepath.VolumeName(root) + string(filepath.Separator), want: filepath.Join(clone, "h")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AGENT_CHATTER_HOME", tt.env)
			dir, err := Dir(tt.named)
			if err != nil {
				t.Fatal(err)
			}
			cwd := clone
			if tt.cwd != "" {
				cwd = tt.cwd
			}
			if got, err := Own(dir, tt.named, cwd); err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
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
