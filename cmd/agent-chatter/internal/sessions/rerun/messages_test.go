package rerun

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestRerunTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "rerunText", Shown: rerunText(apptest.AliceID, apptest.BobID)},
	})
}
