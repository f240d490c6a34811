package acp

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "notOpenText", Shown: notOpenText(apptest.Hostile)},
		{Function: "relativeText", Shown: relativeText(apptest.Hostile)},
		{Function: "tooManyText", Shown: tooManyText()},
		{Function: "terminalText", Shown: terminalText()},
	})
}
