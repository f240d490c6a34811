package devices

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTexts(t *testing.T) {
	render := (&app.App{}).Render
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "noDevicesText", Shown: render(noDevicesText())},
		{Function: "noDeviceText", Shown: render(noDeviceText(apptest.Hostile))},
		{Function: "severalText", Shown: render(severalText(apptest.Hostile, []string{"k7qmz2ab", "abcd2345"}))},
		{Function: "revokedText", Shown: revokedText(Device{ID: "k7qmz2ab", Name: apptest.Hostile})},
	})
}
