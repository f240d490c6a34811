package turnstest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	xansi "github.com/charmbracelet/x/ansi"
)

// Run runs a command, and those that update returns for its messages, until there are none.
func Run(update func(tea.Msg) tea.Cmd, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			Run(update, cmd)
		}
		return
	}
	Run(update, update(msg))
}

// Press presses keys, such as "down", and runs the commands that follow from them.
func Press(update func(tea.Msg) tea.Cmd, keys ...string) {
	for _, key := range keys {
		Run(update, update(Key(key)))
	}
}

// Key is the message of a key, such as "down" or "j".
func Key(name string) tea.KeyPressMsg {
	for code, known := range map[rune]string{
		tea.KeyUp: "up", tea.KeyDown: "down", tea.KeyPgUp: "pgup", tea.KeyPgDown: "pgdown", tea.KeyHome: "home",
		tea.KeyEnd: "end", tea.KeyEnter: "enter", tea.KeyEscape: "esc", tea.KeyTab: "tab", tea.KeyLeft: "left",
		tea.KeyRight: "right",
	} {
		if name == known {
			return tea.KeyPressMsg{Code: code}
		}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}

// Sizes are those of the golden screens.
var Sizes = []picture.Size{{Columns: 80, Rows: 24}, {Columns: 120, Rows: 40}, {Columns: 50, Rows: 15}}

// Golden compares screens of all sizes, with the colours of the App and without, with a golden file, and draws those
// with colours.
// Each must have exactly its rows, and none that is too wide.
func Golden(t *testing.T, name string, a *app.App, show func(picture.Size) []string) {
	t.Helper()
	GoldenOf(t, name, a, Sizes, show)
}

// CheckFits fails unless there are exactly so many rows, and none that is too wide.
func CheckFits(t *testing.T, shown []string, columns, rows int) {
	t.Helper()
	if len(shown) != rows && (columns > 0 || len(shown) > 0) {
		t.Errorf("%d rows are shown, not %d", len(shown), rows)
	}
	for _, row := range shown {
		if n := xansi.StringWidth(row); n > columns {
			t.Errorf("%q has %d columns, not %d", row, n, columns)
		}
	}
}

// GoldenOf is Golden with other sizes.
func GoldenOf(t *testing.T, name string, a *app.App, sizes []picture.Size, show func(picture.Size) []string) {
	t.Helper()
	var b strings.Builder
	var screens []picture.Screen
	for _, a.NoColor = range []bool{false, true} {
		for _, size := range sizes {
			rows := show(size)
			CheckFits(t, rows, size.Columns, size.Rows)
			screen := picture.Parse(strings.Join(rows, "\n"))
			color := ""
			if !a.NoColor {
				screens = append(screens, screen)
			} else {
				color = " without colour"
			}
			fmt.Fprintf(&b, "==== %dx%d%s\n%s", size.Columns, size.Rows, color, screen)
		}
	}
	apptest.Golden(t, filepath.Join("testdata", name+".golden"), b.String())
	apptest.Golden(t, filepath.Join("testdata", name+".svg"), picture.Dark.Draw(screens, sizes))
}
