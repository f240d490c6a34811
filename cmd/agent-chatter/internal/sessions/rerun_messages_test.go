package sessions

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// rerunTexts renders the texts of a rerun with sample values.
func rerunTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "notAdoptedText", Shown: notAdoptedText(apptest.AliceID, &projection.State{
			Changes: []projection.ChangedMember{{MemberID: apptest.Hostile, Removed: true}},
			Budget:  []projection.BudgetChanged{{Limit: apptest.Hostile, Most: new(float64)}},
		})},
		{Function: "rerunText", Shown: rerunText(apptest.AliceID, apptest.BobID)},
	}
}
