package progress

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
)

func TestTTYTexts(t *testing.T) {
	archiving := journal.Progress{ID: apptest.AliceID, Done: 512, Total: 1024}
	unarchiving := journal.Progress{ID: apptest.Hostile, Unarchive: true, Total: 1024}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "listingText", Shown: listingText(41230, 100000)},
		{Function: "progressText", Sample: "archiving", Shown: progressText(archiving)},
		{Function: "progressText", Sample: "unarchiving", Shown: progressText(unarchiving)},
	})
}
