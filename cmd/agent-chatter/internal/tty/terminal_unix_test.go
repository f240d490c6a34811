//go:build linux || darwin

package tty

import (
	"strings"
	"testing"
)

// settingsIn returns what stty prints in the shell of a terminal.
func settingsIn(m *tmux) string {
	m.t.Helper()
	m.press("clear; echo \"settings $(stty -g) end\"", "Enter")
	m.expect(" end\n")
	_, after, _ := strings.Cut(m.text(), "\nsettings ")
	settings, _, _ := strings.Cut(after, " end\n")
	return settings
}

func TestTerminalReportsKeys(t *testing.T) {
	m := startTmux(t, 60, 40, program(t, "events"))
	m.expect("ready")
	m.press("a", "M-b", "C-Left", "Home", "界", "C-c", "S-Enter", "Escape")
	m.expect("key -4 0")
	m.run("set-buffer", "one\ntwo")
	m.run("paste-buffer", "-p")
	m.expect("Paste")
	want := []string{
		"ready", "key 'a' 0", "key 'b' 2", "key -7 4", "key -9 0", "key '界' 0", "key 'c' 4", "key -1 1", "key -4 0",
		`tty.Paste{Text:"one\ntwo", Dropped:0}`, "> live",
	}
	if got := strings.TrimRight(m.text(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestSuspendStopsTheGroup(t *testing.T) {
	m := startTmux(t, 60, 24, "bash --norc --noprofile")
	before := settingsIn(m)
	m.press("sh -c '"+program(t, "events")+"; exit 1'", "Enter") // go run is such a parent in the group
	m.expect("ready\n")
	m.press("C-z")
	m.expect("Stopped")
	if stopped := settingsIn(m); stopped != before {
		t.Errorf("while it is stopped, the settings are %s, before %s", stopped, before)
	}
	m.press("fg", "Enter")
	m.expect("drawn")
	m.press("x")
	m.expect("key 'x' 0\n> live")
	m.press("q")
	if after := settingsIn(m); after != before {
		t.Errorf("at the end, the settings are %s, before %s", after, before)
	}
}
