package main

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// mainTexts renders each text of the package with sample values.
func mainTexts() []apptest.Text {

	var texts []apptest.Text
	add := func(function, sample, shown string) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("noDirectoryHereText", "", noDirectoryHereText(errors.New("getwd: no such file or directory")))
	add("parseText", "", parseText(errors.New("unknown flag --"+apptest.Hostile)))
	add("parseText", "no value", parseText(errors.New(`--session: expected string value but got "EOL" (<EOL>)`)))
	add("usageHint", "no command", usageHint(errors.New("unknown flag")))
	return texts
}

func TestMainTexts(t *testing.T) { apptest.CheckTexts(t, mainTexts()) }
