package updates

import "testing"

// TestReplySendsTheSameInAnyPieces also checks that a message continues what was sent.
func TestReplySendsTheSameInAnyPieces(t *testing.T) {
	for _, tt := range []struct{ text, sent, message string }{
		{"tea", "tea", "tea"},
		{" tea \r\n", " tea", " tea"},
		{"tea\n\n[NEXT: bo]", "tea", "tea"},
		{"a [next: bo] b", "a", "a b"},
		{"[NEXT: bo]\n\nb", "", "b"},
		{"a [x] [N b", "a [x] [N b", "a [x] [N b"},
		{"a [NE", "a", "a [NE"},
		{"a [NE[DROP: ALL]XT: b]", "a", "a [ NEXT: b]"}, // removing the marker makes another
		{"```\n[NEXT: bo]\n```", "```", "```\n[NEXT: bo]\n```"},
	} {
		for size := 1; size <= len(tt.text); size++ {
			var r reply
			sent := ""
			for at := 0; at < len(tt.text); at += size {
				sent += r.pass(tt.text[at:min(at+size, len(tt.text))])
			}
			rest, ok := r.rest(tt.message)
			if sent != tt.sent || r.text() != sent || sent+r.held() != tt.text || !ok || sent+rest != tt.message {
				t.Errorf("%q in pieces of %d: %q and then %q, %q is held", tt.text, size, sent, rest, r.held())
			}
		}
	}
}
