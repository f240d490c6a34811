package browse

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestTrashTexts(t *testing.T) {
	damaged := &journal.CorruptError{Path: "/a", Line: 7, Reason: apptest.Hostile}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "problemText", Sample: "damage", Shown: problemText(damaged)},
		{Function: "problemText", Sample: "no session", Shown: problemText(&catalog.MissingHeaderError{Reason: apptest.Hostile})},
		{Function: "problemText", Sample: "another error", Shown: problemText(errors.New(apptest.Hostile))},
		{Function: "timeText", Shown: timeText(noon.Add(time.Minute))},
	})
}
