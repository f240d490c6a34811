package browse

import (
	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/find"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// previewed is what the preview shows.
type previewed struct {
	size    [2]int
	key     catalog.Key
	session catalog.Session
	text    string // that is highlighted
	hit     int    // index of the hit that is shown
	at      uint64 // its seq; 0: the end of the session
}

// follow shows the selected session in the preview, if it shows another one, or an older state of it.
func (m *model) follow() tea.Cmd {
	s, ok := m.list.session()
	if !ok {
		if m.previewed.key != (catalog.Key{}) {
			m.previewed = previewed{size: m.previewed.size}
			m.preview.Close()
		}
		return nil
	}
	if m.previewed.key != s.Key() || m.previewed.text != m.finder.Text {
		m.previewed = previewed{size: m.previewed.size, key: s.Key(), session: s, text: m.finder.Text}
		m.preview.SetMatch(find.Matcher(m.finder.Text))
		m.previewed.at = m.hitSeq()
		return m.preview.Show(s, m.previewed.at)
	}
	before := m.previewed.session
	m.previewed.session = s
	if at := m.hitSeq(); m.previewed.at == 0 && at != 0 { // found meanwhile
		m.previewed.at = at
		return m.preview.Show(s, at)
	}
	if s.LastSeq != before.LastSeq || s.Bytes != before.Bytes || s.Title != before.Title || s.Pinned != before.Pinned {
		return m.preview.Refresh(s)
	}
	return nil
}

// hitSeq is the seq of the hit that the preview shows; 0: none.
func (m *model) hitSeq() uint64 {
	one := m.finder.Found[m.previewed.key]
	if one == nil || m.previewed.hit >= len(one.Seqs) {
		return 0
	}
	return one.Seqs[m.previewed.hit]
}

// nextHit shows the next message with the text in the selected session, or that before with -1.
func (m *model) nextHit(by int) tea.Cmd {
	one := m.finder.Found[m.previewed.key]
	switch {
	case one == nil || len(one.Seqs) == 0:
		m.say("No message of this session has the text.")
		return nil
	case m.previewed.hit+by >= len(one.Seqs) && len(one.Seqs) < one.Hits:
		m.say("n and N go through the first %d of %d matches.", len(one.Seqs), one.Hits)
		return nil
	case m.previewed.hit+by < 0 || m.previewed.hit+by >= len(one.Seqs):
		m.say("There is no other match in this session.")
		return nil
	}
	m.previewed.hit += by
	m.previewed.at = m.hitSeq()
	m.say("Match %d of %d", m.previewed.hit+1, one.Hits)
	return m.preview.Show(m.previewed.session, m.previewed.at)
}
