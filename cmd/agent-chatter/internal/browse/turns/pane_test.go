package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns/turnstest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest/picture"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestPaneShowsTheSessionAtARow(t *testing.T) {
	for name, keys := range map[string][]string{
		"last": nil, "first": {"g"}, "turn": {"g", "down", "down", "down"}, "help": {"?"},
	} {
		a := turnstest.App(t)
		s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
		turnstest.Golden(t, name, a, func(size picture.Size) []string {
			p := turns.NewTimeline(a)
			turnstest.Run(p.Update, p.SetSize(size.Columns, size.Rows))
			turnstest.Run(p.Update, p.Show(s))
			turnstest.Press(p.Update, keys...)
			return p.Rows()
		})
	}
}

func TestConversationIsBesideTheListOnAWideScreen(t *testing.T) {
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	turnstest.GoldenOf(t, "wide", a, []picture.Size{{Columns: 170, Rows: 24}}, func(size picture.Size) []string {
		p := turns.NewTimeline(a)
		turnstest.Run(p.Update, p.SetSize(size.Columns, size.Rows))
		turnstest.Run(p.Update, p.Show(s))
		turnstest.Press(p.Update, "g", "down", "down", "down")
		return p.Rows()
	})
}

// While the selected row is being read, the head above the conversation is shorter.
func TestPaneFitsWhileARowIsRead(t *testing.T) {
	a := turnstest.App(t)
	task := "Repair the kettle"
	payloads := []projection.Payload{turnstest.Created(turnstest.ID), projection.TaskSet{Task: &task}}
	for i := range 600 {
		payloads = append(payloads, turnstest.Said(fmt.Sprint("m", i), turnstest.Mia, "Does it boil?", "ada"))
	}
	s := turnstest.Write(t, a, turnstest.ID, payloads...)
	for _, columns := range []int{80, 170} {
		for rows := range 60 {
			p := turns.NewTimeline(a)
			turnstest.Run(p.Update, p.SetSize(columns, rows))
			turnstest.Run(p.Update, p.Show(s))
			cmd := p.Update(turnstest.Key("g"))
			turnstest.CheckFits(t, p.Rows(), columns, rows)
			turnstest.Run(p.Update, cmd)
			turnstest.CheckFits(t, p.Rows(), columns, rows)
		}
	}
}

// The conversation at a row is what the events up to its end show.
func TestConversationAtEachRow(t *testing.T) {
	payloads := turnstest.Payloads()
	var events []journal.Event
	var all projection.Timeline
	for i, r := range turnstest.Records(payloads...) {
		e := journal.Event{Seq: uint64(i + 1), Time: r.Time, Type: r.Type, Data: r.Data}
		events = append(events, e)
		all.Apply(e)
	}
	a := turnstest.App(t)
	a.NoColor = true
	s := turnstest.Write(t, a, turnstest.ID, payloads...)
	p := turns.NewTimeline(a)
	turnstest.Run(p.Update, p.SetSize(80, 120))
	turnstest.Run(p.Update, p.Show(s))
	for _, row := range slices.Backward(all.Rows) {
		if got, want := below(p.Rows()), shown(events[:row.End]); !strings.HasSuffix(got, want) {
			t.Errorf("at %d:\n%s\nwant\n%s", row.End, got, want)
		}
		var state projection.State
		for _, e := range events[:row.End] {
			state.Apply(e)
		}
		if rows := strings.Join(p.Rows(), "\n"); strings.Contains(rows, "Task   ") != (state.Task != nil) {
			t.Errorf("at %d, the task is %v:\n%s", row.End, state.Task, rows)
		} else if strings.Contains(rows, "Queue  ") != (len(row.Waiting) > 0) {
			t.Errorf("at %d, %v wait:\n%s", row.End, row.Waiting, rows)
		}
		turnstest.Press(p.Update, "up")
	}
}

// below returns the rows of the conversation without the blank ones at the end.
func below(rows []string) string {
	return trimmed(rows[60:])
}

// shown returns how the conversation of events is shown, below its head.
func shown(events []journal.Event) string {
	var t view.Transcript
	var rows []string
	add := func(blocks []view.Block) {
		for _, b := range blocks {
			for _, line := range view.Lines(b, view.Style{Width: 79}) {
				rows = append(rows, ansi.NoColor.Encode(line))
			}
		}
	}
	for _, e := range events {
		add(t.Apply(projection.DecodeEvent(e)))
	}
	add(t.Held())
	return trimmed(rows)
}

// trimmed returns rows without the blanks around them, and the blank rows around those.
func trimmed(rows []string) string {
	for i, row := range rows {
		rows[i] = strings.TrimSpace(row)
	}
	return strings.TrimSpace(strings.Join(rows, "\n"))
}

// asked presses a key and returns what the pane asks for.
func asked(p *turns.Timeline, key string) (messages []tea.Msg) {
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
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	p := turns.NewTimeline(a)
	if got := asked(p, "enter"); got != nil {
		t.Errorf("without a session: %v", got)
	}
	turnstest.Run(p.Update, p.SetSize(80, 24))
	turnstest.Run(p.Update, p.Show(s))
	turnstest.Press(p.Update, "g", "down", "down", "down")
	for _, test := range []struct {
		key  string
		want []tea.Msg
	}{
		{"enter", []tea.Msg{turns.ForkMsg{Session: s, Seq: 10}}}, {"esc", []tea.Msg{turns.CloseMsg{}}},
		{"q", []tea.Msg{turns.CloseMsg{}}}, {"t", []tea.Msg{turns.CloseMsg{}}}, {"x", nil},
		{"?", nil}, {"q", nil}, // closes the help
		{"q", []tea.Msg{turns.CloseMsg{}}},
	} {
		if got := asked(p, test.key); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s asks for %v, want %v", test.key, got, test.want)
		}
	}
}

func TestTabScrollsTheConversation(t *testing.T) {
	a := turnstest.App(t)
	a.NoColor = true
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	p := turns.NewTimeline(a)
	turnstest.Run(p.Update, p.SetSize(80, 24))
	turnstest.Run(p.Update, p.Show(s))
	before := p.Rows()
	turnstest.Press(p.Update, "tab", "up", "up")
	after := p.Rows()
	if slices.Equal(before[12:], after[12:]) || strings.Contains(strings.Join(after[:12], ""), "▸") {
		t.Errorf("the conversation is not scrolled:\n%s", strings.Join(after, "\n"))
	}
	turnstest.Press(p.Update, "tab", "up", "down")
	if got := p.Rows(); !slices.Equal(got, before) {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

// The conversation ends with the row, however it is scrolled.
func TestConversationEndsWithTheRow(t *testing.T) {
	a := turnstest.App(t)
	a.NoColor = true
	s, _ := turnstest.WriteLong(t, a)
	p := turns.NewTimeline(a)
	turnstest.Run(p.Update, p.SetSize(80, 24))
	turnstest.Run(p.Update, p.Show(s))
	turnstest.Press(p.Update, "g", "pgdown", "pgdown", "pgdown")
	turnstest.Press(p.Update, "tab")
	before := p.Rows()
	for _, keys := range [][]string{{"pgdown"}, {"g", "G"}, {"pgup", "pgup", "pgdown", "pgdown", "pgdown"}} {
		turnstest.Press(p.Update, keys...)
		if got := p.Rows(); !slices.Equal(got, before) {
			t.Errorf("after %q:\n%s\nwant\n%s", keys, strings.Join(got, "\n"), strings.Join(before, "\n"))
		}
	}
	turnstest.Press(p.Update, "g")
	for range 500 { // to the end, in steps
		turnstest.Press(p.Update, "pgdown")
	}
	if got := p.Rows(); !slices.Equal(got, before) {
		t.Errorf("the end is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
}

func TestClosedPaneIsEmpty(t *testing.T) {
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	p := turns.NewTimeline(a)
	turnstest.Run(p.Update, p.SetSize(80, 24))
	cmd := p.Show(s)
	turnstest.Run(p.Update, cmd)
	p.Close()
	turnstest.Run(p.Update, cmd)
	if rows := p.Rows(); len(rows) != 24 || strings.Contains(strings.Join(rows, ""), "Ada") {
		t.Errorf("%q", rows)
	}
	turnstest.Run(p.Update, p.Show(s))
	if rows := p.Rows(); !strings.Contains(strings.Join(rows, ""), "Ada") {
		t.Errorf("%q", rows)
	}
}

func TestPaneOfAnySizeFits(t *testing.T) {
	a := turnstest.App(t)
	s := turnstest.Write(t, a, turnstest.ID, turnstest.Payloads()...)
	p := turns.NewTimeline(a)
	turnstest.Run(p.Update, p.Show(s))
	for _, columns := range []int{0, 1, 2, 10, 39, 59, 99, 160, 300} {
		for _, rows := range []int{0, 1, 2, 5, 17, 18, 19, 60} {
			turnstest.Run(p.Update, p.SetSize(columns, rows))
			for _, key := range []string{"g", "G", "?", "x"} {
				turnstest.Press(p.Update, key)
				turnstest.CheckFits(t, p.Rows(), columns, rows)
			}
		}
	}
}
