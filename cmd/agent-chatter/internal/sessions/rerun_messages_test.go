package sessions

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// rerunTexts renders the texts of a rerun with sample values.
func rerunTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "rerunText", Shown: rerunText(apptest.AliceID, apptest.BobID)},
	}
}
