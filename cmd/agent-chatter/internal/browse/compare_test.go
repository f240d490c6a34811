package browse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const forkID = "01KAJ0000000000000000000F1"

// fork writes a session and one that has the same events up to the reply of the first turn, and then others.
func fork(t *testing.T, a *app.App) (original, copied catalog.Session) {
	t.Helper()
	payloads := turnstest.Payloads()
	created := turnstest.Created(forkID)
	created.Parent = &projection.Parent{SessionID: turnstest.ID, Seq: 10}
	other := append([]projection.Payload{created}, payloads[1:10]...)
	other = append(other, turnstest.Turn("t8", turnstest.Bo, "Is the *fuse* blown?", projection.TurnEnded{
		FinishReason: projection.Done, DurationMS: 4_000,
	})...)
	other = append(other, projection.SessionRenamed{Title: "The kettle, with a fuse"},
		turnstest.Said("m9", turnstest.Mia, "It is."))
	return turnstest.Write(t, a, turnstest.ID, payloads...), turnstest.Write(t, a, forkID, other...)
}

func TestPaneShowsWhereSessionsDiverge(t *testing.T) {
	for name, keys := range map[string][]string{"first": nil, "other": {"tab", "G"}, "help": {"?"}} {
		a := turnstest.App(t)
		original, copied := fork(t, a)
		turnstest.Golden(t, name, a, func(size picture.Size) []string {
			p := newComparePane(a)
			turnstest.Run(p.Update, p.SetSize(size.Columns, size.Rows))
			turnstest.Run(p.Update, p.Show(original, copied))
			turnstest.Press(p.Update, keys...)
			return p.Rows()
		})
	}
}

func TestEveryRowFollowsTheCommonPart(t *testing.T) {
	a := turnstest.App(t)
	a.NoColor = true
	original, copied := fork(t, a)
	_, _ = turnstest.WriteLong(t, a)
	long := turnstest.Session(t, a, "01KAJ000000000000000000000")
	for _, test := range []struct {
		name       string
		a, b       catalog.Session
		want, none []string
	}{
		{
			"a fork", original, copied, []string{"⋯ 2 messages in common, up to event 10", "Is the fuse blown?"},
			[]string{"Why does the kettle", "plugged in"},
		},
		{"itself", original, original, []string{"⋯ 5 messages in common", "Nothing follows."}, []string{"Mia"}},
		{"another session", original, long, []string{"⋯ nothing in common", "Why does the kettle", "1 of 800"}, nil},
	} {
		p := newComparePane(a)
		turnstest.Run(p.Update, p.SetSize(160, 40))
		turnstest.Run(p.Update, p.Show(test.a, test.b))
		rows := strings.Join(p.Rows(), "\n")
		for _, text := range test.want {
			if !strings.Contains(rows, text) {
				t.Errorf("%s: %q is not in\n%s", test.name, text, rows)
			}
		}
		for _, text := range test.none {
			if strings.Contains(rows, text) {
				t.Errorf("%s: %q is in\n%s", test.name, text, rows)
			}
		}
	}
}

// asked presses a key and returns what the pane asks for.
func asked(p *comparePane, key string) (messages []tea.Msg) {
	update := func(msg tea.Msg) tea.Cmd {
		switch msg.(type) {
		case turns.ForkMsg, turns.CloseMsg:
			messages = append(messages, msg)
			return nil
		}
		return p.Update(msg)
	}
	turnstest.Press(update, key)
	return messages
}

func TestKeysAskTheCaller(t *testing.T) {
	a := turnstest.App(t)
	original, copied := fork(t, a)
	p := newComparePane(a)
	if got := asked(p, "enter"); got != nil {
		t.Errorf("without sessions: %v", got)
	}
	turnstest.Run(p.Update, p.SetSize(120, 24))
	turnstest.Run(p.Update, p.Show(original, copied))
	closed := []tea.Msg{turns.CloseMsg{}}
	for _, test := range []struct {
		key  string
		want []tea.Msg
	}{
		{"enter", []tea.Msg{turns.ForkMsg{Session: original, Seq: 13}}}, {"tab", nil},
		{"enter", []tea.Msg{turns.ForkMsg{Session: copied, Seq: 13}}}, {"left", nil}, {"down", nil},
		{"enter", []tea.Msg{turns.ForkMsg{Session: original, Seq: 14}}}, {"right", nil}, {"G", nil},
		{"enter", []tea.Msg{turns.ForkMsg{Session: copied, Seq: 15}}}, {"?", nil}, {"q", nil},
		{"q", closed}, {"esc", closed}, {"t", closed},
	} {
		if got := asked(p, test.key); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s asks for %v, want %v", test.key, got, test.want)
		}
	}
}

func TestPaneSaysWhatCannotBeRead(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"is gone": os.Remove,
		"agent-chatter repair": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)/4] ^= 1
			return os.WriteFile(path, data, 0o600)
		},
	} {
		a := turnstest.App(t)
		a.NoColor = true
		original, copied := fork(t, a)
		if err := damage(copied.Path()); err != nil {
			t.Fatal(err)
		}
		p := newComparePane(a)
		turnstest.Run(p.Update, p.SetSize(200, 40))
		turnstest.Run(p.Update, p.Show(original, copied))
		if rows := strings.Join(p.Rows(), "\n"); !strings.Contains(rows, name) || !strings.Contains(rows, "水壶没有问题。") {
			t.Errorf("%s is not in\n%s", name, rows)
		}
	}
}

func TestClosedPaneIsEmpty(t *testing.T) {
	a := turnstest.App(t)
	original, copied := fork(t, a)
	p := newComparePane(a)
	turnstest.Run(p.Update, p.SetSize(80, 24))
	cmd := p.Show(original, copied)
	p.Close()
	turnstest.Run(p.Update, cmd)
	if rows := p.Rows(); strings.TrimSpace(strings.Join(rows, "")) != "" {
		t.Errorf("%q", rows)
	}
	turnstest.Run(p.Update, p.Show(original, copied))
	if rows := strings.Join(p.Rows(), ""); !strings.Contains(rows, "fuse") {
		t.Errorf("%q", rows)
	}
}

func TestPaneOfAnySizeFits(t *testing.T) {
	a := turnstest.App(t)
	original, copied := fork(t, a)
	p := newComparePane(a)
	turnstest.Run(p.Update, p.Show(original, copied))
	for _, columns := range []int{0, 1, 2, 10, 39, 99, 100, 101, 300} {
		for _, rows := range []int{0, 1, 2, 3, 5, 18, 60} {
			turnstest.Run(p.Update, p.SetSize(columns, rows))
			for _, key := range []string{"g", "G", "tab", "?", "x"} {
				turnstest.Press(p.Update, key)
				turnstest.CheckFits(t, p.Rows(), columns, rows)
			}
		}
	}
}
