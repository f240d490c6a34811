package tty

import (
	"slices"
	"testing"
)

func TestBackground(t *testing.T) {
	for answer, want := range map[string][]Event{
		"\x1b]11;rgb:ffff/ffff/ffff\a":           {Background{Light: true}},
		"\x1b]11;rgb:ff/ff/e0\x1b\\x":            {Background{Light: true}, Key{Code: 'x'}},
		"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\":       {Background{}},
		"\x1b]10;rgb:ffff/ffff/ffff\a":           nil,
		"\x1b]11;rgb:ffff/ffff\a":                nil,
		"\x1b]11;rgb:ffff/ffff/fffff\a":          nil,
		"\x1b]11;rgb:ffff//ffff\a":               nil,
		"\x1b]11;rgb:ffff/ffff/ffff\rx":          {Key{Code: Enter}, Key{Code: 'x'}},
		"\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\": nil,
	} {
		var d Decoder
		if got := d.Feed([]byte(answer)); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", answer, got, want)
		}
	}
}
