package view

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// viewTexts renders each text of the package with sample values.
func viewTexts() []apptest.Text {

	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	failed := func(message string, err error) *coordinator.TurnError {
		return &coordinator.TurnError{Member: team.Member{DisplayName: "Ada"}, Reason: projection.Failed, Detail: message, Err: err}
	}
	stopped := &coordinator.TurnError{Member: team.Member{DisplayName: apptest.Hostile}, Reason: projection.Cancelled}
	add("turnErrorText", "interrupted before a reply", turnErrorText(stopped, ""))
	stopped.Partial = true
	add("turnErrorText", "interrupted", turnErrorText(stopped, ""))
	hinted := hint.Wrap(errors.New(""), hint.Hint{Kind: hint.Run, Argv: []string{"chmod", "+x", apptest.Hostile}})
	add("turnErrorText", "", turnErrorText(failed(apptest.Hostile, nil), ""))
	held := &coordinator.HeldError{Limit: 32 << 20, Saves: true}
	add("turnErrorText", "too much is unsaved", turnErrorText(failed(held.Error(), held), ""))
	add("turnErrorText", "a hint", turnErrorText(failed("not executable", hinted), ""))
	add("turnErrorText", "a reason that the transcript shows", turnErrorText(failed("it failed\nwith "+apptest.Hostile, hinted), "codex: it failed\nwith more"))
	add("promptCutText", "a limit of the agent", promptCutText(apptest.Hostile, 7))
	add("windowCutText", "the newest messages", windowCutText(apptest.Hostile, projection.ReasonFirst, 20, 103))
	add("windowCutText", "a session elsewhere", windowCutText("Ada", projection.ReasonHost, 61, 103))
	add("windowCutText", "a session that is gone", windowCutText("Ada", projection.ReasonGone, 12, 12))
	add("summarizingText", "", summarizingText(apptest.Hostile, 42))
	add("messageCutText", "a limit of the agent", messageCutText(apptest.Hostile, 9437312))
	add("orphansEndedText", "", orphansEndedText(3))
	add("notPermittedText", "it may do nothing", notPermittedText(apptest.Hostile, apptest.Hostile))
	add("unsupportedText", "", unsupportedText(apptest.Hostile, "thinking"))
	add("notSentText", "", notSentText(apptest.Hostile, "picture.png", coordinator.NotTaken))
	add("notSentText", "too large", notSentText("Ada", "picture.png", coordinator.NotFitting))
	add("notSentText", "damaged", notSentText("Ada", apptest.Hostile, coordinator.NotReadable))
	add("agentNoticeText", "", agentNoticeText(apptest.Hostile, apptest.Hostile))
	add("retryingText", "", retryingText(apptest.Hostile, agent.Retry{Reason: apptest.Hostile}))
	add("retryingText", "a wait", retryingText("Ada", agent.Retry{Reason: "429 Too Many Requests", Wait: 4200 * time.Millisecond, Try: 2, Max: 6}))
	add("ContextText", "", ContextText(24_400, 200_000))
	add("ContextText", "an unknown window", ContextText(1_240_000, 0))
	add("unansweredText", "input from a pipe", unansweredText(apptest.Hostile, apptest.Hostile))
	add("AnswersText", "", AnswersText(projection.PermissionAnswered{
		Questions: []projection.Question{{Text: apptest.Hostile}, {Text: "Key?", Secret: true}, {Text: "More?"}},
		Answers:   [][]string{{"oak", apptest.Hostile}, {}, {}},
	}))
	add("unansweredQuestionText", "", unansweredQuestionText(apptest.Hostile, apptest.Hostile))
	cost := team.Bound{Per: team.PerSession, Of: team.Cost, Most: 5}
	for _, name := range []string{"Files", "Bytes", "Free", "Time"} {
		err := &workspace.LimitError{Root: apptest.Hostile, Limit: name, Value: 10_000_000_000}
		add("fileLimitText", name, fileLimitText(err))
	}
	add("fileLimitText", "another error", fileLimitText(errors.New(apptest.Hostile)))
	limit := &workspace.LimitError{Root: "/home/hugo/shop", Limit: "Files", Value: 50_000}
	add("filesOffText", "", filesOffText(coordinator.FilesOff{Dir: apptest.Hostile, Err: limit}))
	for _, why := range []coordinator.PanelSplitReason{
		coordinator.PanelMayChange, coordinator.PanelTooLarge, coordinator.PanelOfPeople, coordinator.PanelRepeats,
	} {
		members := []team.Member{{DisplayName: "Ada"}, {DisplayName: apptest.Hostile}}
		add("panelSplitText", "", panelSplitText(coordinator.PanelSplit{Members: members, Why: why}))
	}
	add("filesLimitedText", "", filesLimitedText(coordinator.FilesLimited{Dir: apptest.Hostile, Err: limit}))
	add("filesLimitedText", "changed", filesLimitedText(coordinator.FilesLimited{Dir: apptest.Hostile, Err: limit, Changed: true}))
	add("budgetNearText", "", budgetNearText(coordinator.BudgetNear{BudgetError: coordinator.BudgetError{
		Bound: cost, Used: 4.0625, Currency: apptest.Hostile,
	}}))
	add("budgetNearText", "of a day", budgetNearText(coordinator.BudgetNear{BudgetError: coordinator.BudgetError{
		Bound: team.Bound{Per: team.PerDay, Of: team.Tokens, Most: 1e6}, Used: 812_345, Day: "2026-11-28",
	}}))
	add("budgetUnknownText", "", budgetUnknownText(coordinator.BudgetUnknown{Bound: cost, Turns: 3}))
	ada, hostile := team.Member{Name: "ada", DisplayName: "Ada"}, team.Member{Name: "x", DisplayName: apptest.Hostile}
	add("settingUpText", "", settingUpText(coordinator.SettingUp{Member: ada, Dir: "/w/" + apptest.Hostile}))
	add("settingUpText", "command", settingUpText(coordinator.SettingUp{
		Member: ada, Dir: "/w/ada", Argv: []string{"npm", apptest.Hostile},
	}))
	both := []team.Member{ada, hostile}
	crew := &team.Team{Members: both}
	for _, n := range []coordinator.Notice{
		coordinator.RoundLimit{Limit: 10, Next: both}, coordinator.RunLimit{Limit: 10, Next: both},
		coordinator.Round{Member: hostile, Round: 3, Limit: 10}, coordinator.RunRound{Member: hostile, Round: 3, Limit: 10},
		coordinator.QueueFull{Members: both, Limit: 10}, coordinator.QueueDemoted{Members: both, Limit: 10},
		coordinator.QueueCleared{Members: both}, coordinator.UnknownNames{Names: []string{"zed", apptest.Hostile}},
	} {
		add("queueNoticeText", fmt.Sprintf("%T", n), noticeText(n, crew))
	}
	for _, n := range []coordinator.Notice{
		coordinator.InstructionsChanged{Member: hostile}, coordinator.FromIgnored{Member: hostile}, coordinator.TaskIgnored{Member: hostile},
		coordinator.TaskDone{Member: hostile}, coordinator.TaskTruncated{Limit: 10},
	} {
		add("noticeText", fmt.Sprintf("%T", n), noticeText(n, crew))
	}
	model, permissions, unset := apptest.Hostile, "allow", ""
	changes := []projection.ChangedMember{
		{MemberID: "ada", Model: []projection.MemberChanged{{Model: &model}}, Permissions: []projection.MemberChanged{{Permissions: &permissions}}},
		{MemberID: "bob", Model: []projection.MemberChanged{{Model: &unset}}, Permissions: []projection.MemberChanged{{Permissions: &unset}}},
		{MemberID: apptest.Hostile, Removed: true},
		{MemberID: "cy", Added: []projection.MemberChanged{{Agent: apptest.Hostile, Added: &projection.Member{ID: "cy"}}}},
		{MemberID: "dan", Added: []projection.MemberChanged{{Added: &projection.Member{ID: "dan"}}}},
	}
	add("ChangesText", "", ChangesText(changes))
	most := 2.5
	limits := []projection.BudgetChanged{{Limit: "session.cost", Most: &most}, {Limit: apptest.Hostile, Most: new(float64)}}
	add("LimitsText", "", LimitsText(coordinator.LimitsChanged{InForce: limits, Ignored: limits}))
	for _, limit := range []string{"Files", "Bytes", "Time", "Free", "Stores"} {
		err := &workspace.LimitError{Root: apptest.Hostile, Limit: limit, Value: 5e9}
		add("filesOffText", limit, filesOffText(coordinator.FilesOff{Dir: apptest.Hostile, Err: err}))
		add("filesLimitedText", limit, filesLimitedText(coordinator.FilesLimited{Dir: apptest.Hostile, Err: err}))
	}
	add("filesOffText", "another", filesOffText(coordinator.FilesOff{Dir: "/w", Err: errors.New(apptest.Hostile)}))
	add("fileLimitText", "", fileLimitText(&workspace.LimitError{Root: "/w", Limit: "Files", Value: 5}))
	add("LimitsText", "not in force", LimitsText(coordinator.LimitsChanged{Ignored: limits}))
	add("changeIgnoredText", "", changeIgnoredText(coordinator.ChangeIgnored{
		Change: changes[0].Whole(), Reason: "the team does not have it: " + apptest.Hostile,
	}))
	add("changedText", "another", changedText(coordinator.MemberChanged{Member: hostile, Agent: &projection.Change{From: apptest.Hostile, To: "codex"}}))
	add("changedText", "both", changedText(coordinator.MemberChanged{Member: ada, Agent: &projection.Change{From: "claude", To: "codex"}, Model: &projection.Change{To: "opus"}}))
	used := projection.Totals{
		Input: 1, CachedRead: 12000, CachedWrite: 800, Output: 340, Thought: 56,
		Costs: map[string]float64{"USD": 12.3456, "EUR": 0.00001, "CHF": 2},
	}
	add("TokensText", "", TokensText(used))
	add("CostText", "", CostText(used))
	add("notReachedText", "", NotReachedText(apptest.AliceID, "turn:99"))
	add("promptText", "", promptText(apptest.Hostile, "You are "+apptest.Hostile+"\n\nMessage from You:\nhello\n"))
	add("tornText", "", TornText(apptest.AliceID, journal.Torn{Offset: 4096, Bytes: 17}))
	add("tornText", "readable events", TornText(apptest.AliceID, journal.Torn{Offset: 4096, Bytes: 900, FirstSeq: 8, LastSeq: 9}))
	add("setAsideText", "a torn tail", setAsideText(journal.Recovered{Reason: "the last line has no end", Aside: apptest.AliceID + ".aside-1", Bytes: 17}))
	add("setAsideText", "a failed write", setAsideText(journal.Recovered{Reason: "a write failed: no space left on device", Bytes: 17}))
	add("setAsideText", "a failed sync", setAsideText(journal.Recovered{Reason: "a sync failed: input/output error"}))
	aside := "/home/hugo/.agent-chatter/sessions/review/" + apptest.AliceID + ".aside-1"
	add("notSavedText", "", notSavedText(coordinator.NotSaved{File: aside, Events: 12}))
	whole := coordinator.NotSaved{File: apptest.Hostile, Events: 1, Whole: true}
	add("notSavedText", "of a replaced journal", notSavedText(whole))
	add("notSavedText", "lost", notSavedText(coordinator.NotSaved{Err: errors.New(apptest.Hostile)}))
	said := projection.Message{Speaker: projection.Speaker{DisplayName: apptest.Hostile}, Content: apptest.Hostile}
	add("MessageText", "", MessageText(projection.Entry{Message: said}))
	for i := range texts {
		texts[i].IsContent = texts[i].Function == "promptText" || texts[i].Function == "MessageText"
	}
	return texts
}

func TestViewTexts(t *testing.T) { apptest.CheckTexts(t, slices.Concat(viewTexts(), partTexts())) }
