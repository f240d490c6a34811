package host

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// placeTexts renders the texts of warnings about a place with sample values.
func placeTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "trackedText", Shown: trackedText("/a/" + apptest.Hostile)},
		{Function: "networkText", Shown: networkText("/net/"+apptest.Hostile, "NFS")},
	}
}
