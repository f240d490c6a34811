package preview

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"
)

// A runner runs commands as bubbletea does: each in a goroutine of its own.
type runner struct {
	pane     *Pane
	messages chan tea.Msg
	running  int
}

func (r *runner) run(cmd tea.Cmd) {
	if cmd != nil {
		r.running++
		go func() { r.messages <- cmd() }()
	}
}

// take passes the next message to the pane.
func (r *runner) take() {
	msg := <-r.messages
	r.running--
	r.run(r.pane.Update(msg))
}

// However its messages come between keys, a pane that has nothing left to read shows the right rows.
func TestPaneIsUsedWhileItReads(t *testing.T) {
	var sessions []*session
	for n := range 2 {
		s := newSession(t)
		for i := range 60 {
			s.turn(ada, fmt.Sprintf("Message %d of %d.\n\n", i, n), strings.Repeat("some words ", 20*(i%9)))
		}
		s.row()
		sessions = append(sessions, s)
	}
	propertytest.Check(t, func(rt *rapid.T) {
		s := sessions[0]
		r := &runner{pane: New(s.app), messages: make(chan tea.Msg, 1000)}
		p := r.pane
		r.run(p.SetSize(80, 24))
		for range rapid.IntRange(1, 40).Draw(rt, "actions") {
			switch action := rapid.SampledFrom([]string{"take", "take", "take", "show", "message", "size", "refresh", "key", "key", "key"}).Draw(rt, "action"); action {
			case "take":
				if r.running > 0 {
					r.take()
				}
			case "show", "message":
				s = rapid.SampledFrom(sessions).Draw(rt, "session")
				at := uint64(0)
				if action == "message" {
					at = rapid.Uint64Range(1, s.at.Seq+2).Draw(rt, "at")
				}
				r.run(p.Show(s.row(), at))
			case "size":
				r.run(p.SetSize(rapid.IntRange(0, 100).Draw(rt, "columns"), rapid.IntRange(0, 50).Draw(rt, "rows")))
			case "refresh":
				if p.ctx != nil {
					r.run(p.Refresh(s.row()))
				}
			case "key":
				key := rapid.SampledFrom([]tea.KeyPressMsg{
					{Code: 'k', Text: "k"}, {Code: tea.KeyPgUp}, {Code: tea.KeyPgDown}, {Code: 'g', Text: "g"}, {Code: 'G', Text: "G"},
				}).Draw(rt, "key")
				r.run(p.Update(key))
			}
			checkRows(rt, p)
		}
		r.run(p.SetSize(80, 24))
		r.run(p.Show(s.row(), 0))
		for r.running > 0 {
			r.take()
		}
		equal(rt, "in the end", shown(p), last(s.replayed(78, ansi.Color16), p.height()))
	})
}
