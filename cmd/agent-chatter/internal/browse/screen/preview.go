package screen

import (
	"regexp"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
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
	if m.previewed.key != s.Key() || m.previewed.text != m.finder.text {
		m.previewed = previewed{size: m.previewed.size, key: s.Key(), session: s, text: m.finder.text}
		m.preview.SetMatch(matcher(m.finder.text))
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
	one := m.finder.found[m.previewed.key]
	if one == nil || m.previewed.hit >= len(one.seqs) {
		return 0
	}
	return one.seqs[m.previewed.hit]
}

// nextHit shows the next message with the text in the selected session, or that before with -1.
func (m *model) nextHit(by int) tea.Cmd {
	one := m.finder.found[m.previewed.key]
	switch {
	case one == nil || len(one.seqs) == 0:
		m.say("No message of this session has the text.")
		return nil
	case m.previewed.hit+by >= len(one.seqs) && len(one.seqs) < one.hits:
		m.say("n and N go through the first %d of %d matches.", len(one.seqs), one.hits)
		return nil
	case m.previewed.hit+by < 0 || m.previewed.hit+by >= len(one.seqs):
		m.say("There is no other match in this session.")
		return nil
	}
	m.previewed.hit += by
	m.previewed.at = m.hitSeq()
	m.say("Match %d of %d", m.previewed.hit+1, one.hits)
	return m.preview.Show(m.previewed.session, m.previewed.at)
}

// matcher returns where a text that is searched for is in what is shown.
func matcher(text string) func(string) [][]int {
	if text == "" {
		return nil
	}
	expression := regexp.QuoteMeta(text)
	if !search.MatchesCase(text) {
		expression = "(?i)" + expression
	}
	find := regexp.MustCompile(expression)
	return func(shown string) [][]int { return find.FindAllStringIndex(shown, -1) }
}
