package chat

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// bannerTexts renders the texts of the banner with sample values.
func bannerTexts() []apptest.Text {
	hostile := &team.Team{DisplayName: apptest.Hostile, Members: []team.Member{{Name: apptest.Hostile}, {Name: "bob"}}}
	return []apptest.Text{
		{Function: "bannerText", Sample: "demo", Shown: bannerText(team.Demo())},
		{Function: "bannerText", Sample: "hostile", Shown: bannerText(hostile)},
		{Function: "teamText", Shown: teamText(hostile)},
	}
}
