package tty

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// maxTitle is how long a title or the text of a notification is at most, in bytes.
const maxTitle = 120

// SetTitle gives the window of the terminal a title, until the terminal is given back. The Linux console has none.
func (s *Screen) SetTitle(title string) error {
	if os.Getenv("TERM") == "linux" {
		return nil
	}
	_, err := io.WriteString(s.out, "\x1b]2;"+runecut.Prefix(SafeLine(title), maxTitle)+"\x1b\\")
	return err
}

// Ring rings the bell.
func (s *Screen) Ring() error {
	_, err := io.WriteString(s.out, "\a")
	return err
}

// Notify makes the terminal show a notification of the desktop, if it is known to have them.
func (s *Screen) Notify(text string) error {
	_, err := io.WriteString(s.out, notification(runecut.Prefix(SafeLine(text), maxTitle), os.Getenv))
	return err
}

// notification returns the sequence of a notification: OSC 9 of iTerm2, or OSC 777 of rxvt-unicode. Two would be shown
// by terminals that know both, and others could print them. tmux passes neither on by default.
func notification(text string, env func(string) string) string {
	term := env("TERM")
	switch {
	case env("TMUX") != "", env("STY") != "":
		return ""
	case slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty", "WarpTerminal"}, env("TERM_PROGRAM")),
		strings.Contains(term, "kitty"), strings.HasPrefix(term, "foot"), env("WT_SESSION") != "":
		return "\x1b]9;" + text + "\x1b\\"
	case strings.HasPrefix(term, "rxvt-unicode"), env("VTE_VERSION") != "":
		return "\x1b]777;notify;agent-chatter;" + text + "\x1b\\"
	}
	return ""
}
