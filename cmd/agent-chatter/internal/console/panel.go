package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Panel shows turns that were started at the same time: a row each, and the text of the chosen one. It runs until all
// have ended.
type Panel struct {
	id     string
	rows   []panelRow
	chosen string // the id of a turn; "", or that of one that has ended: the first that runs is chosen
}

// A panelRow is what one of the turns does.
type panelRow struct {
	turn, member string // ids
	name         string
	began        time.Time
	tools        []projection.ToolStarted // that run
	calls        int                      // of tools so far
	questions    int                      // that wait for an answer
	end          *projection.TurnEnded    // nil: it runs
}

// Apply follows an event. name returns the displayed name of a member.
func (p *Panel) Apply(e projection.Event, name func(memberID string) string) {
	switch d := e.Payload.(type) {
	case projection.TurnStarted:
		if d.Panel == nil || d.Panel.ID != p.id {
			*p = Panel{}
		}
		if d.Panel != nil {
			p.id = d.Panel.ID
			row := panelRow{turn: d.TurnID, member: d.MemberID, name: tty.SafeLine(name(d.MemberID)), began: e.Time}
			p.rows = append(p.rows, row)
		}
	case projection.ToolStarted:
		p.change(d.TurnID, func(r *panelRow) {
			r.tools = append(r.tools, d)
			r.calls++
		})
	case projection.ToolCompleted:
		p.change(d.TurnID, func(r *panelRow) {
			r.tools = slices.DeleteFunc(r.tools, func(t projection.ToolStarted) bool { return t.ToolID == d.ToolID })
		})
	case projection.TurnEnded:
		p.change(d.TurnID, func(r *panelRow) { r.end = &d })
	case projection.SessionResumed, projection.SessionEnded:
		*p = Panel{}
	}
}

// Ask notes questions of a turn that wait for an answer: that there is one more, or with -1 one less.
func (p *Panel) Ask(turnID string, more int) {
	p.change(turnID, func(r *panelRow) { r.questions += more })
}

func (p *Panel) change(turnID string, change func(*panelRow)) {
	for i := range p.rows {
		if p.rows[i].turn == turnID {
			change(&p.rows[i])
		}
	}
}

// running returns how many of the turns run.
func (p *Panel) running() (n int) {
	for _, r := range p.rows {
		if r.end == nil {
			n++
		}
	}
	return n
}

// shown returns the row of the turn whose text is shown; nil: none runs.
func (p *Panel) shown() *panelRow {
	var first *panelRow
	for i := range p.rows {
		switch r := &p.rows[i]; {
		case r.end != nil:
		case r.turn == p.chosen:
			return r
		case first == nil:
			first = r
		}
	}
	return first
}

// choose chooses the turn that a key stands for: Tab the next one that runs, Shift+Tab the one before, a digit that of
// the row. It reports whether the key is one of these.
func (p *Panel) choose(k tty.Key) bool {
	shown := p.shown()
	if shown == nil {
		return false
	}
	step := 0
	switch {
	case k == key(tty.Tab, 0):
		step = 1
	case k == key(tty.Tab, tty.Shift):
		step = len(p.rows) - 1
	case k.Mod == 0 && k.Code >= '1' && int(k.Code-'1') < len(p.rows):
		p.chosen = p.rows[k.Code-'1'].turn
		return true
	default:
		return false
	}
	at := slices.IndexFunc(p.rows, func(r panelRow) bool { return r.turn == shown.turn })
	for range p.rows {
		if at = (at + step) % len(p.rows); p.rows[at].end == nil {
			break
		}
	}
	p.chosen = p.rows[at].turn
	return true
}

// panelChooses reports whether keys choose a turn: with text in the input box, they have their usual effects.
func (m *Model) panelChooses() bool {
	return m.Panel.running() > 0 && m.Editor.Empty() && !m.modal() && !m.asks
}

// panelHints say what keys do while the turns of a panel run.
func (m *Model) panelHints() []string {
	turns, member := 0, ""
	if running := m.Panel.running(); running > 1 {
		if m.Editor.Empty() {
			turns = len(m.Panel.rows)
		}
		if !m.stops {
			member = m.Panel.shown().name
		}
	}
	return panelTexts(turns, m.Status.Escape && !m.answers(), member)
}

// named returns the last rows of what a turn of a panel says, with its member in the place of what is left out.
func (p *Panel) named(rows []string, limit int, styled func(string) string) []string {
	left := rows[max(0, len(rows)-limit):]
	if shown := p.shown(); shown != nil && len(left) < len(rows) && len(left) > 2 {
		left = append([]string{"", styled(shown.name + " …")}, left[2:]...)
	}
	return left
}

// panelRows shows what the turns do.
func (m *Model) panelRows(columns int, now time.Time) (rows []string) {
	shown := m.Panel.shown()
	if shown == nil {
		return nil
	}
	widest := 0
	for _, r := range m.Panel.rows {
		widest = max(widest, displaywidth.String(r.name))
	}
	widest = min(widest, max(columns/4, 6))
	for i, r := range m.Panel.rows {
		mark, style := " ", dim
		switch {
		case r.turn == shown.turn:
			mark, style = "▸", ansi.Style{}
		case r.end == nil && r.questions > 0:
			style = yellow
		}
		name := cut(r.name, widest)
		name += strings.Repeat(" ", widest-displaywidth.String(name))
		text := fmt.Sprintf("%s %d %c %s ", mark, i+1, r.sign(now), name)
		rows = append(rows, m.styled(style, text+r.text(columns-displaywidth.String(text), now)))
	}
	return rows
}

// sign returns a character that stands for the state of the turn.
func (r panelRow) sign(now time.Time) rune {
	switch {
	case r.end == nil && r.questions > 0:
		return '?'
	case r.end == nil:
		return spinner(now.Sub(r.began))
	case r.end.FinishReason == projection.Done:
		return '✓'
	case r.end.FinishReason == projection.Cancelled:
		return '–'
	}
	return '✗'
}

// text returns what the turn does, and as many figures as fit: the seconds, the tools and the tokens.
func (r panelRow) text(columns int, now time.Time) string {
	took := now.Sub(r.began)
	if r.end != nil {
		took = time.Duration(r.end.DurationMS) * time.Millisecond
	}
	figures := fmt.Sprintf(" %ds", int(max(took, 0).Seconds()))
	text := cut(r.state(), columns-displaywidth.String(figures)) + figures
	more := []string{""}
	if r.calls > 0 {
		more = append(more, app.Count(r.calls, "tool"))
	}
	if u := r.used(); u > 0 {
		more = append(more, view.CountText(u)+" tokens")
	}
	for n := len(more); n > 1; n-- {
		if with := text + strings.Join(more[:n], " · "); displaywidth.String(with) <= columns {
			return with
		}
	}
	return text
}

// used returns the tokens of a turn that has ended; 0: they are unknown.
func (r panelRow) used() int64 {
	if r.end == nil || r.end.Usage == nil {
		return 0
	}
	u := r.end.Usage
	return u.Input + u.CachedRead + u.CachedWrite + u.Output + u.Thought
}

func (r panelRow) state() string {
	switch {
	case r.end != nil && r.end.FinishReason == projection.Cancelled:
		return textCancelled
	case r.end != nil && r.end.FinishReason != projection.Done:
		return textFailed
	case r.end != nil:
		return textDone
	case r.questions > 0:
		return textAsks
	case len(r.tools) > 0:
		return usesText(r.tools[len(r.tools)-1].Name)
	}
	return textThinks
}
