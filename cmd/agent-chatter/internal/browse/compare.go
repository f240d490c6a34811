package browse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A comparePane compares two sessions. It asks the caller with the messages of package turns. Its methods are called
// by one goroutine.
type comparePane struct {
	app           *app.App
	profile       ansi.Profile
	columns, rows int
	helping       bool // the page of keys is shown

	sessions [2]catalog.Session
	lists    [2]*turns.List
	active   int // the list that the keys go to
	ctx      context.Context
	cancel   context.CancelFunc // nil: nothing is shown
	found    *projection.Divergence
}

// newComparePane returns a pane without sessions and without a size.
func newComparePane(a *app.App) *comparePane {
	p := &comparePane{app: a, profile: view.ProfileOf(a), lists: [2]*turns.List{turns.NewList(a), turns.NewList(a)}}
	p.activate(0)
	return p
}

// divergedMsg is where the sessions diverge.
type divergedMsg struct {
	ctx   context.Context
	found projection.Divergence
}

// Show compares two sessions.
func (p *comparePane) Show(a, b catalog.Session) tea.Cmd {
	p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	p.sessions, p.ctx, p.cancel = [2]catalog.Session{a, b}, ctx, cancel
	dirA, dirB := p.app.Catalog.At(a.Dir()), p.app.Catalog.At(b.Dir())
	return func() tea.Msg {
		// After an error, which the list shows, there is nothing to compare.
		found, _ := projection.Diverge(dirA.Events(ctx, a.ID), dirB.Events(ctx, b.ID))
		return divergedMsg{ctx, found}
	}
}

// Close ends reading. The pane shows no sessions.
func (p *comparePane) Close() {
	if p.cancel != nil {
		p.cancel()
	}
	for i := range p.lists {
		p.lists[i].Close()
		p.lists[i] = turns.NewList(p.app)
	}
	p.sessions, p.found, p.ctx, p.cancel, p.helping = [2]catalog.Session{}, nil, nil, nil, false
	p.activate(0)
	p.SetSize(p.columns, p.rows)
}

// SetSize sets the size of the pane.
func (p *comparePane) SetSize(columns, rows int) tea.Cmd {
	p.columns, p.rows = columns, rows
	l := p.layout()
	return tea.Batch(p.lists[0].SetSize(l.columns[0], l.rows[0]-1), p.lists[1].SetSize(l.columns[1], l.rows[1]-1))
}

// Update takes a message: of its own commands, a key or the mouse wheel. It ignores others.
func (p *comparePane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case divergedMsg:
		if msg.ctx != p.ctx || msg.ctx.Err() != nil {
			return nil
		}
		p.found = &msg.found
		a, b := p.lists[0], p.lists[1]
		return tea.Batch(a.Show(p.sessions[0], msg.found.A), a.SelectFirst(),
			b.Show(p.sessions[1], msg.found.B), b.SelectFirst())
	case tea.KeyPressMsg:
		return p.press(msg)
	case tea.MouseWheelMsg:
		return p.lists[p.active].Update(msg)
	}
	return tea.Batch(p.lists[0].Update(msg), p.lists[1].Update(msg))
}

// press handles a key.
func (p *comparePane) press(k tea.KeyPressMsg) tea.Cmd {
	if p.helping {
		p.helping = false
		return nil
	}
	switch k.String() {
	case "esc", "q", "t":
		return func() tea.Msg { return turns.CloseMsg{} }
	case "?":
		p.helping = true
	case "tab":
		p.activate(1 - p.active)
	case "left", "h":
		p.activate(0)
	case "right", "l":
		p.activate(1)
	case "enter":
		if r, ok := p.lists[p.active].Selected(); ok {
			fork := turns.ForkMsg{Session: p.sessions[p.active], Seq: r.End}
			return func() tea.Msg { return fork }
		}
	default:
		return p.lists[p.active].Update(k)
	}
	return nil
}

// activate makes the keys go to a list.
func (p *comparePane) activate(i int) {
	p.active = i
	p.lists[i].Focused, p.lists[1-i].Focused = true, false
}

// A layout is the sizes of the lists, with a heading each.
type layout struct {
	beside        bool
	columns, rows [2]int
}

const besideColumns = 100

func (p *comparePane) layout() layout {
	rows := max(p.rows-1, 0)
	if p.columns >= besideColumns {
		half := (p.columns - 1) / 2
		return layout{true, [2]int{half, half}, [2]int{rows, rows}}
	}
	return layout{false, [2]int{p.columns, p.columns}, [2]int{rows - rows/2, rows / 2}}
}

// Rows returns the rows of the pane: as many as it has, each at most as wide as it is.
func (p *comparePane) Rows() []string {
	if p.rows <= 0 || p.columns <= 0 {
		return nil
	}
	if p.helping {
		return turns.Encode(turns.Help("Comparison", compareKeys, p.columns), p.profile, p.columns, p.rows)
	}
	l := p.layout()
	lines := []ansi.Line{p.foldedLine()}
	left, right := p.side(0, l), p.side(1, l)
	for i := range l.rows[0] {
		line := left[i]
		if l.beside {
			blanks := ansi.Span{Text: strings.Repeat(" ", max(l.columns[0]-line.Columns(), 0))}
			line = slices.Concat(line, ansi.Line{blanks, dim("│")}, right[i])
		}
		lines = append(lines, line)
	}
	if !l.beside {
		lines = append(lines, right...)
	}
	return turns.Encode(lines, p.profile, p.columns, p.rows)
}

// foldedLine stands for what the sessions have in common.
func (p *comparePane) foldedLine() ansi.Line {
	switch {
	case p.ctx == nil:
		return nil
	case p.found == nil:
		return ansi.Line{dim("Comparing …")}
	}
	text := sessions.FoldedText(*p.found)
	if p.found.A > 0 {
		text += fmt.Sprintf(", up to event %d", p.found.A)
	}
	if p.found.A != p.found.B {
		text += fmt.Sprintf(" and %d", p.found.B)
	}
	return ansi.Line{dim(text)}
}

// side returns the lines of one of the sessions, as many as it has room for.
func (p *comparePane) side(i int, l layout) []ansi.Line {
	lines := make([]ansi.Line, l.rows[i])
	if l.rows[i] == 0 || p.found == nil {
		return lines
	}
	s := p.sessions[i]
	title := ansi.Span{Text: tty.SafeLine(s.Title), Style: ansi.Style{Bold: true}}
	if s.Title == "" {
		title = dim("(no title)")
	}
	heading := ansi.Line{title, {Text: "  "}, {Text: s.ID, Style: ansi.Style{Color: ansi.Cyan}}}
	lines[0] = ansi.Cut(heading, l.columns[i])
	copy(lines[1:], p.lists[i].Lines())
	return lines
}

// compareKeys are the keys of the pane and what they do.
var compareKeys = slices.Concat(turns.MoveKeys, [][2]string{
	{"← → h l Tab", "the other session"},
	{"Enter", "fork the session after the row"},
	{"Esc q t", "close the comparison"},
})
