package web

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "tokenSharedText", Shown: (&app.App{}).Render(tokenSharedText("/home/" + apptest.Hostile + "/token"))},
		{Function: "roleText", Shown: roleText(RoleRead, RoleAll)},
		{Function: "noTokenText", Shown: noTokenText("Open the address.")},
		{Function: "rateText", Shown: rateText(3)},
	})
}
