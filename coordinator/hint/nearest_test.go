package hint

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"list", "ls", "search", "show", "rename", "mv", "restore", "reindex"}
	for _, test := range []struct{ word, nearest string }{
		{"shwo", "show"}, {"lst", "list"}, {"serach", "search"}, {"SHOW", "show"}, {"reinde", "reindex"},
		{"re", ""}, {"res", "restore"}, {"rn", ""}, {"x", ""}, {"hello", ""}, {"", ""}, {"7QN3", ""},
		{"listen", "list"}, {strings.Repeat("x", 1<<24), ""}, {"l", ""}, {"xst", ""}, {"shxx", "show"},
	} {
		if nearest, ok := Nearest(test.word, names); nearest != test.nearest || ok != (test.nearest != "") {
			t.Errorf("%q: %q, %v, want %q", test.word, nearest, ok, test.nearest)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"tail", "tail", 0}, {"flaw", "lawn", 2}, {"shwo", "show", 1},
		{"hsow", "show", 1},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
