package main

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// mainTexts renders each text of the package with sample values.
func mainTexts() []apptest.Text {

	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("usageHint", "no command", usageHint(errors.New("unknown flag")))
	return texts
}

func TestMainTexts(t *testing.T) { apptest.CheckTexts(t, mainTexts()) }
