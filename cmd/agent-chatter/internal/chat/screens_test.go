//go:build unix

package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
)

// scenesVariable makes the test binary show the scenes instead of running tests.
const scenesVariable = "AGENT_CHATTER_TEST_SCENES"

func TestMain(m *testing.M) {
	if tty.Watched() {
		return
	}
	if os.Getenv(scenesVariable) != "" {
		if err := showScenes(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// showScenes draws one scene after another, each on an empty screen, and the next one when a key is pressed. The
// title of the terminal is the name of the scene that is drawn.
func showScenes() error {
	t, err := tty.Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	defer t.Close()
	screen := tty.NewScreen(t)
	for _, scene := range scenes {
		s := newScene(t.Size())
		scene.play(s)
		screen.Clear()
		live := s.live() // which may print lines
		if err := screen.Draw(s.lines, live, nil); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "\x1b]2;scene %s\x1b\\", scene.name)
		for e := range t.Events() {
			if _, ok := e.(tty.Key); ok {
				break
			}
		}
	}
	return nil
}

var sceneSizes = []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 40, Rows: 20}}

// TestChatScreens compares what a person sees on a terminal of tmux with golden files, and draws them. -update rewrites
// both. Without -full it uses a terminal of one size, and draws nothing.
func TestChatScreens(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sizes, every := sceneSizes, apptest.EveryScreen()
	if !every {
		sizes = sizes[:1]
	}
	captures := map[string][]picture.Screen{}
	for _, size := range sizes {
		m := ttytest.Start(t, size.Columns, size.Rows, scenesVariable+"=1 "+binary)
		for i, scene := range scenes {
			m.Await(func() bool { return m.Title() == "scene "+scene.name })
			captures[scene.name] = append(captures[scene.name], picture.Parse(m.Run("capture-pane", "-e", "-p", "-N")))
			if i < len(scenes)-1 {
				m.Press("n")
			}
		}
	}
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			var b strings.Builder
			for i, size := range sizes {
				fmt.Fprintf(&b, "==== %dx%d\n%s", size.Columns, size.Rows, captures[scene.name][i])
			}
			if !every {
				apptest.GoldenStart(t, filepath.Join("testdata", "screens", scene.name+".golden"), b.String())
				return
			}
			apptest.Golden(t, filepath.Join("testdata", "screens", scene.name+".golden"), b.String())
			apptest.Golden(t, filepath.Join("testdata", "screens", scene.name+".svg"), scene.palette().Draw(captures[scene.name], sizes))
		})
	}
}

// TestScenesHaveGoldenFiles finds golden files without a scene.
func TestScenesHaveGoldenFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if !slices.ContainsFunc(scenes, func(s namedScene) bool { return s.name == name }) {
			t.Errorf("no scene has the file %s", file)
		}
	}
}
