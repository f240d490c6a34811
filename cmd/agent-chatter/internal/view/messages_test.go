package view

import (
	"fmt"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// viewTexts renders each text of the package with sample values.
func viewTexts() []apptest.Text {

	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("thinkingText", "", ThinkingText(apptest.Hostile))
	add("usingText", "", usingText("Ada", apptest.Hostile))
	add("noAnswerFromText", "a script", noAnswerFromText("Ada", "Ada failed: "+apptest.Hostile, false))
	add("noAnswerFromText", "a person", noAnswerFromText("Ada", "Codex failed: "+apptest.Hostile, true))
	add("noAnswerFromText", "a reason that knows what helps", noAnswerFromText("Ada", "Ada failed: out of memory; to try again, type /retry", true))
	add("promptCutText", "a limit of the agent", promptCutText(apptest.Hostile, 7))
	add("messageCutText", "a limit of the agent", messageCutText(apptest.Hostile, 9437312))
	add("orphansEndedText", "", orphansEndedText(3))
	add("notPermittedText", "it may do nothing", notPermittedText(apptest.Hostile, apptest.Hostile))
	add("nobodyToAskText", "input from a pipe", nobodyToAskText(apptest.Hostile, apptest.Hostile))
	for _, kind := range []coordinator.NoticeKind{
		coordinator.RoundLimit, coordinator.RunLimit, coordinator.Round, coordinator.RunRound, coordinator.QueueFull, coordinator.QueueDemoted,
		coordinator.QueueEmptied, coordinator.NotHuman, coordinator.TaskRefused, coordinator.TaskDone, coordinator.TaskCut,
	} {
		add("noticeText", fmt.Sprint(kind), noticeText(coordinator.Notice{Kind: kind, Names: []string{"Ada", apptest.Hostile}, Limit: 10, Count: 3}))
	}
	add("changedText", "another", changedText(apptest.Hostile, "agent", apptest.Hostile, "codex"))
	add("changedText", "none before", changedText("Ada", "model", "", "opus"))
	add("notReachedText", "", NotReachedText(apptest.AliceID, "turn:99"))
	add("promptText", "", promptText(apptest.Hostile, "You are "+apptest.Hostile+"\n\nMessage from You:\nhello\n"))
	add("tornText", "", TornText(apptest.AliceID, journal.Torn{Offset: 4096, Bytes: 17}))
	add("setAsideText", "a torn tail", setAsideText(journal.Recovered{Reason: "the last line has no end", Aside: apptest.AliceID + ".aside-1", Bytes: 17}))
	add("setAsideText", "a failed write", setAsideText(journal.Recovered{Reason: "a write failed: no space left on device", Bytes: 17}))
	add("setAsideText", "a failed sync", setAsideText(journal.Recovered{Reason: "a sync failed: input/output error"}))
	said := projection.Message{Speaker: projection.Speaker{DisplayName: apptest.Hostile}, Content: apptest.Hostile}
	add("MessageText", "", MessageText(projection.Entry{Message: said}))
	add("ToolText", "", ToolText(projection.ToolStarted{Name: apptest.Hostile, Input: []byte(`{"command":"ls"}`)}))
	return texts
}

func TestViewTexts(t *testing.T) { apptest.CheckTexts(t, viewTexts()) }
