package browse

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestTrashTexts(t *testing.T) {
	damaged := &journal.CorruptError{Path: "/a", Line: 7, Reason: apptest.Hostile}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "problemText", Sample: "damage", Shown: problemText(damaged)},
		{Function: "problemText", Sample: "no session", Shown: problemText(&catalog.MissingHeaderError{Reason: apptest.Hostile})},
		{Function: "problemText", Sample: "another error", Shown: problemText(errors.New(apptest.Hostile))},
		{Function: "originText", Shown: originText(catalog.Session{})},
		{Function: "originText", Sample: "a copy", Shown: originText(catalog.Session{Row: projection.Row{
			Parent: apptest.AliceID, Imported: "claude",
		}})},
		{Function: "originText", Sample: "a hostile copy", Shown: originText(catalog.Session{Row: projection.Row{Parent: "\x1b[m日"}})},
		{Function: "originText", Sample: "an import", Shown: originText(catalog.Session{Row: projection.Row{Imported: "claude"}})},
		{Function: "originText", Sample: "a merge", Shown: originText(catalog.Session{Row: projection.Row{Imported: "merge"}})},
		{Function: "originText", Sample: "an import of the team's program", Shown: originText(catalog.Session{
			TeamID: "claude", Row: projection.Row{Imported: "claude"},
		})},
		{Function: "timeText", Shown: timeText(noon.Add(time.Minute))},
	})
}
