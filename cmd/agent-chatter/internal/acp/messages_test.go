package acp

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "notOpenText", Shown: notOpenText(apptest.Hostile)},
		{Function: "relativeText", Shown: relativeText(apptest.Hostile)},
		{Function: "noDirectoryText", Shown: noDirectoryText(apptest.Hostile)},
		{Function: "teamFixedText", Shown: teamFixedText(apptest.Hostile)},
		{Function: "unknownTeamText", Shown: unknownTeamText(apptest.Hostile)},
		{Function: "membersText", Shown: membersText(&team.Team{
			DisplayName: apptest.Hostile, Members: []team.Member{
				{Name: apptest.Hostile, DisplayName: apptest.Hostile, Type: team.AI, AgentType: apptest.Hostile},
				{Name: "you", DisplayName: "You", Type: team.Human},
			},
		})},
		{Function: "noSessionText", Shown: noSessionText(apptest.Hostile)},
		{Function: "cursorText", Shown: cursorText(errors.New(apptest.Hostile))},
		{Function: "unreadText", Shown: unreadText(errEmptyPrompt, []omitted{{Kind: Image, MIME: "image/png"}})},
		{Function: "omittedText", Shown: omittedText([]omitted{
			{Kind: Image, Name: apptest.Hostile}, {Kind: Audio, MIME: apptest.Hostile}, {Kind: Data},
		})},
		{Function: "forkedText", Shown: forkedText(app.Text("Session is claimed."), apptest.AliceID)},
		{Function: "promptRunsText", Shown: promptRunsText(apptest.AliceID)},
		{Function: "tooManyText", Shown: tooManyText()},
		{Function: "noCommandText", Shown: noCommandText(apptest.Hostile)},
		{Function: "terminalText", Shown: terminalText()},
	})
}
