package browse

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/clipperhouse/displaywidth"
)

// FuzzKeys presses keys and clicks while journals of the home are cut, changed, removed and written. The browser never
// fails, and its screen always has the size of the terminal.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("jjkGg/round\rnN\t jk\x1b?q"), uint8(80), uint8(24))
	f.Add([]byte("TTss..1234 \xf0\xf1\xf2\xf3jGn\xf4\xf5\xf6"), uint8(120), uint8(40))
	f.Add([]byte("/\xf0x\xf1\xf2\x1b\x1bj\xf3"), uint8(3), uint8(1))
	f.Add([]byte("rx\rpudyue\re\rf5ju\x1b5k\r\x1bjd\xf1yr\xf3x\rq"), uint8(70), uint8(20))
	f.Fuzz(func(t *testing.T, input []byte, columns, rows uint8) {
		dir := home(t)
		t.Chdir(t.TempDir()) // for exports
		t.Setenv("HOME", dir)
		t.Setenv("USERPROFILE", dir)
		b := open(t, dir, int(columns), int(rows), Options{})
		for _, c := range input[:min(len(input), 60)] {
			if b.quit {
				break
			}
			b.fuzz(dir, c)
			lines := b.m.draw()
			if len(lines) > max(b.m.rows, 1) {
				t.Fatalf("%d rows of %d", len(lines), b.m.rows)
			}
			for _, line := range lines {
				if width := displaywidth.String(stripped(line)); width > max(b.m.columns, 0) || !utf8.ValidString(line) {
					t.Fatalf("%d columns of %d: %q", width, b.m.columns, line)
				}
			}
		}
	})
}

// named are the keys with names, in order.
var named = func() (names []string) {
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

// fuzz does what a byte stands for.
func (b *browser) fuzz(dir string, c byte) {
	journals, _ := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	pick := func() string {
		if len(journals) == 0 {
			return filepath.Join(dir, "none")
		}
		return journals[int(c)%len(journals)]
	}
	switch {
	case c == '\r' && b.m.actions.Asking() && !filepath.IsLocal(b.m.actions.Typed()):
		b.press("esc") // not outside of the test's directories
	case c == '\r':
		b.press("enter")
	case c == 0x1b:
		b.press("esc")
	case c == '\t':
		b.press("tab")
	case c < 0x20:
		b.press(named[int(c)%len(named)])
	case c < 0x7f:
		b.press(string(rune(c)))
	case c < 0xa0:
		b.send(tea.MouseClickMsg{X: int(c), Y: int(c) % 24, Button: tea.MouseLeft})
	case c < 0xc0:
		b.send(tea.MouseWheelMsg{X: int(c) % 80, Y: int(c) % 24, Button: tea.MouseWheelDown})
	case c == 0xf0:
		_ = os.Truncate(pick(), int64(c))
		b.run(b.m.reload())
	case c == 0xf1:
		_ = os.Remove(pick())
		b.run(b.m.refresh())
	case c == 0xf2:
		_ = os.WriteFile(pick(), []byte("{}\nno journal\n"), 0o600)
		b.run(b.m.reload())
	case c == 0xf3:
		_ = os.RemoveAll(filepath.Join(dir, "sessions", "shop"))
		b.run(b.m.reload())
	case c == 0xf4:
		_ = os.Chmod(pick(), 0)
		b.run(b.m.reload())
	default:
		b.send(tea.WindowSizeMsg{Width: max(int(c)-0xb0, 0), Height: int(c) % 50})
	}
}

// stripped returns a line without control sequences.
func stripped(line string) string {
	var text []rune
	escape := false
	for _, r := range line {
		switch {
		case r == 0x1b:
			escape = true
		case escape && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
			escape = false
		case !escape:
			text = append(text, r)
		}
	}
	return string(text)
}

func TestSmallTerminals(t *testing.T) {
	dir := home(t)
	for columns := range 60 {
		b := open(t, dir, columns, columns/3, Options{Text: "round"})
		for _, line := range b.m.draw() {
			if width := displaywidth.String(stripped(line)); width > columns {
				t.Errorf("%d columns of %d: %q", width, columns, line)
			}
		}
		_ = b.screen(ansi.Color16)
	}
}
