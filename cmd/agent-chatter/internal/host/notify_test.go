package host

import (
	"slices"
	"testing"
)

func TestNotifyCommandsHaveNoTextInAScript(t *testing.T) {
	const text = `"; rm -rf / #$(x)`
	for system, program := range map[string]string{
		"linux": "notify-send", "freebsd": "notify-send", "darwin": "osascript", "windows": "powershell",
	} {
		argv := notifyCommand(system, text)
		if at := slices.Index(argv, text); argv[0] != program || program == "notify-send" && at != len(argv)-1 ||
			program != "notify-send" && at >= 0 {
			t.Errorf("on %s: %q", system, argv)
		}
	}
}
