package browse

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/changes"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// act handles a key that changes the selected session, or undoes that.
func (m *model) act(key string, s catalog.Session, selected bool) (cmd tea.Cmd) {
	switch {
	case key == "u":
		cmd, m.notice = m.actions.Undo()
	case selected && s.Key() == m.running && slices.Contains([]string{"r", "p", "d"}, key):
		m.notice = "This session is open in this chat. To rename it, type /rename TITLE there."
	case selected && key == "d" && m.away(s):
		m.notice = m.app.Render(changes.OnlyOnHubText(s.ID))
	case selected:
		if wait, waits := m.actWhenHere(key, s); waits {
			return wait
		}
		cmd, m.notice = m.actions.Press(key, s, titleOf(s))
	}
	return cmd
}

// changed shows the end of a change. If it has failed, the browser stays open so that the reason can be read.
func (m *model) changed(msg doneMsg) tea.Cmd {
	outcome := m.actions.Done(msg)
	m.notice = outcome.Notice
	if outcome.Select != (catalog.Key{}) {
		m.wanted = outcome.Select
	}
	switch {
	case m.actions.Quitting() && outcome.Failed:
		m.choice = Choice{}
		m.actions.Stay(m.ctx)
	case m.actions.Quitting():
		return m.quit()
	}
	if outcome.Again != nil && m.mode != typing && !m.actions.Asking() {
		outcome.Again()
	}
	if m.mode == trashing {
		return tea.Batch(m.reload(), m.trash.Show())
	}
	return m.reload()
}

// selectWanted selects the session that a change made or restored, once it is listed.
func (m *model) selectWanted() {
	if m.wanted == (catalog.Key{}) {
		return
	}
	i := slices.IndexFunc(m.list.shown, func(e *catalog.Entry) bool { return e.Key() == m.wanted })
	if m.wanted = (catalog.Key{}); i >= 0 {
		m.list.selectAt(i)
	}
}

// quit ends the browser after the changes that run.
func (m *model) quit() (cmd tea.Cmd) {
	cmd, m.notice = m.actions.Quit()
	return cmd
}

// pressQuitting handles a key while the browser waits for changes.
func (m *model) pressQuitting(key string) tea.Cmd {
	if key == "ctrl+c" {
		m.actions.Cancel()
	}
	return m.quit()
}

// showTrash shows the trash instead of the list.
func (m *model) showTrash() tea.Cmd {
	m.mode = trashing
	return m.trash.Show()
}
