package banner

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestBannerTexts(t *testing.T) {
	hostile := &team.Team{DisplayName: apptest.Hostile, Members: []team.Member{{Name: apptest.Hostile}, {Name: "bob"}}}
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "Text", Sample: "demo", Shown: Text(team.Demo())},
		{Function: "Text", Sample: "hostile", Shown: Text(hostile)},
		{Function: "teamText", Shown: teamText(hostile)},
	})
}
