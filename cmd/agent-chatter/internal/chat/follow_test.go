package chat

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// followTexts renders the texts of a session that is followed with sample values.
func followTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "olderText", Shown: olderText(2, apptest.AliceID)},
		{Function: "followingText", Shown: followingText(apptest.AliceID, apptest.Hostile)},
	}
}
