package letters_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/letters"
)

func TestFormsOfOneTextAreEqual(t *testing.T) {
	for _, tt := range []struct{ a, b string }{
		{"Caf\u00e9", "cafe\u0301"}, {"Z\u00fcrich", "zu\u0308RICH"}, {"ΌΣΟΣ", "όσος"}, {"각", "\u1100\u1161\u11a8"},
		{"\u1e9b\u0323", "\u017f\u0323\u0307"}, {"ẞ", "ß"}, {"ÅNGSTRÖM", "a\u030angstro\u0308m"}, {"Ж", "ж"},
		{"ᾈ", "ἀι"}, {"Ꭰ", "ꭰ"}, {"µ", "Μ"},
	} {
		if a, b := letters.Fold(tt.a), letters.Fold(tt.b); a != b {
			t.Errorf("%q is %q, %q is %q", tt.a, a, tt.b, b)
		}
	}
	for _, text := range []string{"ß", "\u212a", "ſ", "ﬁ"} {
		if got := letters.Fold(text); strings.ContainsAny(got, "abcdefghijklmnopqrstuvwxyz") {
			t.Errorf("%q is %q", text, got)
		}
	}
	if a := letters.Compose("E\u0301"); a != "\u00c9" {
		t.Errorf("got %q", a)
	}
}

func TestIndexReturnsPlacesOfTheText(t *testing.T) {
	for _, tt := range []struct{ text, wanted, found string }{
		{"in the cafe\u0301 of Zu\u0308rich", "café", "cafe\u0301"},
		{"in the cafe\u0301 of Zu\u0308rich", "zürich", "Zu\u0308rich"},
		{"in the CAFÉ", "cafe\u0301", "CAFÉ"},
		{"plain TEXT", "text", "TEXT"},
		{"e\u0301", "e", ""},
		{"ab\u0301c", "c", "c"},
	} {
		start, end, ok := letters.Index(tt.text, letters.Fold(tt.wanted), letters.Fold)
		if got := tt.text[start:end]; got != tt.found || ok != (tt.found != "") {
			t.Errorf("%q in %q: %q, %v", tt.wanted, tt.text, got, ok)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add("Cafe\u0301", 1, 3)
	f.Add("ﬁ\xff\u0301", 0, 9)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		if from < 0 || to < from || to > len(letters.Fold(text)) {
			return
		}
		start, end := letters.Source(text, letters.Fold, from, to)
		if start < 0 || end < start || end > len(text) {
			t.Errorf("%q[%d:%d] is %d to %d", text, from, to, start, end)
		}
	})
}

// The place in the text is that in its form, whatever marks, invalid bytes and letters there are.
func FuzzIndexFold(f *testing.F) {
	f.Add("A kettle\u0301, a Kettle", "kettle")
	f.Add("\xffé\u212aettle", "ettle")
	f.Fuzz(func(t *testing.T, text, wanted string) {
		wanted = letters.Fold(wanted)
		start, end, ok := letters.IndexFold(text, wanted)
		wantStart, wantEnd, wantOK := letters.Index(text, wanted, letters.Fold)
		if start != wantStart || end != wantEnd || ok != wantOK {
			t.Errorf("%q in %q: %d to %d, %t, want %d to %d, %t", wanted, text, start, end, ok, wantStart, wantEnd, wantOK)
		}
	})
}
