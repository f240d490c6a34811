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
