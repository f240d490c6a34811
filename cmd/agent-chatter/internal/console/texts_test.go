package console

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestConsoleTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "nextText", Shown: nextText("Ada, Bea")},
		{Function: "menuText", Shown: menuText(3, 16)},
		{Function: "thinkingText", Shown: thinkingText(apptest.Hostile)},
		{Function: "usesText", Shown: usesText(apptest.Hostile)},
		{Function: "panelTexts", Shown: strings.Join(panelTexts(4, true, apptest.Hostile), "\n")},
		{Function: "panelTexts", Sample: "one", Shown: strings.Join(panelTexts(0, true, ""), "\n")},
		{Function: "usingText", Shown: usingText("Ada", apptest.Hostile)},
		{Function: "callsText", Shown: callsText(3, 100, true)},
		{Function: "callsFailedText", Shown: callsFailedText(errors.New("open " + apptest.Hostile + ": permission denied"))},
		{Function: "pageText", Shown: pageText(1, 23, 100)},
		{Function: "droppedText", Shown: droppedText(1000)},
		{Function: "sentText", Shown: sentText(apptest.Hostile)},
		{Function: "queuedText", Shown: queuedText(apptest.Hostile)},
		{Function: "moreQueuedText", Shown: moreQueuedText(2)},
		{Function: "missingText", Shown: missingText(70_000)},
		{Function: "longQuestionText", Shown: longQuestionText(100)},
		{Function: "editorFileText", Shown: editorFileText(errors.New("write /tmp/a: no space left on device"))},
		{Function: "editorLeftText", Shown: editorLeftText(errors.New("unlinkat /tmp/a: permission denied"))},
		{Function: "editedTooLongText", Shown: editedTooLongText("/tmp/agent-chatter-1/message.md")},
		{Function: "notLentText", Shown: notLentText(errors.New("input/output error"))},
		{Function: "editorFailedText", Shown: editorFailedText(errors.New("exit status 1"))},
	})
}
