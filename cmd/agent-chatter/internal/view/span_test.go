package view

import "testing"

func TestSpansOfFlags(t *testing.T) {
	const early, late = "2026-11-21T14:30:00Z", "2026-11-21T14:31:00Z"
	for _, tt := range []struct {
		from, to, at string
		valid        bool
	}{
		{"", "", "", true},
		{"5", "5", "", true}, {"5", "", "6", true}, {"5", "4", "", false}, {"5", "", "4", false},
		{"turn:2", "turn:2", "", true}, {"turn:2", "turn:3", "", true}, {"turn:2", "turn:1", "", false},
		{early, early, "", true}, {early, late, "", true}, {late, early, "", false},
		// Two kinds cannot be compared.
		{"5", "turn:2", "", true}, {"turn:5", "2", "", true}, {"turn:2", "5", "", true},
		{"5", early, "", true}, {early, "5", "", true}, {"turn:5", early, "", true}, {early, "turn:5", "", true},
		{"", "5", "5", false},
		{"0", "", "", false}, {"turn:0", "", "", false}, {"turn:-1", "", "", false}, {"turn:x", "", "", false},
		{"", "yesterday", "", false}, {"-1", "", "", false},
	} {
		if s, err := ParseSpan(tt.from, tt.to, tt.at); (err == nil) != tt.valid {
			t.Errorf("from %q to %q at %q: %+v, %v", tt.from, tt.to, tt.at, s, err)
		}
	}
}
