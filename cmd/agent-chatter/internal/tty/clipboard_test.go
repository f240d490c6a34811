package tty

import (
	"strings"
	"testing"
)

func TestCopySequence(t *testing.T) {
	const id = "01KAH9TQ4GJ5X8C2VRB0000001"
	const sequence = "\x1b]52;c;MDFLQUg5VFE0R0o1WDhDMlZSQjAwMDAwMDE=\a"
	for _, test := range []struct{ tmux, screen, want string }{
		{"", "", sequence},
		{"/tmp/tmux-0/default,1,0", "", sequence + "\x1bPtmux;\x1b" + sequence + "\x1b\\"},
		{"", "1.pts", "\x1bP" + sequence + "\x1b\\"},
	} {
		t.Setenv("TMUX", test.tmux)
		t.Setenv("STY", test.screen)
		if got := CopySequence(id); got != test.want {
			t.Errorf("TMUX=%s STY=%s: got %q, want %q", test.tmux, test.screen, got, test.want)
		}
	}
	// Text is encoded, so that nothing in it ends the sequence.
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	if got := CopySequence("a\a\x1b\\日"); strings.Count(got, "\a") != 1 || strings.Count(got, "\x1b") != 1 {
		t.Errorf("got %q", got)
	}
	t.Setenv("STY", "1.pts")
	for part := range strings.SplitAfterSeq(CopySequence(strings.Repeat("x", 1000)), "\x1b\\") {
		if len(part) > screenString+len("\x1bP\x1b\\") {
			t.Errorf("a string of %d bytes", len(part))
		}
	}
}
