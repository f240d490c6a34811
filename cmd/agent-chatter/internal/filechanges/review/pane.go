package review

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// CloseMsg asks the caller to close the pane.
type CloseMsg struct{}

// A Record appends the events of a restore to the session; nil: the session is opened for that.
type Record func(...projection.Payload) error

// A Pane shows what turns changed in the files of a session.
type Pane struct {
	app           *app.App
	profile       ansi.Profile
	record        Record
	columns, rows int

	session catalog.Session
	ctx     context.Context // of the session; nil: none is shown
	cancel  context.CancelFunc
	reader  *filechanges.Reader // nil: it is being opened, or cannot be
	problem string              // why it cannot
	list    list
	diff    diff
	reading bool // the keys go to the diff
	helping bool // the page of keys is shown
	dialog  *dialog
	restore *restore
}

// New returns a Pane without a session and without a size.
func New(a *app.App, record Record) *Pane {
	return &Pane{app: a, profile: view.ProfileOf(a), record: record}
}

// openedMsg is a session that was read.
type openedMsg struct {
	ctx    context.Context
	reader *filechanges.Reader
	err    error
}

// Show shows a session. If it is shown already, it is read again, and the selection stays.
func (p *Pane) Show(s catalog.Session) tea.Cmd {
	selected, session := p.list.place(p.reader), p.session
	p.Close()
	if p.session = s; s.Key() == session.Key() {
		p.list.wanted = selected
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.restore = new(restore)
	ctx, a := p.ctx, p.app
	return func() tea.Msg {
		r, err := filechanges.OpenReader(ctx, a, s)
		return openedMsg{ctx, r, err}
	}
}

// Close ends reading, cancels a restore, and waits for it. The pane shows no session.
func (p *Pane) Close() {
	if p.cancel != nil {
		p.cancel()
		p.restore.close()
	}
	*p = Pane{app: p.app, profile: p.profile, record: p.record, columns: p.columns, rows: p.rows}
}

// SetSize sets the size of the pane.
func (p *Pane) SetSize(columns, rows int) {
	p.columns, p.rows = columns, rows
	p.arrange()
}

// Update takes a message: of its own commands, a key or the mouse wheel. It ignores others.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case openedMsg:
		if msg.ctx == p.ctx {
			p.take(msg)
		}
	case diffMsg:
		if msg.ctx == p.ctx && msg.of == p.diff.of {
			p.takeDiff(msg)
		}
	case preparedMsg:
		if msg.ctx == p.ctx {
			p.takePrepared(msg)
		}
	case doneMsg:
		if msg.ctx == p.ctx {
			cmd = p.takeDone(msg)
		}
	case tea.KeyPressMsg:
		cmd = p.press(msg.String())
	case tea.MouseWheelMsg:
		cmd = p.wheel(msg.Button)
	default:
		return nil
	}
	p.arrange()
	return tea.Batch(cmd, p.follow())
}

// take takes a session that was read.
func (p *Pane) take(msg openedMsg) {
	if msg.err != nil {
		if !errors.Is(msg.err, context.Canceled) {
			p.problem = p.app.Render(app.Explain(msg.err))
		}
		return
	}
	p.reader = msg.reader
	p.list.fill(msg.reader)
}

const wheelRows = 3

func (p *Pane) wheel(b tea.MouseButton) tea.Cmd {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelRows, tea.MouseWheelDown: wheelRows}[b]
	switch {
	case p.dialog != nil:
		p.dialog.top += by
	case p.reading:
		p.diff.scroll(by)
	default:
		p.list.selected += by
	}
	return nil
}

// press handles a key.
func (p *Pane) press(key string) tea.Cmd {
	switch {
	case p.helping:
		p.helping = false
		return nil
	case p.dialog != nil:
		return p.pressDialog(key)
	}
	switch key {
	case "?":
		p.helping = true
	case "esc", "q":
		if p.reading {
			p.reading = false
			return nil
		}
		return func() tea.Msg { return CloseMsg{} }
	case "tab", "left":
		p.reading = key == "tab" && !p.reading && p.list.open()
	case "enter", "right":
		p.reading = p.list.open()
	case "n":
		p.next(1)
	case "p":
		p.next(-1)
	case "r":
		return p.prepareFiles()
	case "h":
		return p.prepareHunk()
	case "u":
		return p.prepareUndo()
	default:
		p.move(key)
	}
	return nil
}

// next goes to the next hunk, or the next file after the last one; in the list to the next file.
func (p *Pane) next(by int) {
	if p.reading && p.diff.step(by) {
		return
	}
	if p.list.nextFile(by) && p.reading {
		p.diff.last = by < 0
	}
}

// move scrolls or selects.
func (p *Pane) move(key string) {
	page := max(p.layout().listRows-1, 1)
	if p.reading {
		page = max(p.diff.height-1, 1)
	}
	by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "space": page,
		"ctrl+u": -max(page/2, 1), "ctrl+d": max(page/2, 1),
		"g": -1 << 20, "home": -1 << 20, "G": 1 << 20, "end": 1 << 20,
	}[key]
	switch {
	case !ok:
	case p.reading:
		p.diff.scroll(by)
	default:
		p.list.selected += by
	}
}
