package tty

import (
	"slices"
	"testing"
)

func TestNotification(t *testing.T) {
	const osc9, osc777 = "\x1b]9;done\x1b\\", "\x1b]777;notify;agent-chatter;done\x1b\\"
	for _, tt := range []struct{ name, value, want string }{
		{"TERM", "xterm-256color", ""}, {"TERM", "linux", ""}, {"TERM", "xterm-kitty", osc9}, {"TERM", "foot-extra", osc9},
		{"TERM", "rxvt-unicode-256color", osc777}, {"VTE_VERSION", "7600", osc777}, {"TERM_PROGRAM", "iTerm.app", osc9},
		{"TERM_PROGRAM", "vscode", ""}, {"WT_SESSION", "1", osc9}, {"TMUX", "/tmp/tmux", ""},
	} {
		env := func(name string) string {
			if name == tt.name {
				return tt.value
			}
			return ""
		}
		if got := notification("done", env); got != tt.want {
			t.Errorf("%s=%s: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestTitleHasNoControlCharacters(t *testing.T) {
	var f frames
	s := screenOf(&f, &area{columns: 10, rows: 4})
	if err := s.SetTitle("a\x07b\x1b]0;c\u009dd"); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b]2;a␇b␛]0;c\ufffdd\x1b\\"; f[0] != want {
		t.Errorf("it writes %q, want %q", f[0], want)
	}
}

func TestFocusEvents(t *testing.T) {
	var d Decoder
	want := []Event{Key{Code: 'a'}, Focus{In: true}, Key{Code: Escape}, Focus{}, Key{Code: Up}}
	if got := d.Feed([]byte("a\x1b[I\x1b\x1b[O\x1bOA")); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
