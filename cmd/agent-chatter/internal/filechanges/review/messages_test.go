package review

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestTexts(t *testing.T) {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	ada := filechanges.Step{
		Turn: 12, ByTurn: true, Who: "Ada", Dir: apptest.Hostile, Files: []projection.FileChange{{Path: "a"}, {Path: "b"}},
	}
	you := filechanges.Step{Who: "you or another program", Dir: "/w", Files: ada.Files[:1]}
	unknown := filechanges.Step{ByTurn: true, Who: "Ada", Problem: "it is missing"}
	add("turnText", "", turnText(12, true))
	add("turnText", "of an unknown number", turnText(0, true))
	add("turnText", "no turn", turnText(0, false))
	add("filesText", "", filesText(ada))
	add("filesText", "unknown", filesText(unknown))
	add("byText", "", byText(ada))
	add("byText", "a person", byText(you))
	add("stepText", "", stepText(ada))
	add("stepText", "a person", stepText(you))
	add("hunkText", "", hunkText(1, 5, 40))
	add("moreText", "", moreText(3))
	add("noTerminalText", "", noTerminalText(apptest.AliceID))
	apptest.CheckTexts(t, texts)
}

func TestTitles(t *testing.T) {
	s := filechanges.Step{Turn: 12, ByTurn: true}
	for want, got := range map[string]string{
		"Set hunk 2 of a back to before turn 12": restoreTitle(s, filechanges.Target{Paths: []string{"a"}, Part: 2}),
		"Set 2 files back to before turn 12":     restoreTitle(s, filechanges.Target{Paths: []string{"a", "b"}}),
		"Set a back":                             restoreTitle(filechanges.Step{}, filechanges.Target{Paths: []string{"a"}}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
