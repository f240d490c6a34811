package preview

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Pane shows the conversation of a session. Its methods are called by one goroutine.
type Pane struct {
	app     *app.App
	profile ansi.Profile

	size    struct{ columns, rows int }
	session catalog.Session
	last    uint64          // the last event that is shown; 0: that of the session
	ctx     context.Context // of the session; nil: none is shown
	cancel  context.CancelFunc
	pattern func(text string) [][]int // nil: nothing is marked
	match   *spot                     // the match that was jumped to last; nil: none

	busy    bool   // a command reads
	place   *place // where the session is to be opened; nil: it is open
	stale   bool   // the session has changed since it was read
	reads   int    // that may be done until the next key
	laidOut int    // the columns of the rows of document
	head    head
	document
	top    int // the first row that is shown
	kept   keptSpot
	follow bool // the last row stays shown when rows are added
}

// A keptSpot is what top shows, whatever the columns, unless top was changed since. A spot without rows is none.
type keptSpot struct {
	spot
	top int
}

// New returns a pane without a session and without a size.
func New(a *app.App) *Pane {
	p := &Pane{app: a, profile: view.ProfileOf(a)}
	return p
}

// Show shows a session: around the event with seq at, or with 0 its end.
func (p *Pane) Show(s catalog.Session, at uint64) tea.Cmd {
	if p.last > 0 {
		p.document = document{}
	}
	p.take(s, 0)
	if from, to, ok := p.find(at); ok && p.place == nil && p.laidOut == p.width() {
		p.showMessage(from, to)
		return p.more()
	}
	return p.open(place{seq: at})
}

// ShowUntil shows the end of a session as it was after event last, without a head.
func (p *Pane) ShowUntil(s catalog.Session, last uint64) tea.Cmd {
	p.take(s, last)
	return p.open(place{})
}

// take takes a session to show up to an event. What was shown stays until the session is open, if it is the same.
func (p *Pane) take(s catalog.Session, last uint64) {
	if p.ctx == nil || s.ID != p.session.ID || s.Dir() != p.session.Dir() {
		p.head = head{}
		p.document = document{}
	}
	p.session, p.last = s, last
}

// Refresh takes up what has changed in the session that is shown. s is its new description.
func (p *Pane) Refresh(s catalog.Session) tea.Cmd {
	p.session, p.stale = s, true
	return p.more()
}

// Close ends reading. The pane shows no session.
func (p *Pane) Close() {
	if p.cancel != nil {
		p.cancel()
	}
	*p = Pane{app: p.app, profile: p.profile, size: p.size, pattern: p.pattern}
}

// SetSize sets the size of the pane.
func (p *Pane) SetSize(columns, rows int) tea.Cmd {
	p.size.columns, p.size.rows = columns, rows
	if p.follow {
		p.top = p.lastTop()
	}
	return p.more()
}

// open opens the session at a place, and ends what is being read.
func (p *Pane) open(at place) tea.Cmd {
	if p.cancel != nil {
		p.cancel()
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.place, p.busy, p.stale = &at, false, false
	return p.more()
}

// mostReads is how many chunks are read when a session is opened, and then until the next key or change: many events
// may show nothing.
const mostReads = 4

// more is next after a key or a change.
func (p *Pane) more() tea.Cmd {
	p.reads = mostReads
	return p.next()
}

// next returns the command that reads or lays out what the pane needs next; nil: nothing, or a command is running.
func (p *Pane) next() tea.Cmd {
	if p.busy || p.ctx == nil || p.width() <= 0 || p.height() <= 0 {
		return nil
	}
	switch l := p.loader(); {
	case p.place != nil:
		return p.opening(l, *p.place)
	case p.laidOut != l.columns:
		return p.changing(l, l.layOutAgain)
	case p.stale:
		p.stale = false
		if last, _ := p.end(); last == nil || p.follow && p.session.End.Offset-last.to.Offset > conversation.MostBytes {
			return p.open(place{})
		}
		return p.changing(l, l.refresh)
	case p.reads == 0:
		return nil
	case !p.ended && (p.follow || p.document.rows()-p.top-p.height() < p.margin()):
		p.reads--
		return p.changing(l, l.readMoreAfter)
	case !p.started && p.top < p.margin():
		p.reads--
		return p.changing(l, l.readMoreBefore)
	}
	return nil
}

// margin returns how many rows are loaded before and after those that are shown.
func (p *Pane) margin() int { return 2 * p.height() }

// loader returns what a command takes to its goroutine.
func (p *Pane) loader() *loader {
	return &loader{
		dir: p.app.Catalog.At(p.session.Dir()), session: p.session, head: p.head, render: p.app.Render, last: p.last,
		columns: p.width(), rows: p.height(), profile: p.profile,
	}
}

// loaded is the message of a command of a pane.
type loaded struct {
	ctx   context.Context // Pane.ctx
	apply func()          // changes the pane
}

// run returns the command that does some work, and whose message has the function that work returns.
func (p *Pane) run(work func(ctx context.Context) (apply func())) tea.Cmd {
	p.busy = true
	ctx := p.ctx
	return func() tea.Msg { return loaded{ctx, work(ctx)} }
}

// opening returns the command that opens the session.
func (p *Pane) opening(l *loader, at place) tea.Cmd {
	return p.run(func(ctx context.Context) func() {
		d := l.open(ctx, at)
		return func() {
			p.document, p.head, p.place, p.laidOut, p.kept = d, l.head, nil, l.columns, keptSpot{}
			p.trim()
			from, to, ok := p.find(at.seq)
			switch {
			case at.seq > 0 && ok:
				p.showMessage(from, to)
			case at.start:
				p.scrollTo(0)
			default:
				p.scrollTo(p.document.rows())
			}
		}
	})
}

// changing returns the command that changes the document, of which the same rows stay shown. If change returns false,
// the session is opened again.
func (p *Pane) changing(l *loader, change func(context.Context, *document) bool) tea.Cmd {
	d := p.document
	d.parts = slices.Clone(d.parts)
	return p.run(func(ctx context.Context) func() {
		ok := change(ctx, &d)
		return func() {
			if !ok {
				p.place = &place{}
				return
			}
			spot, shown := p.spot(p.top)
			if p.kept.top == p.top && p.kept.rows > 0 {
				spot = p.kept.spot // of which the row on top may be only the nearest
			}
			p.document, p.head, p.laidOut = d, l.head, l.columns
			p.trim()
			switch {
			case p.follow:
				p.top = p.lastTop()
			case shown:
				p.top = p.document.row(spot)
			}
			p.drop()
			if p.kept = (keptSpot{}); !p.follow {
				p.kept = keptSpot{spot, p.top}
			}
		}
	})
}

// Update takes a message: of its own commands, a key or the mouse wheel. It ignores others.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loaded:
		if p.ctx == nil || msg.ctx != p.ctx {
			return nil
		}
		p.busy = false
		msg.apply()
		return p.next()
	case tea.KeyPressMsg:
		return p.press(msg.String())
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			return p.scroll(-wheelRows)
		case tea.MouseWheelDown:
			return p.scroll(wheelRows)
		}
	}
	return nil
}

const wheelRows = 3

func (p *Pane) press(key string) tea.Cmd {
	switch key {
	case "up", "k":
		return p.scroll(-1)
	case "down", "j":
		return p.scroll(1)
	case "pgup":
		return p.scroll(-p.height())
	case "pgdown":
		return p.scroll(p.height())
	case "ctrl+u":
		return p.scroll(-max(p.height()/2, 1))
	case "ctrl+d":
		return p.scroll(max(p.height()/2, 1))
	case "home", "g":
		if !p.started && p.ctx != nil {
			return p.open(place{start: true})
		}
		return p.scroll(-p.top)
	case "end", "G":
		if !p.ended && p.ctx != nil {
			return p.open(place{})
		}
		return p.scroll(p.document.rows())
	}
	return nil
}

// scroll scrolls down by some rows.
func (p *Pane) scroll(rows int) tea.Cmd {
	p.scrollTo(p.top + rows)
	p.match = nil
	return p.more()
}

// scrollTo makes a row the first one that is shown, if enough rows follow it. At the end, the pane follows the session.
func (p *Pane) scrollTo(row int) {
	p.top = min(max(row, 0), p.lastTop())
	p.follow = p.ended && p.top == p.lastTop()
}

// lastTop returns the first row that is shown at the end.
func (p *Pane) lastTop() int { return max(0, p.document.rows()-p.height()) }

// showMessage scrolls to a match in some rows, or to the first of them. It is in the upper third.
func (p *Pane) showMessage(from, to int) {
	if rows := p.matchingRows(from, to); len(rows) > 0 {
		p.jump(rows[0])
		return
	}
	p.match = nil
	p.scrollTo(from - p.height()/3)
}

// keptBytes bounds the events that are loaded, besides the part that is shown.
const keptBytes = 8 << 20

// drop drops parts that are far from the rows that are shown, if many bytes are loaded.
func (p *Pane) drop() {
	bytes := 0
	for _, part := range p.parts {
		bytes += part.bytes
	}
	for bytes > keptBytes && len(p.parts) > 1 {
		// The rows that would remain.
		above := p.top - len(p.parts[0].rows)
		last := p.parts[len(p.parts)-1]
		below := p.document.rows() - len(last.rows) - p.top - p.height()
		switch {
		case max(above, below) < p.margin():
			return
		case above >= below:
			bytes -= p.parts[0].bytes
			p.top -= len(p.parts[0].rows)
			p.parts, p.started = p.parts[1:], false
		default:
			bytes -= last.bytes
			p.parts, p.ended = p.parts[:len(p.parts)-1], false
		}
	}
}
