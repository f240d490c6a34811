package browse

import (
	"context"
	"errors"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// restoreMsg asks the caller to restore a session.
type restoreMsg struct{ Session catalog.Key }

// closeTrashMsg asks the caller to close the pane.
type closeTrashMsg struct{}

// keptHeads is how many sessions the pane remembers how they began.
const keptHeads = 1000

// A trashPane shows the sessions in the trash. Its methods are called by one goroutine.
type trashPane struct {
	app           *app.App
	profile       ansi.Profile
	now           func() time.Time
	columns, rows int

	items         []catalog.Trashed
	listed        bool   // items are those of the trash
	problem       string // why they could not be read; "": they could
	selected, top int    // indexes in items
	heads         map[catalog.Key]head

	ctx     context.Context // of the list; nil: none is shown
	cancel  context.CancelFunc
	reading trashReading
}

// head is how a session began, or why that cannot be read.
type head struct {
	catalog.TrashHead
	problem string
}

// trashReading is a request for the heads of the rows that are shown.
type trashReading struct {
	ctx    context.Context
	cancel context.CancelFunc // nil: there is none
}

// itemsMsg is the list of the trash.
type itemsMsg struct {
	ctx   context.Context
	items []catalog.Trashed
	err   error
}

// headsMsg has heads of sessions.
type headsMsg struct {
	ctx   context.Context
	heads map[catalog.Key]head
}

// newTrashPane returns a pane without sessions and without a size.
func newTrashPane(a *app.App) *trashPane {
	p := &trashPane{app: a, profile: view.ProfileOf(a), now: time.Now, heads: map[catalog.Key]head{}}
	return p
}

// Show lists the trash. If it is shown already, it is listed again.
func (p *trashPane) Show() tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	ctx, c := p.ctx, p.app.Catalog
	return func() tea.Msg {
		items, err := c.Trash(ctx)
		return itemsMsg{ctx, items, err}
	}
}

// Close ends reading and forgets the sessions.
func (p *trashPane) Close() {
	for _, cancel := range []context.CancelFunc{p.cancel, p.reading.cancel} {
		if cancel != nil {
			cancel()
		}
	}
	*p = trashPane{
		app: p.app, profile: p.profile, now: p.now, columns: p.columns, rows: p.rows, heads: map[catalog.Key]head{},
	}
}

// SetSize sets the size of the pane.
func (p *trashPane) SetSize(columns, rows int) tea.Cmd {
	p.columns, p.rows = columns, rows
	return p.move(0)
}

// Update takes a message: of its own commands, a key or the mouse wheel. It ignores others.
func (p *trashPane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case itemsMsg:
		if msg.ctx == p.ctx {
			return p.take(msg)
		}
	case headsMsg:
		if msg.ctx == p.reading.ctx {
			p.takeHeads(msg)
		}
	case tea.KeyPressMsg:
		return p.press(msg.String())
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			return p.move(-wheelRows)
		case tea.MouseWheelDown:
			return p.move(wheelRows)
		}
	}
	return nil
}

// take shows the list. The selection stays on its row.
func (p *trashPane) take(msg itemsMsg) tea.Cmd {
	if errors.Is(msg.err, context.Canceled) {
		return nil
	}
	p.items, p.listed, p.problem = msg.items, true, ""
	if msg.err != nil {
		p.problem = p.app.Render(app.Explain(msg.err))
	}
	return p.move(0)
}

// takeHeads keeps heads of sessions. If there are many, it forgets those that are not shown.
func (p *trashPane) takeHeads(msg headsMsg) {
	p.reading = trashReading{}
	maps.Copy(p.heads, msg.heads)
	if len(p.heads) <= keptHeads {
		return
	}
	shown := map[catalog.Key]head{}
	for _, item := range p.visible() {
		if h, known := p.heads[keyOf(item)]; known {
			shown[keyOf(item)] = h
		}
	}
	p.heads = shown
}

// press handles a key.
func (p *trashPane) press(key string) tea.Cmd {
	page := max(p.height()-1, 1)
	switch key {
	case "up", "k":
		return p.move(-1)
	case "down", "j":
		return p.move(1)
	case "pgup":
		return p.move(-page)
	case "pgdown":
		return p.move(page)
	case "ctrl+u":
		return p.move(-max(page/2, 1))
	case "ctrl+d":
		return p.move(max(page/2, 1))
	case "g", "home":
		return p.move(-len(p.items))
	case "G", "end":
		return p.move(len(p.items))
	case "enter", "u":
		if p.selected < len(p.items) {
			restore := restoreMsg{keyOf(p.items[p.selected])}
			return func() tea.Msg { return restore }
		}
	case "esc", "q", "ctrl+c":
		return func() tea.Msg { return closeTrashMsg{} }
	}
	return nil
}

func keyOf(item catalog.Trashed) catalog.Key { return catalog.Key{Dir: item.Dir, ID: item.ID} }

// move selects the session so many rows below, or the next one that exists, and scrolls so that it is shown.
func (p *trashPane) move(by int) tea.Cmd {
	height := max(p.height(), 1)
	p.selected = max(0, min(p.selected+by, len(p.items)-1))
	p.top = max(p.selected-height+1, min(p.top, p.selected))
	p.top = max(0, min(p.top, len(p.items)-height))
	return p.readHeads()
}

// visible returns the sessions that are shown.
func (p *trashPane) visible() []catalog.Trashed {
	return p.items[min(p.top, len(p.items)):min(p.top+max(p.height(), 0), len(p.items))]
}

// readHeads reads how the sessions that are shown began, as far as that is unknown. An earlier request ends.
func (p *trashPane) readHeads() tea.Cmd {
	var keys []catalog.Key
	for _, item := range p.visible() {
		if _, known := p.heads[keyOf(item)]; !known {
			keys = append(keys, keyOf(item))
		}
	}
	if p.reading.cancel != nil {
		p.reading.cancel()
	}
	p.reading = trashReading{}
	if len(keys) == 0 || p.ctx == nil {
		return nil
	}
	p.reading.ctx, p.reading.cancel = context.WithCancel(p.ctx)
	ctx, c := p.reading.ctx, p.app.Catalog
	return func() tea.Msg {
		m := headsMsg{ctx, map[catalog.Key]head{}}
		for _, key := range keys {
			began, err := c.At(key.Dir).TrashHead(ctx, key.ID)
			if ctx.Err() != nil {
				break
			}
			h := head{TrashHead: began}
			if err != nil {
				h.problem = problemText(err)
			}
			m.heads[key] = h
		}
		return m
	}
}
