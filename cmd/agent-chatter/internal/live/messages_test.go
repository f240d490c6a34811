package live

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "notOnDeviceText", Shown: notOnDeviceText("/" + apptest.Hostile)},
	})
}
