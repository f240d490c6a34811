//go:build unix

package browse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	xansi "github.com/charmbracelet/x/ansi"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/filestest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

func TestReviewOfFiles(t *testing.T) {
	dir, work := home(t), t.TempDir()
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	write := func(content string) func(string) { return filestest.Files(t, map[string]string{"a.go": content}) }
	s := filestest.Write(t, a, work, "Mend the files",
		filestest.Turn{Person: write("package a\n"), Agent: write("package b\n")})
	b := open(t, dir, 100, 30, Options{})
	shows := func(want ...string) {
		t.Helper()
		screen := xansi.Strip(b.screen(ansi.NoColor))
		for _, text := range want {
			if !strings.Contains(screen, text) {
				t.Errorf("the screen lacks %q:\n%s", text, screen)
			}
		}
	}
	b.press("/", "Mend the files", "enter", "v")
	shows("Files  Mend the files", "turn 1  Ada  1 file", "a.go", "- package a", "+ package b", "r set back")
	b.press("r")
	shows("Set a.go back to before turn 1", "Set back? [y/N]")
	b.press("y")
	shows("1 file written, 0 removed.")
	if content, err := os.ReadFile(filepath.Join(work, "a.go")); err != nil || string(content) != "package a\n" {
		t.Errorf("the file is %q, %v", content, err)
	}
	b.press("enter")
	shows("you (restore)")
	b.press("q")
	shows("Sessions")

	b.press("/", "esc", "/", "rounds", "enter", "v")
	shows("has no recorded changes of files")
	b.press("q", "q")

	b = open(t, dir, 100, 30, Options{Running: s.Key()})
	b.press("/", "Mend the files", "enter", "v")
	shows("type /files there")
}
