//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestOnATerminalAPersonIsAskedWhatAnAgentMayDo(t *testing.T) {
	home := t.TempDir()
	chat := startOnTerminal(t, home, "chat", "-t", teamPath("asking.json"))
	for _, tt := range []struct{ keys, says string }{
		{"y", "Ada: selected this-time"},
		{"N", "Ada: selected never"},
	} {
		chat.says("hugo> ")
		chat.presses("ask rm -r /" + enter)
		chat.says("Ada asks whether it may do this: rm -r /")
		chat.says("[Y] Allow  [N] Refuse  [Esc] Cancel the turn")
		chat.presses("?")
		chat.says("Press Y to allow it")
		chat.presses(tt.keys)
		chat.says(tt.says)
	}
	for _, ask := range []string{"ask", "urge"} { // which goes on telling meanwhile
		chat.says("hugo> ")
		chat.presses(ask + " rm -r /" + enter)
		chat.says("[Esc] Cancel the turn")
		chat.presses(esc)
		chat.says("Ada was interrupted")
	}
	chat.says("hugo> ")
	chat.presses("say I go on." + enter)
	chat.says("Ada: I go on.")
	chat.says("hugo> ")
	chat.presses(ctrlC)
	chat.ends(exitDone)

	events, _ := do(t, home, exitDone, "replay", "latest", "--output", "events")
	for want, times := range map[string]int{`"allowed":true,"by":"person"`: 1, `"allowed":false,"by":"person"`: 1, `"allowed":false,"by":"nobody"`: 2} {
		if strings.Count(events, want) != times {
			t.Errorf("%s is not %d times in\n%s", want, times, events)
		}
	}
	do(t, home, exitDone, "verify")
}

func TestOnATerminalAToolIsShownWhileItRuns(t *testing.T) {
	chat := startOnTerminal(t, t.TempDir(), "chat", "-t", teamPath("asking.json"))
	chat.says("hugo> ")
	chat.presses("tool" + enter)
	chat.says("Ada: I run it.")
	chat.says("Ada uses execute 0s  (Esc interrupts)")
	chat.presses(esc)
	chat.says("Ada was interrupted")
	chat.says("hugo> ")
	chat.presses("mute end_turn" + enter)
	chat.says("Ada did not answer: it ended without an answer")
	chat.says("To ask again, type: /retry")
	chat.says("hugo> ")
	chat.presses(ctrlC)
	chat.ends(exitDone)
}
