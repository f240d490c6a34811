package browse

import (
	"context"
	"fmt"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/find"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/preview"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/turns"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/review"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A mode is what the keys go to.
type mode int

const (
	choosing  mode = iota // the list
	typing                // the text to search for
	reading               // the preview
	helping               // the page of keys
	timing                // the timeline of a session
	comparing             // the timelines of two sessions
	trashing              // the sessions in the trash
	reviewing             // what turns changed in files
)

// A model is the state of the browser.
type model struct {
	ctx     context.Context
	app     *app.App
	catalog *catalog.Catalog
	profile ansi.Profile
	now     func() time.Time
	watch   *tty.Watch  // restores the terminal if the process dies; nil: nothing does
	tick    tea.Cmd     // asks for a look at what changed, after a while
	running catalog.Key // the session of the chat that opened the browser

	columns, rows int
	mode          mode
	list          list
	loader        loader
	filter        listFilter
	input         *editor.Field // the text to search for
	finder        *find.Finder
	preview       *preview.Pane
	previewed     previewed // what the preview shows
	timeline      *turns.Timeline
	timed         catalog.Session // whose timeline it is
	compare       *comparePane
	trash         *trashPane
	files         *review.Pane
	reviewed      catalog.Session // whose files they are
	actions       *actions
	fetcher       *fetcher    // of the sessions on the hub
	wanted        catalog.Key // is selected when it is listed
	paneSize      [2]int      // columns and rows of the panes on the whole screen
	helpTop       int         // the first line of the help that is shown
	listed        bool        // the list was read
	outdated      bool        // the list is of another filter, or was not read yet
	problem       string      // why it could not be read
	notice        string      // of the last line, until the next key
	unreadable    map[unreadableMsg]bool

	rowsRequested bool // the rows on the screen are being read

	choice Choice
}

// tickMsg asks for a look at what changed.
type tickMsg struct{}

func newModel(ctx context.Context, a *app.App, o Options) *model {
	m := &model{
		ctx: ctx, app: a, catalog: ownCatalog(a), now: time.Now, tick: tick, running: o.Running,
		filter: filterOf(o.Query), input: editor.NewField(o.Text), columns: 80, rows: 24, profile: view.ProfileOf(a),
		outdated: true, unreadable: map[unreadableMsg]bool{},
	}
	m.finder = find.New(ctx, m.catalog)
	own := *a
	own.Catalog = m.catalog
	m.preview, m.timeline, m.compare = preview.New(&own), turns.NewTimeline(&own), newComparePane(&own)
	m.trash, m.actions, m.fetcher = newTrashPane(&own), newActions(ctx, &own), newFetcher(ctx)
	m.files = review.New(&own, nil)
	m.list.rows = map[catalog.Key]catalog.Session{}
	return m
}

// close cancels what is being read or changed.
func (m *model) close() {
	m.actions.Close()
	m.fetcher.close()
	m.loader.stop()
	m.finder.Stop()
	m.preview.Close()
	m.closePanes()
}

// closePanes cancels what is being read or set back for the panes on the whole screen.
func (m *model) closePanes() {
	m.timeline.Close()
	m.compare.Close()
	m.trash.Close()
	m.files.Close()
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	m.hold()
	m.finder.Prepare(m.input.Text())
	return tea.Batch(
		m.loader.load(m.ctx, m.catalog, m.filter.Query()),
		m.tick,
	)
}

// hold makes the watch restore the terminal, which is ours now.
func (m *model) hold() {
	if m.watch != nil {
		m.watch.Hold()
	}
}

func tick() tea.Msg {
	time.Sleep(refreshTime)
	return tickMsg{}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	return m, tea.Batch(cmd, m.arrange(), m.follow(), m.rest())
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tea.ResumeMsg:
		m.hold()
	case tea.KeyPressMsg:
		m.notice = ""
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case listedMsg:
		search := m.take(msg)
		m.arrange()
		return tea.Batch(search, m.readRows())
	case find.TitlesMsg, find.HitsMsg, find.ChangedMsg:
		changed, cmd := m.finder.Update(msg)
		if changed {
			m.show()
			m.settle()
		}
		return cmd
	case rowsMsg:
		return m.takeRows(msg)
	case elsewhereMsg:
		return m.takeElsewhere(msg)
	case restedMsg:
		return m.rested(catalog.Key(msg))
	case fetchedMsg:
		return m.fetched(msg)
	case unreadableMsg:
		m.unreadable[msg] = true
	case tickMsg:
		return tea.Batch(m.tick, m.refresh())
	case turns.CloseMsg, closeTrashMsg, review.CloseMsg:
		m.mode = choosing
		m.closePanes()
	case turns.ForkMsg:
		m.choice = Choice{Session: msg.Session, Chosen: true, ForkAt: msg.Seq}
		return m.quit()
	case doneMsg:
		return m.changed(msg)
	case restoreMsg:
		return m.actions.Restore(msg.Session)
	default:
		return tea.Batch(m.preview.Update(msg), m.timeline.Update(msg), m.compare.Update(msg), m.trash.Update(msg),
			m.files.Update(msg))
	}
	return nil
}

// take shows the list that was read, and searches it if it is the first one of its filter, else what has changed in it.
func (m *model) take(msg listedMsg) tea.Cmd {
	if !m.loader.take(msg, m.now()) {
		return nil
	}
	first := !m.listed
	m.listed, m.problem = true, ""
	defer m.settle()
	if msg.err != nil {
		m.problem = app.Explain(msg.err).Text
		return nil
	}
	m.outdated = false
	changed := m.finder.Compare(m.list.all, msg.entries)
	m.list.replace(msg.entries, m.finder.Filter(msg.entries))
	m.selectWanted()
	cmd := tea.Batch(changed, m.finder.Start(msg.entries))
	if first && m.fetcher.elsewhere != nil { // the hub has answered meanwhile
		cmd = tea.Batch(cmd, m.reload())
	}
	return cmd
}

// settle keeps the selection on its session once the search has ended, in the list that is being read if there is one.
func (m *model) settle() {
	m.list.filling = m.list.filling && m.finder.Text != "" && (m.loader.running || !m.finder.Ended())
}

// show filters the list by what was found.
func (m *model) show() { m.list.replace(m.list.all, m.finder.Filter(m.list.all)) }

// refresh reads what may have changed.
func (m *model) refresh() tea.Cmd {
	rows := m.readRows()
	if !m.loader.due(m.now()) {
		return rows
	}
	return tea.Batch(rows, m.reload())
}

// readRows reads the rows on the screen, unless that is being done.
func (m *model) readRows() tea.Cmd {
	if m.rowsRequested {
		return nil
	}
	m.rowsRequested = true
	return readRows(m.ctx, m.catalog, m.list.visible())
}

// takeRows takes up the state of the rows on the screen. A timeline that is shown grows with its session.
func (m *model) takeRows(msg rowsMsg) tea.Cmd {
	m.rowsRequested = false
	m.list.live = msg.live
	maps.Copy(m.list.rows, msg.rows)
	s, ok := msg.rows[m.timed.Key()]
	if !ok || m.mode != timing || s.LastSeq == m.timed.LastSeq {
		return nil
	}
	m.timed = s
	return m.timeline.Show(s)
}

func (m *model) reload() tea.Cmd {
	q := m.filter.Query()
	q.Elsewhere = m.fetcher.elsewhere
	return m.loader.load(m.ctx, m.catalog, q)
}

// restart reads the list and searches it, after the filter has changed.
func (m *model) restart() tea.Cmd {
	m.list.fill()
	m.outdated = true
	m.finder.Prepare(m.input.Text())
	return m.reload()
}

// search searches for another text.
func (m *model) search(text string) tea.Cmd {
	m.input.Set(text)
	return m.find()
}

// paste inserts text into what is typed.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.actions.Asking():
		return m.actions.Answer(msg)
	case m.mode == typing:
		return m.edit(msg)
	}
	return nil
}

// edit changes the text to search for.
func (m *model) edit(msg tea.Msg) tea.Cmd {
	before := m.input.Text()
	if m.input.Update(msg); m.input.Text() == before {
		return nil
	}
	return m.find()
}

// find searches for the text of the input.
func (m *model) find() tea.Cmd {
	m.finder.Prepare(m.input.Text())
	m.show()
	if m.finder.Text == "" {
		m.list.filling = false
	} else {
		m.list.fill()
	}
	if m.outdated {
		return nil // take searches the list that is being read
	}
	return m.finder.Start(m.list.all)
}

// wheel scrolls what is below the pointer.
func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	if m.actions.Asking() {
		return nil
	}
	switch m.mode {
	case timing:
		return m.timeline.Update(msg)
	case comparing:
		return m.compare.Update(msg)
	case trashing:
		return m.trash.Update(msg)
	case reviewing:
		return m.files.Update(msg)
	case helping:
		return nil
	}
	if m.places().inPreview(msg.X, msg.Y) {
		return m.preview.Update(msg)
	}
	switch msg.Button {
	case tea.MouseWheelUp:
		m.list.move(-wheelRows)
	case tea.MouseWheelDown:
		m.list.move(wheelRows)
	}
	return nil
}

// click selects the row that was clicked, or gives the keys to the preview.
func (m *model) click(msg tea.MouseClickMsg) {
	p := m.places()
	row := msg.Y - p.listTop
	switch {
	case msg.Button != tea.MouseLeft || m.mode >= helping || m.actions.Asking():
	case p.inPreview(msg.X, msg.Y):
		m.mode = reading
	case row >= 0 && row < p.listRows && msg.X < p.listColumns:
		m.mode = choosing
		if i := row / m.rowHeight(); i < len(m.list.visible()) {
			m.list.selectAt(m.list.top + i)
		}
	}
}

// say shows a notice on the last line.
func (m *model) say(format string, args ...any) {
	m.notice = tty.SafeLine(fmt.Sprintf(format, args...))
}
