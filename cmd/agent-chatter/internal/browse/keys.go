package browse

import (
	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const wheelRows = 3

// press handles a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+z" {
		return m.suspend()
	}
	switch {
	case m.actions.Quitting():
		return m.pressQuitting(k.String())
	case m.actions.Asking():
		return m.actions.Answer(k)
	}
	if k.String() == "ctrl+c" && m.mode > reading {
		return m.quit()
	}
	switch m.mode {
	case typing:
		return m.pressTyping(k)
	case reading:
		return m.pressReading(k)
	case timing:
		return m.timeline.Update(k)
	case comparing:
		return m.compare.Update(k)
	case trashing:
		return m.trash.Update(k)
	case reviewing:
		return m.files.Update(k)
	case helping:
		m.pressHelping(k.String())
		return nil
	}
	return m.pressChoosing(k.String())
}

// suspend stops the process until the shell continues it.
func (m *model) suspend() tea.Cmd {
	if m.watch != nil {
		m.watch.Release()
	}
	return tea.Suspend
}

// pressTyping edits the text to search for.
func (m *model) pressTyping(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "tab":
		m.mode = choosing
		m.list.filling = false // the next Enter resumes what is selected now
	case "esc", "ctrl+c":
		m.mode = choosing
		return m.search("")
	case "up":
		m.list.move(-1)
	case "down":
		m.list.move(1)
	default:
		return m.edit(k)
	}
	return nil
}

// pressReading handles a key while the preview has the keys.
func (m *model) pressReading(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "tab", "esc", "left", "h":
		m.mode = choosing
		return nil
	case "up", "k", "down", "j", "pgup", "pgdown", "ctrl+u", "ctrl+d", "g", "G", "home", "end":
		return m.preview.Update(k)
	}
	return m.pressChoosing(k.String())
}

// pressChoosing handles a key while the list has the keys.
func (m *model) pressChoosing(key string) tea.Cmd {
	if m.moveBy(key) {
		return nil
	}
	switch key {
	case "q", "ctrl+c":
		return m.quit()
	case "esc":
		return m.leave()
	case "/":
		m.mode = typing
	case "?":
		m.mode, m.helpTop = helping, 0
	case "enter":
		return m.choose()
	case "tab", "right", "l":
		if m.places().previewRows > 0 {
			m.mode = reading
		}
	case "t":
		return m.time()
	case "v":
		return m.review()
	case "D":
		return m.compareMarked()
	case "5":
		return m.showTrash()
	case "n":
		return m.nextHit(1)
	case "N":
		return m.nextHit(-1)
	case "space":
		m.list.mark()
		m.list.move(1)
	default:
		s, ok := m.list.session()
		if m.filter.Press(key, s, ok) {
			return m.restart()
		}
		return m.act(key, s, ok)
	}
	return nil
}

// moveBy moves the selection if a key does so.
func (m *model) moveBy(key string) bool {
	page := max(m.list.height-1, 1)
	switch key {
	case "up", "k":
		m.list.move(-1)
	case "down", "j":
		m.list.move(1)
	case "pgup":
		m.list.move(-page)
	case "pgdown":
		m.list.move(page)
	case "ctrl+u":
		m.list.move(-page / 2)
	case "ctrl+d":
		m.list.move(page / 2)
	case "g", "home":
		m.list.selectAt(0)
	case "G", "end":
		m.list.selectAt(len(m.list.shown) - 1)
	default:
		return false
	}
	return true
}

// leave ends the search, then removes the filter, then quits.
func (m *model) leave() tea.Cmd {
	if m.input.Text() != "" {
		return m.search("")
	}
	if m.filter.Clear() {
		return m.restart()
	}
	return m.quit()
}

// time shows the timeline of the selected session.
func (m *model) time() tea.Cmd {
	s, ok := m.list.session()
	if !ok {
		return nil
	}
	if m.away(s) {
		return m.fetch(s, m.time)
	}
	m.mode, m.timed = timing, s
	return m.timeline.Show(s)
}

// review shows what turns of the selected session changed in files.
func (m *model) review() tea.Cmd {
	s, ok := m.list.session()
	switch {
	case !ok:
		return nil
	case m.away(s):
		return m.fetch(s, m.review)
	case s.Key() == m.running:
		m.notice = "This session is open in this chat. To review its files, type /files there."
		return nil
	}
	m.mode, m.reviewed = reviewing, s
	return m.files.Show(s)
}

// compareMarked shows where the two marked sessions diverge, or a marked one and the selected one.
func (m *model) compareMarked() tea.Cmd {
	marked := m.list.marked
	if key, ok := m.list.key(); ok && len(marked) == 1 && marked[0] != key {
		marked = []catalog.Key{marked[0], key}
	}
	if len(marked) < 2 {
		m.say("Mark two sessions with Space to compare them.")
		return nil
	}
	var pair [2]catalog.Session
	for i, key := range marked {
		s, ok := m.list.find(key)
		if !ok {
			m.say("A marked session is not in the list any more.")
			m.list.marked = nil
			return nil
		}
		if m.away(s) {
			return m.fetch(s, m.compareMarked)
		}
		pair[i] = s
	}
	m.mode = comparing
	return m.compare.Show(pair[0], pair[1])
}

// choose ends the browser with the selected session.
func (m *model) choose() tea.Cmd {
	s, ok := m.list.session()
	if !ok {
		return nil
	}
	if reason := m.notResumable(s); reason != "" {
		m.notice = reason
		return nil
	}
	m.choice = Choice{Session: s, Chosen: true}
	return m.quit()
}
