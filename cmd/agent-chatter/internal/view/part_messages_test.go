package view

import (
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
	add("DurationText", "", DurationText(2100*time.Millisecond))
	add("DurationText", "a moment", DurationText(30*time.Millisecond))
	add("DurationText", "minutes", DurationText(125*time.Second))
	add("DurationText", "hours", DurationText(125*time.Minute))
	add("DurationText", "below a tenth of a second", DurationText(99*time.Millisecond))
	add("DurationText", "a tenth of a second", DurationText(100*time.Millisecond))
	add("DurationText", "a minute", DurationText(time.Minute))
	add("DurationText", "an hour", DurationText(time.Hour))
	add("DurationText", "negative", DurationText(-time.Second))
	add("CountText", "", CountText(999))
	add("CountText", "rounded up", CountText(999_950))
	add("CountText", "a thousand", CountText(1000))
	add("CountText", "a million", CountText(1_000_000))
	add("CountText", "thousands", CountText(12_840))
	add("CountText", "millions", CountText(1_250_000))
	add("unfinishedText", "", unfinishedText(projection.TurnEnded{FinishReason: projection.Cancelled}))
	add("unfinishedText", "an error", unfinishedText(projection.TurnEnded{FinishReason: projection.Failed, Error: apptest.Hostile}))
	add("PlanText", "", PlanText(plan, 0))
	add("PlanText", "with more", PlanText(plan[1:], 3))
	add("ToolText", "", ToolText(projection.ToolStarted{Name: apptest.Hostile, Input: []byte(`{"command":"ls"}`)}))
	return texts
}
