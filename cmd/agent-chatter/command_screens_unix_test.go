//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
)

// commandScreens are screens of commands that print and end.
var commandScreens = []struct {
	name    string
	command string
}{
	{"guide", "agent-chatter guide"},
	{"guide_page", "agent-chatter guide platforms"},
}

// TestCommandScreens compares what commands print on a terminal, with and without colour, with golden files, and draws
// it in colour.
func TestCommandScreens(t *testing.T) {
	sizes := []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 50, Rows: 15}}
	for _, s := range commandScreens {
		t.Run(s.name, func(t *testing.T) {
			var golden strings.Builder
			var screens []picture.Screen
			for _, size := range sizes {
				for _, flag := range []string{"", " --no-color"} {
					work, command := shopDir(t), s.command+flag
					m := ttytest.Start(t, size.Columns, size.Rows, fmt.Sprintf(
						"cd %s; export AGENT_CHATTER_HOME=%s; echo '$ %s'; %s; printf '\\033]2;the end\\033\\\\'; exec cat",
						work, filepath.Join(work, "home"), command, command))
					for strings.TrimSpace(m.Run("display-message", "-p", "#{pane_title}")) != "the end" {
					}
					screen := picture.Parse(renamed(m.Run("capture-pane", "-e", "-p", "-N"), work, shopPath))
					fmt.Fprintf(&golden, "==== %dx%d%s\n%s", size.Columns, size.Rows, flag, screen)
					if flag == "" {
						screens = append(screens, screen)
					}
				}
			}
			apptest.Golden(t, filepath.Join("testdata", "screens", s.name+".golden"), golden.String())
			apptest.Golden(t, filepath.Join("testdata", "screens", s.name+".svg"), picture.Draw(screens, sizes))
		})
	}
}

// renamed replaces a path in a screen by another one of that length, also where the terminal has broken it.
func renamed(capture, from, to string) string {
	var pattern, replacement strings.Builder
	for i := range from {
		fmt.Fprintf(&pattern, `%s((?:\n|\x1b\[[0-9;]*m)*)`, regexp.QuoteMeta(from[i:i+1]))
		fmt.Fprintf(&replacement, "%c${%d}", to[i], i+1)
	}
	return regexp.MustCompile(pattern.String()).ReplaceAllString(capture, replacement.String())
}

// shopPath replaces the directory of a test in screens. Lines break where they do in the test: the paths are of the
// same length.
const shopPath = "/home/eva/shop"

// shopDir returns an empty directory whose path is as long as shopPath.
func shopDir(t *testing.T) string {
	t.Helper()
	const parent = "/tmp/"
	for {
		dir := fmt.Sprintf("%s%0*x", parent, len(shopPath)-len(parent), rand.Uint64()>>28)
		if err := os.Mkdir(dir, 0o700); err == nil {
			t.Cleanup(func() {
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			})
			return dir
		} else if !os.IsExist(err) {
			t.Fatal(err)
		}
	}
}
