package turns

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A List shows the rows of a session, of which one is selected. Until a row is selected, it is the last one.
type List struct {
	app     *app.App
	Focused bool // the keys go to it: the selected row is marked

	session catalog.Session
	ctx     context.Context // of the session that is shown; nil: none
	cancel  context.CancelFunc
	index   index
	reading bool
	problem string // why the rest cannot be read; "": it can
	pages   map[int][]projection.TimelineRow
	loading map[int]bool
	members view.Transcript // has the colours of the members

	columns, rows int
	selected, top int  // among all rows of the session
	moved         bool // a row was selected
}

// keptPages is how many pages are kept besides those that are shown.
const keptPages = 8

// NewList returns a List without a session.
func NewList(a *app.App) *List { return &List{app: a, Focused: true} }

// readMsg is what reading a session has found.
type readMsg struct {
	list  *List
	ctx   context.Context // of the session
	index index
	err   error
}

// pageMsg is a page that was read.
type pageMsg struct {
	list *List
	ctx  context.Context
	page int
	rows []projection.TimelineRow
	err  error
}

// Show shows the rows that end after an event of a session; all of them if it is 0. If it shows them already, it adds
// what the session has since.
func (l *List) Show(s catalog.Session, after uint64) tea.Cmd {
	same := l.ctx != nil && s.Key() == l.session.Key() && after == l.index.after
	l.session = s
	if !same {
		l.Close()
		l.ctx, l.cancel = context.WithCancel(context.Background())
		l.index, l.problem, l.pages, l.members = index{after: after}, "", nil, view.Transcript{}
		l.loading, l.selected, l.top, l.moved, l.reading = map[int]bool{}, 0, 0, false, false
	}
	if l.reading || same && l.problem == "" && l.index.complete && s.LastSeq <= l.index.at.Seq {
		return nil
	}
	return l.read()
}

// SelectFirst selects the first row, also of a session whose rows are still to be read.
func (l *List) SelectFirst() tea.Cmd { return l.move(-max(l.selected, 0)) }

// Close cancels what is being read.
func (l *List) Close() {
	if l.cancel != nil {
		l.cancel()
	}
	l.ctx, l.cancel = nil, nil
}

// SetSize sets the size, in columns and rows. The first row is the header.
func (l *List) SetSize(columns, rows int) tea.Cmd {
	l.columns, l.rows = columns, rows
	return l.arrange()
}

// Session returns the session that is shown.
func (l *List) Session() catalog.Session { return l.session }

// dir returns the directory of the session.
func (l *List) dir() *catalog.Dir { return l.app.Catalog.At(l.session.Dir()) }

// Members returns the members of the team, as far as the session has been read.
func (l *List) Members() []projection.Member { return l.index.members }

// Selected returns the selected row; false if there is none, or it is being read.
func (l *List) Selected() (projection.TimelineRow, bool) { return l.row(l.selected) }

// read reads what follows.
func (l *List) read() tea.Cmd {
	ctx, dir, id, ix := l.ctx, l.dir(), l.session.ID, l.index
	l.reading = true
	return func() tea.Msg {
		ix, err := ix.read(ctx, dir, id)
		return readMsg{l, ctx, ix, err}
	}
}

// Update takes its own messages, keys and the wheel. It ignores others.
func (l *List) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case readMsg:
		if msg.list == l && msg.ctx == l.ctx {
			return l.take(msg)
		}
	case pageMsg:
		if msg.list == l && msg.ctx == l.ctx {
			return l.takePage(msg)
		}
	case tea.KeyPressMsg:
		return l.press(msg.String())
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			return l.move(-wheelRows)
		case tea.MouseWheelDown:
			return l.move(wheelRows)
		}
	}
	return nil
}

const wheelRows = 3

// press handles a key that moves the selection.
func (l *List) press(key string) tea.Cmd {
	page := max(l.height()-1, 1)
	switch key {
	case "up", "k":
		return l.move(-1)
	case "down", "j":
		return l.move(1)
	case "pgup":
		return l.move(-page)
	case "pgdown":
		return l.move(page)
	case "ctrl+u":
		return l.move(-max(page/2, 1))
	case "ctrl+d":
		return l.move(max(page/2, 1))
	case "g", "home":
		return l.SelectFirst()
	case "G", "end":
		l.moved = false
		return l.arrange()
	}
	return nil
}

// move selects another row.
func (l *List) move(rows int) tea.Cmd {
	l.selected, l.moved = l.selected+rows, true
	return l.arrange()
}

// take takes what was read, and reads on.
func (l *List) take(msg readMsg) tea.Cmd {
	l.reading = false
	if errors.Is(msg.err, context.Canceled) {
		return nil
	}
	if len(l.index.marks) > 0 && msg.index.marks[0] != l.index.marks[0] { // The journal was replaced.
		l.pages, l.loading = nil, map[int]bool{}
	}
	l.index, l.problem = msg.index, ""
	l.members.AddMembers(l.index.members)
	if msg.err != nil {
		l.problem = l.explained(msg.err)
		return l.arrange()
	}
	if l.index.complete {
		return l.arrange()
	}
	return tea.Batch(l.arrange(), l.read())
}

// takePage takes a page. One that cannot be read has no rows, so that it is not requested again.
func (l *List) takePage(msg pageMsg) tea.Cmd {
	delete(l.loading, msg.page)
	if errors.Is(msg.err, context.Canceled) {
		return nil
	}
	if msg.err != nil {
		l.problem = l.explained(msg.err)
	}
	if l.pages == nil {
		l.pages = map[int][]projection.TimelineRow{}
	}
	l.pages[msg.page] = msg.rows
	return l.arrange()
}

// explained says why the session cannot be read.
func (l *List) explained(err error) string {
	if errors.Is(err, journal.ErrNotFound) {
		return l.app.Render(app.FollowEndedText(l.session.ID, err))
	}
	return l.app.Render(app.Explain(err))
}

// height is how many rows of the session are shown.
func (l *List) height() int { return max(l.rows-headerRows-len(l.problemLines()), 0) }

// arrange keeps the selected row in the list and on the screen, and reads the pages of the rows that are shown.
func (l *List) arrange() tea.Cmd {
	last := l.index.rows() - 1
	if !l.moved {
		l.selected = last
	}
	l.selected = max(min(l.selected, last), min(l.index.from, last), 0)
	height := l.height()
	l.top = max(min(l.top, l.selected), l.selected-height+1)
	l.top = max(min(l.top, last-height+1), l.index.from, 0)
	return l.loadPages(l.top, min(l.top+max(height, 1), last+1))
}

// loadPages reads the pages of rows, and forgets those that are far from them.
func (l *List) loadPages(from, to int) tea.Cmd {
	if len(l.index.marks) == 0 || from >= to {
		return nil
	}
	first, last := l.index.page(from), l.index.page(to-1)
	for page := range l.pages {
		if page < first-keptPages/2 || page > last+keptPages/2 {
			delete(l.pages, page)
		}
	}
	var cmds []tea.Cmd
	for page := first; page <= last && page < len(l.index.marks)-1; page++ {
		if _, ok := l.pages[page]; !ok && !l.loading[page] {
			cmds = append(cmds, l.load(page))
		}
	}
	return tea.Batch(cmds...)
}

func (l *List) load(page int) tea.Cmd {
	ctx, dir, id, ix := l.ctx, l.dir(), l.session.ID, l.index
	l.loading[page] = true
	return func() tea.Msg {
		rows, err := ix.load(ctx, dir, id, page)
		return pageMsg{l, ctx, page, rows, err}
	}
}

// row returns a row of the session; false if it is not in memory.
func (l *List) row(i int) (projection.TimelineRow, bool) {
	if i < 0 || i >= l.index.rows() {
		return projection.TimelineRow{}, false
	}
	if t := l.index.timeline; i >= t.First {
		return t.Rows[i-t.First], true
	}
	page := l.index.page(i)
	if i -= l.index.first(page); i < len(l.pages[page]) {
		return l.pages[page][i], true
	}
	return projection.TimelineRow{}, false
}
