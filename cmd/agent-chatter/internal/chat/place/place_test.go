package place

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestPlaceTexts(t *testing.T) {
	apptest.CheckTexts(t, []apptest.Text{
		{Function: "trackedText", Shown: trackedText("/a/" + apptest.Hostile)},
		{Function: "networkText", Shown: networkText("/net/"+apptest.Hostile, "NFS")},
	})
}
