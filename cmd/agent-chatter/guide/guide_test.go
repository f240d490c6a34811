package guide

import (
	"strings"
	"testing"
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

func TestFindSuggestsNearestTopic(t *testing.T) {
	for _, test := range []struct {
		name, topic string
		ok          bool
	}{
		{"export", "export", true},
		{"Export", "export", true},
		{"resum", "resume", false},
		{"Replya", "replay", false},
		{"conf", "configuration", false},
	} {
		if topic, ok := find(test.name); topic.Name != test.topic || ok != test.ok {
			t.Errorf("find(%q) = %s, %v", test.name, topic.Name, ok)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"tail", "tail", 0}, {"flaw", "lawn", 2}} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := editDistance(test.b, test.a); got != test.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
