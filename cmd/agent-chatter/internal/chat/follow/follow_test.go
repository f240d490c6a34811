package follow

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestFollowTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "OlderText", Shown: OlderText(2, apptest.AliceID)},
		{Function: "followingText", Shown: followingText(apptest.AliceID, apptest.Hostile)},
	})
}
