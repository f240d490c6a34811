package sessions

import (
	"errors"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// sessionsTexts renders each text of the package with sample values.
func sessionsTexts() []apptest.Text {
	at := time.Date(2025, 11, 27, 10, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	alice := catalog.Session{ID: apptest.AliceID, TeamID: "review", Row: projection.Row{
		Title: "Write me a calculator", Preview: "Write me a calculator", MessageCount: 15, UpdatedAt: ago(2 * time.Hour),
	}}
	bob := catalog.Session{ID: apptest.BobID, TeamID: apptest.Hostile, Row: projection.Row{Title: apptest.Hostile, Preview: apptest.Hostile, MessageCount: 1, UpdatedAt: ago(3 * 24 * time.Hour)}}
	corrupt := &journal.CorruptError{Path: "/home/hugo/.agent-chatter/sessions/review/" + apptest.AliceID + ".jsonl", Line: 7, Offset: 4096, Reason: "the sum does not match"}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("trashedText", "", trashedText(apptest.AliceID, "/a/"+apptest.Hostile+"/trash"))
	add("permissionText", "a person allowed it", permissionText(projection.PermissionAnswered{Name: "execute", Title: "rm -r /" + apptest.Hostile, Allowed: true, By: projection.ByPerson}))
	add("permissionText", "nobody was there", permissionText(projection.PermissionAnswered{Name: "execute", By: projection.ByDefault}))
	add("forkedText", "", forkedText(apptest.AliceID, apptest.BobID))
	add("pinnedText", "", pinnedText(apptest.AliceID))
	add("partingText", "", partingText(apptest.AliceID, apptest.BobID, projection.Divergence{A: 12, B: 10, Messages: 5}))
	add("partingText", "strangers", partingText(apptest.AliceID, apptest.BobID, projection.Divergence{}))
	add("aloneText", "", aloneText("<", apptest.AliceID, 3))
	add("aloneText", "nothing", aloneText(">", apptest.BobID, 0))
	add("mergedText", "", mergedText(apptest.AliceID, apptest.BobID, sessioncopy.Merged{ID: "01JDQ3W7ZK8M5N6P7Q8R9S0T1C", Common: 5, A: 3, B: 1}))
	add("mergeTeamsText", "", mergeTeamsText(alice, bob))
	add("askedAgainText", "", askedAgainText(apptest.AliceID, apptest.BobID))
	add("unsearchedText", "", unsearchedText(&search.Error{Session: alice, Err: corrupt}))
	add("unsearchedText", "for another reason", unsearchedText(errors.New(apptest.Hostile)))
	add("notSearchedText", "", notSearchedText(1, 1))
	return texts
}

func TestSessionsTexts(t *testing.T) { apptest.CheckTexts(t, sessionsTexts()) }
