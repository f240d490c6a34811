package search

import "testing"

// A letter is found however it is encoded, in any case, raw or escaped in the journal.
func TestLettersAreFoundInBothForms(t *testing.T) {
	const composed, decomposed = "caf\u00e9 in Z\u00fcrich \u00e9", "cafe\u0301 in Zu\u0308rich e\u0301"
	for _, text := range []string{composed, decomposed} {
		for _, q := range []Query{
			{Text: "café"}, {Text: "cafe\u0301"}, {Text: "zürich"}, {Text: "Zu\u0308rich"}, {Text: "\u00e9"}, {Text: "E\u0301"},
			{Text: "caf\u00e9 in", Regexp: true}, {Text: "cafe\u0301 i.", Regexp: true},
		} {
			m, err := q.compile()
			if err != nil {
				t.Fatal(err)
			}
			_, _, ok := m.findText(text)
			if want := q.Text != "E\u0301"; ok != want || ok && m.prefilter.index([]byte(`{"content":"`+text+`"}`)) < 0 {
				t.Errorf("%q in %q: %v", q.Text, text, ok)
			}
		}
	}
}
