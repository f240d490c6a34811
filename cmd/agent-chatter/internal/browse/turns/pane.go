package turns

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/preview"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ForkMsg asks the caller to fork a session.
type ForkMsg struct {
	Session catalog.Session
	Seq     uint64 // of the last event of the fork
}

// CloseMsg asks the caller to close the pane.
type CloseMsg struct{}

// A Timeline shows the timeline of a session. Its methods are called by one goroutine.
type Timeline struct {
	app           *app.App
	profile       ansi.Profile
	columns, rows int
	list          *List
	conversation  *preview.Pane
	scrolling     bool // keys go to the conversation
	helping       bool // the page of keys is shown

	shown  shown // whose conversation is shown
	ctx    context.Context
	cancel context.CancelFunc // of reading the task; nil: nothing was shown yet
	task   task
}

// shown is the end of a row.
type shown struct {
	key catalog.Key
	end uint64 // 0: none
}

// NewTimeline returns a pane without a session and without a size.
func NewTimeline(a *app.App) *Timeline {
	p := &Timeline{app: a, profile: view.ProfileOf(a), list: NewList(a), conversation: preview.New(a)}
	return p
}

// Show shows a session. If it is shown already, Show adds what it has since.
func (p *Timeline) Show(s catalog.Session) tea.Cmd { return tea.Batch(p.list.Show(s, 0), p.follow()) }

// Close ends reading. The pane shows no session.
func (p *Timeline) Close() {
	p.list.Close()
	p.conversation.Close()
	if p.cancel != nil {
		p.cancel()
	}
	list, columns, rows := NewList(p.app), p.columns, p.rows
	*p = Timeline{app: p.app, profile: p.profile, list: list, conversation: p.conversation}
	p.SetSize(columns, rows)
}

// SetSize sets the size of the pane.
func (p *Timeline) SetSize(columns, rows int) tea.Cmd {
	p.columns, p.rows = columns, rows
	l := p.layout()
	return tea.Batch(p.list.SetSize(l.listColumns, l.listRows), p.resizeConversation(), p.follow())
}

// resizeConversation gives the conversation the room that its head leaves.
func (p *Timeline) resizeConversation() tea.Cmd {
	l := p.layout()
	return p.conversation.SetSize(l.columns, max(l.rows-len(p.headLines(l.columns)), 0))
}

// Update takes a message: of its own commands, a key or the mouse wheel. It ignores others.
func (p *Timeline) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case taskMsg:
		if msg.ctx == p.ctx {
			p.task = msg.task
			cmd = p.resizeConversation()
		}
	case tea.KeyPressMsg:
		cmd = p.press(msg)
	case tea.MouseWheelMsg:
		cmd = p.focused()(msg)
	default:
		cmd = tea.Batch(p.list.Update(msg), p.conversation.Update(msg))
	}
	return tea.Batch(cmd, p.follow())
}

// focused returns what takes the keys that move.
func (p *Timeline) focused() func(tea.Msg) tea.Cmd {
	if p.scrolling {
		return p.conversation.Update
	}
	return p.list.Update
}

// press handles a key.
func (p *Timeline) press(k tea.KeyPressMsg) tea.Cmd {
	if p.helping {
		p.helping = false
		return nil
	}
	switch k.String() {
	case "esc", "q", "t":
		return func() tea.Msg { return CloseMsg{} }
	case "?":
		p.helping = true
	case "tab":
		p.scrolling = !p.scrolling && p.layout().rows > 0
		p.list.Focused = !p.scrolling
	case "enter":
		if r, ok := p.list.Selected(); ok {
			fork := ForkMsg{p.list.Session(), r.End}
			return func() tea.Msg { return fork }
		}
	default:
		return p.focused()(k)
	}
	return nil
}

// follow shows the conversation at the selected row, if another one is shown.
func (p *Timeline) follow() tea.Cmd {
	r, ok := p.list.Selected()
	now := shown{p.list.Session().Key(), r.End}
	if !ok || now == p.shown || p.layout().rows == 0 {
		return nil
	}
	p.shown = now
	return tea.Batch(p.readTask(r), p.resizeConversation(), p.conversation.ShowUntil(p.list.Session(), r.End))
}

// A layout is where the list and the conversation are.
type timelineLayout struct {
	listColumns, listRows int
	columns, rows         int // of the conversation with its head; 0 rows: it is not shown
	beside                bool
}

// The sizes from which the conversation is beside the list, or below it.
const (
	besideColumns = 160
	belowRows     = 18
)

func (p *Timeline) layout() timelineLayout {
	switch {
	case p.columns >= besideColumns:
		list := p.columns * 3 / 5
		return timelineLayout{list, p.rows, p.columns - list - 1, p.rows, true}
	case p.rows >= belowRows:
		list := p.rows / 2
		return timelineLayout{p.columns, list, p.columns, p.rows - list, false}
	}
	return timelineLayout{listColumns: p.columns, listRows: p.rows}
}

// Rows returns the rows of the pane: as many as it has, each at most as wide as it is.
func (p *Timeline) Rows() []string {
	if p.rows <= 0 || p.columns <= 0 {
		return nil
	}
	if p.helping {
		return Encode(Help("Timeline", keys, p.columns), p.profile, p.columns, p.rows)
	}
	l := p.layout()
	rows := Encode(p.list.Lines(), p.profile, p.columns, l.listRows)
	if l.rows == 0 {
		return rows
	}
	head := p.headLines(l.columns)
	right := append(Encode(head, p.profile, l.columns, len(head)), p.conversation.Rows()...)
	// While the selected row is being read, its head is shorter than that which the conversation leaves room for.
	right = append(right, make([]string, l.rows)...)
	if !l.beside {
		return append(rows, right[:l.rows]...)
	}
	lines := append(p.list.Lines(), make([]ansi.Line, l.rows)...)
	for i := range rows {
		blanks := strings.Repeat(" ", max(l.listColumns-lines[i].Columns(), 0))
		rows[i] = p.profile.Encode(append(lines[i], ansi.Span{Text: blanks}, dimmed("│"))) + right[i]
	}
	return rows
}
