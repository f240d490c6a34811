package completion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompletionJoinsWordsSplitByBash(t *testing.T) {
	for _, test := range []struct {
		parts  []string
		words  []string
		prefix string
	}{
		{nil, nil, ""},
		{[]string{""}, []string{""}, ""},
		{[]string{"chat", "--resume", ""}, []string{"chat", "--resume", ""}, ""},
		{[]string{"chat", "--resume", "="}, []string{"chat", "--resume="}, "--resume="},
		{[]string{"chat", "--resume", "=", "7Q"}, []string{"chat", "--resume=7Q"}, "--resume="},
		{[]string{"replay", "--at", "turn", ":", "2", "7Q"}, []string{"replay", "--at", "turn:2", "7Q"}, ""},
		{[]string{"replay", "Fix", ":", `\ the\ lo`}, []string{"replay", "Fix: the lo"}, "Fix:"},
		{[]string{"replay", `"Fix: the lo`}, []string{"replay", "Fix: the lo"}, ""},
		{[]string{"replay", `'it is \ `}, []string{"replay", `it is \ `}, ""},
		{[]string{":", "x"}, []string{":x"}, ":"},
		{[]string{"replay", `"a"'b c'"d`}, []string{"replay", `ab cd`}, ""},
		{[]string{"replay", `a\`}, []string{"replay", `a\`}, ""},
		{[]string{"replay", `a"b c"d\"`}, []string{"replay", `ab cd"`}, ""},
	} {
		words, prefix := bashWords(test.parts)
		if diff := cmp.Diff(test.words, words); diff != "" || prefix != test.prefix {
			t.Errorf("%q (-want +got):\n%s\nprefix %q, want %q", test.parts, diff, prefix, test.prefix)
		}
	}
}
