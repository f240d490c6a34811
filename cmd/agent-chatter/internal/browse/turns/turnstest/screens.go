package turnstest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
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

// Golden compares screens of all sizes, with and without colours, with a golden file, and draws those with colours.
// Each must have exactly its rows, and none that is too wide.
func Golden(t *testing.T, name string, show func(size picture.Size, p ansi.Profile) []string) {
	t.Helper()
	var b strings.Builder
	var screens []picture.Screen
	for _, profile := range []ansi.Profile{ansi.Color16, ansi.NoColor} {
		for _, size := range Sizes {
			rows := show(size, profile)
			if len(rows) != size.Rows {
				t.Errorf("%s has %d rows, not %d", name, len(rows), size.Rows)
			}
			screen := picture.Parse(strings.Join(rows, "\n"))
			for _, row := range rows {
				if n := xansi.StringWidth(row); n > size.Columns {
					t.Errorf("%s: %q has %d columns, not %d", name, row, n, size.Columns)
				}
			}
			color := ""
			if profile == ansi.Color16 {
				screens = append(screens, screen)
			} else {
				color = " without colour"
			}
			fmt.Fprintf(&b, "==== %dx%d%s\n%s", size.Columns, size.Rows, color, screen)
		}
	}
	apptest.Golden(t, filepath.Join("testdata", name+".golden"), b.String())
	apptest.Golden(t, filepath.Join("testdata", name+".svg"), picture.Draw(screens, Sizes))
}
