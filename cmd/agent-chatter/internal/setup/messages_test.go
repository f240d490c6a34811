package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// setupTexts renders each text of the package with sample values.
func setupTexts() []apptest.Text {
	member := team.Member{Name: apptest.Hostile, BaseDir: "/" + apptest.Hostile}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("invalidFileText", "", invalidFileText("/"+apptest.Hostile, 1))
	add("noPermissionsText", "", noPermissionsText(member))
	add("unsetNoticeText", "", unsetNoticeText(member, []string{"A_KEY", "B_KEY"}))
	add("inPlainText", "", inPlainText(member, []string{"A_KEY", "B_KEY"}))
	add("noBaseDirText", "", noBaseDirText(member))
	for sample, row := range []listedTeam{
		{Name: "review", Path: "/home/it's mine/review.json", Members: []string{"ada", "you"}, Valid: true},
		{Name: apptest.Hostile, Path: "/" + apptest.Hostile},
		{Name: "demo", Members: []string{"planner"}, Valid: true, Hidden: true},
	} {
		add("listedText", fmt.Sprint(sample+1), strings.ReplaceAll(listedText(row), "\t", " | "))
	}
	add("shownTeamText", "", shownTeamText(shownTeam{
		Name: "review", DisplayName: "Review", Description: apptest.Hostile, Path: "/review.json", MaxRounds: 10,
		InstructionFile:      "/rules.md",
		MaxAgentResponseTime: 1_800_000,
		Members: []shownMember{
			{
				Name:        "ada",
				DisplayName: "Ada",
				Type:        "ai",
				Role:        "author",
				AgentType:   "x",
				Engine:      "command",
				Command:     "/bin/x",
				Args:        []string{apptest.Hostile},
				Model:       "m1",
				Permissions: "read",
				BaseDir:     "/work",
				Env:         []string{"A_KEY"},
				Unset:       []string{"B_KEY"},
			},
			{Name: "you", DisplayName: apptest.Hostile, Type: "human"},
		},
	}))
	add("nameTakenText", "built in", nameTakenText("demo", team.File{}))
	add("nameTakenText", "file", nameTakenText(apptest.Hostile, team.File{Path: "/" + apptest.Hostile}))
	on, off := true, false
	add("thinkingText", "unset", thinkingText(nil))
	add("thinkingText", "on", thinkingText(&on))
	add("thinkingText", "off", thinkingText(&off))
	add("worktreeText", "none", worktreeText(nil))
	add("worktreeText", "", worktreeText(&team.Worktree{
		Copy: []string{".env*"}, Setup: []string{"npm", apptest.Hostile}, Ports: 10,
	}))
	add("maxRoundsText", "", maxRoundsText(0))
	add("panelText", "", panelText([]string{"ada", apptest.Hostile}))
	add("panelText", "many", panelText([]string{"ada", "bea", "cy", "di", "ed"}))
	add("writtenTeamText", "", writtenTeamText("review", ""))
	add("writtenTeamText", "a panel", writtenTeamText("three", "Why? [NEXT: claude | codex]"))
	add("fileExistsText", "", fileExistsText("/"+apptest.Hostile))
	add("builtInText", "", builtInText(apptest.Hostile))
	add("noEditorText", "", noEditorText("/"+apptest.Hostile))
	add("offerTeamText", "one", offerTeamText([]string{apptest.Hostile}, "/a"))
	add("offerTeamText", "", offerTeamText([]string{"Claude Code", "Codex"}, "/a/"+apptest.Hostile))
	add("demoTeamText", "", demoTeamText())
	add("agentChoiceText", "", agentChoiceText(choices{found: []string{"claude"}, more: []string{"codex", "demo"}}))
	add("unknownAgentsText", "", unknownAgentsText([]string{apptest.Hostile}, []string{"claude", "demo"}))
	add("duplicateText", "", duplicateText("claude"))
	return texts
}

func TestSetupTexts(t *testing.T) { apptest.CheckTexts(t, setupTexts()) }
