package guide

import (
	"errors"
	"strings"
	"testing"
)

func TestPagesHaveNoComments(t *testing.T) {
	topics := Topics()
	if len(topics) == 0 {
		t.Fatal("no topics")
	}
	for _, topic := range topics {
		if text := topic.Text(); !strings.HasPrefix(text, "# ") || strings.Contains(text, "<!--") {
			t.Errorf("%s: %.60q", topic.Name, text)
		}
	}
}

func TestFindSuggestsNearestTopic(t *testing.T) {
	for name, want := range map[string]string{
		"resum":  "resume",
		"Replya": "replay",
		"conf":   "configuration",
		"export": "",
		"Export": "",
	} {
		topic, err := find(name)
		var unknown *UnknownTopicError
		switch {
		case want == "" && (err != nil || topic.Name != strings.ToLower(name)):
			t.Errorf("%s: %v, %v", name, topic, err)
		case want != "" && (!errors.As(err, &unknown) || unknown.Nearest != want):
			t.Errorf("%s: %v, want a suggestion of %s", name, err, want)
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
