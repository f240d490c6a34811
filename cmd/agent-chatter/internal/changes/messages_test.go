package changes

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestChangesTexts(t *testing.T) {
	hostile := catalog.Session{ID: apptest.AliceID, Row: projection.Row{Title: apptest.Hostile}}
	untitled := catalog.Session{ID: apptest.AliceID}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "renamedText", Shown: renamedText(apptest.Hostile)},
		{Function: "pinText", Sample: "pinned", Shown: pinText(true)},
		{Function: "pinText", Sample: "not pinned", Shown: pinText(false)},
		{Function: "trashedText", Shown: trashedText(hostile)},
		{Function: "trashedText", Sample: "without a title", Shown: trashedText(untitled)},
		{Function: "restoredText", Shown: restoredText(hostile)},
		{Function: "inTrashText", Shown: inTrashText(apptest.AliceID)},
		{Function: "OnlyOnHubText", Shown: OnlyOnHubText(apptest.AliceID)},
		{Function: "LiveElsewhereText", Shown: LiveElsewhereText(apptest.AliceID, apptest.Hostile)},
		{Function: "movedText", Shown: movedText(catalog.Key{Dir: "/a/" + apptest.Hostile, ID: apptest.AliceID})},
	})
}
