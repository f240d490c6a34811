package chat

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// queueTexts renders the texts of the queue with sample values.
func queueTexts() []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	reply := coordinator.Queued{
		Member: team.Member{Name: "ada"}, Intent: marker.Reply, AskedBy: apptest.Hostile,
		Text: strings.Repeat(apptest.Hostile+" ", 20),
	}
	interrupts, extends := reply, reply
	interrupts.Intent, extends.Intent = marker.Interrupt, marker.Extend
	changes := []projection.QueueChange{
		{Action: projection.QueueDropped, MemberID: apptest.Hostile, Reason: "DROP marker"},
	}
	empty := reply
	empty.Text = ""
	add("queueText", "empty", queueText(nil, nil))
	add("queueText", "an empty message", queueText([]coordinator.Queued{empty}, nil))
	add("queueText", "", queueText([]coordinator.Queued{interrupts, reply, extends}, changes))
	add("intentText", "", intentText(marker.Reply))
	add("queuedPreview", "", queuedPreview("hello"))
	return texts
}

func TestPreviewsHaveFiftyCharacters(t *testing.T) {
	for _, letter := range []string{"x", "é", "🫖"} {
		if got := queuedPreview(strings.Repeat(letter, 50)); got != strings.Repeat(letter, 50) {
			t.Errorf("of 50 it is %q", got)
		}
		for _, n := range []int{51, 52, 1000} {
			if got := queuedPreview(strings.Repeat(letter, n)); got != strings.Repeat(letter, 50)+"…" {
				t.Errorf("of %d it is %q", n, got)
			}
		}
	}
}
