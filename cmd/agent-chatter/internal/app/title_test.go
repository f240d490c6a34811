package app

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("ä", 500)
	for typed, want := range map[string]string{
		"": "", " \n": "", " the\nboat ": "the boat", long: long, long + "x": "", strings.Repeat("x", 50_000): "",
	} {
		got, err := Title(typed)
		if got != want || (err == nil) == (want == "") {
			t.Errorf("%.20q: %.20q, %v", typed, got, err)
		}
	}
}
