package sessions

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// diffTexts renders the texts of differences with sample values.
func diffTexts() []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	common := projection.Divergence{A: 12, B: 10, Messages: 5}
	add("divergenceText", "", divergenceText(apptest.AliceID, apptest.BobID, common))
	add("divergenceText", "nothing in common", divergenceText(apptest.AliceID, apptest.BobID, projection.Divergence{}))
	add("FoldedText", "", FoldedText(common))
	add("FoldedText", "nothing in common", FoldedText(projection.Divergence{}))
	add("countText", "", countText(2, 3))
	add("onlyText", "an unfinished reply", onlyText("<", apptest.AliceID, 2, 1))
	add("onlyText", "only unfinished replies", onlyText(">", apptest.AliceID, 0, 2))
	add("onlyText", "", onlyText("<", apptest.AliceID, 3, 0))
	add("onlyText", "no messages", onlyText(">", apptest.BobID, 0, 0))
	return texts
}
