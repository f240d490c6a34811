package part

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// partTexts renders each text of the package with sample values.
func partTexts() []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	plan := []projection.PlanEntry{
		{Content: apptest.Hostile, Status: projection.Completed}, {Content: "write it", Status: projection.InProgress},
		{Content: "test it", Status: projection.Pending},
	}
	add("durationText", "", durationText(2100*time.Millisecond))
	add("durationText", "a moment", durationText(30*time.Millisecond))
	add("durationText", "minutes", durationText(125*time.Second))
	add("durationText", "hours", durationText(125*time.Minute))
	add("durationText", "below a tenth of a second", durationText(99*time.Millisecond))
	add("durationText", "a tenth of a second", durationText(100*time.Millisecond))
	add("durationText", "a minute", durationText(time.Minute))
	add("durationText", "an hour", durationText(time.Hour))
	add("durationText", "negative", durationText(-time.Second))
	add("countText", "", countText(999))
	add("countText", "rounded up", countText(999_950))
	add("countText", "a thousand", countText(1000))
	add("countText", "a million", countText(1_000_000))
	add("countText", "thousands", countText(12_840))
	add("countText", "millions", countText(1_250_000))
	add("unfinishedText", "", unfinishedText(projection.TurnEnded{FinishReason: projection.Cancelled}))
	add("unfinishedText", "an error", unfinishedText(projection.TurnEnded{FinishReason: projection.Failed, Error: apptest.Hostile}))
	add("PlanText", "", PlanText(plan, 0))
	add("PlanText", "with more", PlanText(plan[1:], 3))
	add("ToolText", "", ToolText(projection.ToolStarted{Name: apptest.Hostile, Input: []byte(`{"command":"ls"}`)}))
	return texts
}

func TestPartTexts(t *testing.T) { apptest.CheckTexts(t, partTexts()) }
