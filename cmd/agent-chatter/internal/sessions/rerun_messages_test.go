package sessions

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// rerunTexts renders the texts of a rerun with sample values.
func rerunTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "notAdoptedText", Shown: notAdoptedText(apptest.AliceID, []projection.ChangedMember{
			{MemberID: apptest.Hostile, Removed: true},
		})},
		{Function: "rerunText", Shown: rerunText(apptest.AliceID, apptest.BobID)},
	}
}
