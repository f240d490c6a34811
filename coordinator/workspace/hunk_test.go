package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
)

// lettersText returns a text whose lines are the letters of a string.
func lettersText(letters string) []byte {
	return []byte(strings.Join(strings.Split(letters, ""), "\n") + "\n")
}

func TestHunks(t *testing.T) {
	before, after := lettersText("abcdefghijklmnopqrst"), lettersText("aBcdefghijklmnopst")
	want := []Hunk{
		{Range{0, 5}, Range{0, 5}, []string{" a", "-b", "+B", " c", " d", " e"}},
		{Range{13, 20}, Range{13, 18}, []string{" n", " o", " p", "-q", "-r", " s", " t"}},
	}
	if diff := cmp.Diff(want, Hunks(before, after)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Hunk{{Range{0, 0}, Range{0, 1}, []string{"+-- x"}}}, Hunks(nil, []byte("-- x"))); diff != "" {
		t.Error(diff)
	}
}

func TestRevert(t *testing.T) {
	before, after := lettersText("abcdefghijklmnopqrst"), lettersText("aBcdefghijklmnopst")
	for _, test := range []struct {
		name, later string
		hunk        int
		want        string // "": it is refused
	}{
		{"the first", "aBcdefghijklmnopst", 0, "abcdefghijklmnopst"},
		{"the second", "aBcdefghijklmnopst", 1, "aBcdefghijklmnopqrst"},
		{"lines are added before", "12aBcdefgHijklmnopst", 1, "12aBcdefgHijklmnopqrst"},
		{"lines are removed before", "fghijklmnopst", 1, "fghijklmnopqrst"},
		{"lines are added after", "aBcdefghijklmnopst12", 1, "aBcdefghijklmnopqrst12"},
		{"the lines changed", "aXcdefghijklmnopst", 0, ""},
		{"an equal line beside them changed", "aBXdefghijklmnopst", 0, ""},
		{"a line is between them", "aB1cdefghijklmnopst", 0, ""},
		{"reverted already", "abcdefghijklmnopst", 0, ""},
	} {
		got, err := Revert(Hunks(before, after)[test.hunk], before, after, lettersText(test.later))
		want := lettersText(test.want)
		if test.want == "" {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}

// The end of a text without a line feed is no place for more lines.
func TestRevertAtTheEnd(t *testing.T) {
	before, after := []byte("a\nb"), []byte("a\nc\n")
	if got, err := Revert(Hunks(before, after)[0], before, after, []byte("a\nc\nd\n")); err == nil {
		t.Errorf("it returns %q", got)
	}
	if got, err := Revert(Hunks([]byte("a"), nil)[0], []byte("a"), nil, []byte("b")); err == nil {
		t.Errorf("it returns %q", got)
	}
}

// All hunks of a change together are the change, and what is added around one stays.
func TestRevertOfAllHunks(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "-\n", "--- x\n", "@@ -1,1 +1,1 @@\n", "\\\n", "e\r\n"}), 0, 30)
		return strings.Join(lines.Draw(t, "lines"), "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
	})
	propertytest.Check(t, func(t *rapid.T) {
		before, after := []byte(text.Draw(t, "before")), []byte(text.Draw(t, "after"))
		hunks, now := Hunks(before, after), after
		for i := len(hunks) - 1; i >= 0; i-- {
			last := now
			reverted, err := Revert(hunks[i], before, after, now)
			if err != nil {
				t.Fatalf("hunk %d of %q to %q in %q: %v", i, before, after, last, err)
			}
			now = reverted
		}
		if string(now) != string(before) {
			t.Fatalf("%q to %q reverts to %q", before, after, now)
		}
	})
}
