package transfer

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// transferTexts renders each text of the package with sample values.
func transferTexts() []apptest.Text {

	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("exportedWithoutText", "", exportedWithoutText([]string{apptest.Hostile, "github-token"}))
	add("keepsTeamText", "", keepsTeamText("/a/"+apptest.Hostile))
	add("pipeText", "", pipeText("/a/"+apptest.Hostile))
	add("notExportedText", "some", notExportedText(1, 3))
	add("notExportedText", "all", notExportedText(3, 3))
	add("aTeamText", "", aTeamText("/a/"+apptest.Hostile))
	add("noFileText", "", noFileText("/a/"+apptest.Hostile))
	add("nothingInText", "", nothingInText("/a/"+apptest.Hostile))
	return texts
}

func TestTransferTexts(t *testing.T) { apptest.CheckTexts(t, transferTexts()) }
