package guide

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/clipperhouse/displaywidth"
)

func TestPagesHaveNoComments(t *testing.T) {
	topics := Topics()
	if len(topics) == 0 {
		t.Fatal("no topics")
	}
	for _, topic := range topics {
		if text := topic.text(); !strings.HasPrefix(text, "# ") || strings.Contains(text, "<!--") {
			t.Errorf("%s: %.60q", topic.Name, text)
		}
	}
}

func TestPagesForATerminal(t *testing.T) {
	for _, topic := range Topics() {
		source := topic.text()
		for _, code := range markdown.Parse(source).Code {
			if text := source[code.Start:code.End]; linkToFile().MatchString(text) {
				t.Errorf("%s: a link in code would be changed: %s", topic.Name, text)
			}
		}
		page := topic.page()
		if strings.Contains(page, "](.") || strings.Contains(page, ".md)") || strings.Contains(page, "\n![") {
			t.Errorf("%s has links to files or pictures:\n%s", topic.Name, page)
		}
	}
	for _, test := range []struct{ topic, text string }{
		{"chat", "[tail](<guide tail>)"}, {"agents", "[Agent Client Protocol](https://agentclientprotocol.com)"},
		{"format", "[session snapshot v1.0](schemas/session-snapshot-v1.0.json)"},
		{"development", "[cmd/agent-chatter](cmd/agent-chatter)"},
	} {
		if topic, _, _ := find(test.topic); !strings.Contains(topic.page(), test.text) {
			t.Errorf("%s lacks %s", test.topic, test.text)
		}
	}
}

func TestPagesAreFilled(t *testing.T) {
	for _, width := range []int{50, 80, 120} {
		for _, topic := range Topics() {
			for _, line := range view.Render(view.Page(topic.page()), view.Style{Width: width}) {
				if strings.Contains(strings.TrimPrefix(line, "  "), "  ") || strings.HasPrefix(line, "  ") {
					continue // a table or code
				}
				if n := displaywidth.String(line); n >= width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at %d columns: %s", topic.Name, width, line)
				}
			}
		}
	}
}

func TestFindSuggestsNearestTopic(t *testing.T) {
	for _, test := range []struct{ name, topic, nearest string }{
		{"export", "export", ""}, {"Export", "export", ""},
		{"resum", "", "resume"}, {"Replya", "", "replay"}, {"conf", "", "configuration"}, {"xyz", "", ""},
	} {
		topic, nearest, ok := find(test.name)
		if topic.Name != test.topic || nearest != test.nearest || ok != (test.topic != "") {
			t.Errorf("find(%q) = %s, %s, %v", test.name, topic.Name, nearest, ok)
		}
	}
}
