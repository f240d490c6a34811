//go:build unix

package apptest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// Screens runs a command of the shell on terminals of several sizes, with and without colour, and compares what a
// person then sees with the file path.golden. It draws what is in colour as path.svg. The command runs in a new
// directory, which setUp fills and which is ShopPath in the files. With -update it rewrites the files. Without -full it
// runs the command on a terminal of the first size only, and draws nothing.
func Screens(t *testing.T, path, command string, setUp func(dir string)) {
	t.Helper()
	sizes := []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 50, Rows: 15}}
	every := EveryScreen()
	if !every {
		sizes = sizes[:1]
	}
	quoted := strings.ReplaceAll(command, "'", `'\''`)
	var golden strings.Builder
	var screens []picture.Screen
	for _, size := range sizes {
		for _, variable := range []string{"NO_COLOR=", "NO_COLOR=1"} {
			dir := shopDir(t)
			setUp(dir)
			m := ttytest.Start(t, size.Columns, size.Rows, fmt.Sprintf(
				"cd %s; export AGENT_CHATTER_HOME=%s %s; PATH=.:$PATH; echo '$ %s'; %s; %s; exec cat",
				dir, filepath.Join(dir, "home"), variable, quoted, command, `printf '\033]2;the end\033\\'`))
			m.Await(func() bool { return m.Title() == "the end" })
			capture := renamed(m.Run("capture-pane", "-e", "-p", "-N"), dir, ShopPath)
			capture = compressed.ReplaceAllString(capture, "${1}1.8")
			screen := picture.Parse(Took.ReplaceAllString(capture, "in 0.1 s"))
			fmt.Fprintf(&golden, "==== %dx%d, %s\n%s", size.Columns, size.Rows, variable, screen)
			if variable == "NO_COLOR=" {
				screens = append(screens, screen)
			}
		}
	}
	if !every {
		GoldenStart(t, path+".golden", golden.String())
		return
	}
	Golden(t, path+".golden", golden.String())
	Golden(t, path+".svg", picture.Dark.Draw(screens, sizes))
}

// EveryScreen reports whether tests draw every screen on terminals of all sizes: with -full or -update. Without, they
// draw one screen of each kind, on a terminal of the first size.
func EveryScreen() bool { return sizetest.Full() || *update }

// Took matches how long something took.
var Took = regexp.MustCompile(`in [0-9]+\.[0-9] s\b`)

// compressed matches a size that depends on how well a random path is compressed, and what is freed by that.
var compressed = regexp.MustCompile(`((?:→|about)\s+)[0-9]\.[0-9]`)

// renamed replaces a path in a screen by another one of that length, also where the terminal has broken it.
func renamed(capture, from, to string) string {
	var pattern, replacement strings.Builder
	for i := range from {
		fmt.Fprintf(&pattern, `%s((?:\n|\x1b\[[0-9;]*m)*)`, regexp.QuoteMeta(from[i:i+1]))
		fmt.Fprintf(&replacement, "%c${%d}", to[i], i+1)
	}
	return regexp.MustCompile(pattern.String()).ReplaceAllString(capture, replacement.String())
}

// ShopPath replaces the directory of a test in screens. Lines break where they do in the test: the paths are of the
// same length.
const ShopPath = "/home/eva/shop"

// shopDir returns an empty directory whose path is as long as ShopPath.
func shopDir(t *testing.T) string {
	t.Helper()
	const parent = "/tmp/"
	for {
		dir := fmt.Sprintf("%s%0*x", parent, len(ShopPath)-len(parent), rand.Uint64()>>28)
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
