package agent

import (
	"strings"
	"testing"
)

func TestOutputIsAsATerminalShowsIt(t *testing.T) {
	for _, tt := range []struct{ output, want string }{
		{"\uFEFFHello", "Hello"},
		{"one\ntwo", "one\ntwo"},
		{"\x1b[1;32mgreen\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\a!", "green link!"},
		{"\x1b]0;title\aHello\x1b(B", "Hello"},
		{"one\r\ntwo\r\n", "one\ntwo\n"},
		{" 10%\r 50%\r100%\nDone.\n", "100%\nDone.\n"},
		{" 10%\r\x1b[K100%", "100%"},
		{"text\r", "text"},
		{"text\r\r\nmore", "text\nmore"},
		{"a lone \x1b", "a lone "},
		{"caf\xe9 \x9b1m \x00\t", "caf\xe9 \x9b1m \x00\t"},
		{"\x1b]0;" + strings.Repeat("x", maxSequence) + "y", "]0;" + strings.Repeat("x", maxSequence) + "y"},
	} {
		var whole terminalText
		if got := whole.next(tt.output) + whole.rest(); got != tt.want {
			t.Errorf("%.80q became %.80q, want %.80q", tt.output, got, tt.want)
		}
		var bytes terminalText
		got := ""
		for i := range len(tt.output) {
			got += bytes.next(tt.output[i : i+1])
		}
		got += bytes.rest()
		// A line that was returned before it is written again stays.
		if !strings.Contains(tt.output, "%") && got != tt.want {
			t.Errorf("%.80q, byte by byte, became %.80q, want %.80q", tt.output, got, tt.want)
		}
	}
}

func TestRedrawnLineIsReturnedOnce(t *testing.T) {
	var text terminalText
	got := text.next("0%")
	for range 100 {
		got += text.next("\r50%")
	}
	got += text.next("\r100%\n") + text.rest()
	if want := "0%\n100%\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzTerminalText(f *testing.F) {
	f.Add("\x1b[1mx\r\n\x1b]0;t\ay\rz", 3)
	f.Fuzz(func(t *testing.T, output string, size int) {
		var text terminalText
		got := ""
		for rest := output; rest != ""; {
			n := max(1, min(size, len(rest)))
			got, rest = got+text.next(rest[:n]), rest[n:]
		}
		got += text.rest()
		if len(output) < maxSequence && strings.ContainsRune(got, escape) {
			t.Errorf("%q became %q", output, got)
		}
		if !strings.ContainsAny(output, "\r\x1b") && got != strings.TrimPrefix(output, "\uFEFF") {
			t.Errorf("%q became %q", output, got)
		}
	})
}
