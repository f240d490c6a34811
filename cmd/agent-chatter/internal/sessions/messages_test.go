package sessions

import (
	"errors"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// sessionsTexts renders each text of the package with sample values.
func sessionsTexts() []apptest.Text {
	alice := catalog.Session{ID: apptest.AliceID, TeamID: "review"}
	bob := catalog.Session{ID: apptest.BobID, TeamID: apptest.Hostile}
	corrupt := &journal.CorruptError{
		Path: "/home/hugo/.agent-chatter/sessions/review/" + apptest.AliceID + ".jsonl",
		Line: 7, Offset: 4096, Reason: "checksum mismatch",
	}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("notSearchedText", "", notSearchedText(2))
	add("sealedText", "", sealedText(1))
	add("trashedText", "", trashedText(apptest.AliceID, "/a/"+apptest.Hostile+"/trash"))
	add("pinnedText", "", pinnedText(apptest.AliceID))
	add("confirmText", "", confirmText(apptest.AliceID))
	add("deleteQuestionText", "", deleteQuestionText(apptest.AliceID, apptest.Hostile))
	add("changedText", "renamed", changedText(apptest.AliceID, "is now called the calculator"))
	add("openText", "", openText(app.Text("Session %s is locked.", apptest.AliceID), "/rename TITLE"))
	add("permissionText", "by the user", permissionText(projection.PermissionAnswered{
		Name: "execute", Title: "rm -r /" + apptest.Hostile, Allowed: true, By: projection.ByPerson,
	}))
	refused := func(by projection.Decider) projection.PermissionAnswered {
		return projection.PermissionAnswered{Name: "execute", By: by}
	}
	add("permissionText", "by policy", permissionText(refused(projection.ByPolicy)))
	add("permissionText", "by a decider of another program", permissionText(refused(apptest.Hostile)))
	add("permissionText", "unanswered", permissionText(refused(projection.ByDefault)))
	add("bypassText", "", bypassText(projection.PermissionBypassed{Name: "execute", Title: "rm -r /" + apptest.Hostile}))
	add("attachedText", "another machine", attachedText(projection.AgentAttached{
		MemberID: apptest.Hostile, Way: projection.AttachNew, AgentSession: apptest.Hostile, Reason: projection.ReasonHost,
	}))
	add("attachedText", "", attachedText(projection.AgentAttached{
		MemberID: "ada", Way: projection.AttachResumed, AgentSession: "5f0c",
	}))
	add("attachedText", "imported", attachedText(projection.AgentAttached{
		MemberID: "ada", Way: projection.AttachImported, AgentSession: "5f0c",
	}))
	add("bypassText", "without a title", bypassText(projection.PermissionBypassed{Name: apptest.Hostile}))
	add("ForkedText", "", ForkedText(apptest.AliceID, apptest.BobID))
	add("lostText", "", lostText("/a/"+apptest.Hostile+"/"+apptest.AliceID+".jsonl"))
	add("noSessionsText", "", noSessionsText(""))
	add("noSessionsText", "of a team", noSessionsText(apptest.Hostile))
	add("mergedText", "", mergedText(apptest.AliceID, apptest.BobID, sessioncopy.Merged{
		ID: "01JDQ3W7ZK8M5N6P7Q8R9S0T1C", Common: 5, A: 3, B: 1,
	}))
	add("otherTeamText", "", otherTeamText(alice, bob))
	add("IncompleteText", "damage", IncompleteText(&search.Error{Session: alice, Err: corrupt}))
	add("IncompleteText", "no session", IncompleteText(&search.Error{Session: alice,
		Err: &catalog.MissingHeaderError{ID: alice.ID, Reason: "it does not begin with session.created"}}))
	add("IncompleteText", "another error", IncompleteText(errors.New(apptest.Hostile)))
	add("damagedCountText", "", damagedCountText(1, 1))
	add("notEventsText", "", notEventsText(apptest.Hostile+".aside-1", 17))
	return texts
}

func TestSessionsTexts(t *testing.T) {
	apptest.CheckTexts(t, slices.Concat(sessionsTexts(), diffTexts(), rerunTexts()))
}
