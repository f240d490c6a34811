package turns

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
)

func TestProgramFillsTheScreen(t *testing.T) {
	a := turnstest.App(t)
	m := &model{pane: NewTimeline(a), session: turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...), columns: 80, rows: 24}
	var quit bool
	update := func(msg tea.Msg) tea.Cmd {
		if _, ok := msg.(tea.QuitMsg); ok {
			quit = true
			return nil
		}
		_, cmd := m.Update(msg)
		return cmd
	}
	turnstest.Run(update, m.Init())
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 200, Height: 60}, {Width: 20, Height: 4}} {
		turnstest.Run(update, update(size))
		turnstest.CheckFits(t, m.screen(), size.Width, size.Height)
		if text := m.View().Content; !strings.Contains(text, "Timeline") || !strings.Contains(text, "select") {
			t.Errorf("%s", text)
		}
	}
	turnstest.Press(update, "g", "x")
	if quit {
		t.Error("it ends")
	}
	for _, test := range []struct {
		key  string
		fork uint64
	}{{"q", 0}, {"ctrl+c", 0}, {"enter", 1}} {
		quit = false
		if turnstest.Press(update, test.key); !quit || m.fork != test.fork {
			t.Errorf("%s ends it: %v, with fork %d", test.key, quit, m.fork)
		}
	}
}
