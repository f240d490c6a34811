package setup

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// setupTexts renders each text of the package with sample values.
func setupTexts() []apptest.Text {
	enemy := team.Agent{Name: apptest.Hostile, Command: apptest.Hostile, Args: []string{apptest.Hostile}}
	start := &process.StartError{
		Command: "claude",
		Install: []string{"npm", "install", "-g", "x"},
		Err:     exec.ErrNotFound,
	}
	member := team.Member{Name: apptest.Hostile, BaseDir: "/" + apptest.Hostile}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	found := func(function, sample string, f app.Finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, (&app.App{}).Resolve(f).Help))
	}
	add("withoutModelText", "", withoutModelText(team.Member{Name: apptest.Hostile, Engine: team.EngineDemo}))
	add("noAgentOfNameText", "", noAgentOfNameText(apptest.Hostile, team.Demo()))
	add("registeredText", "", registeredText(enemy))
	add("alreadyRegisteredText", "", alreadyRegisteredText(enemy))
	add("unregisteredText", "", unregisteredText(enemy))
	add("noCommandText", "", noCommandText(apptest.Hostile))
	add(
		"scannedText",
		"not found",
		strings.ReplaceAll(
			scannedText(scanned{Name: "claude", DisplayName: "Claude Code", Install: "npm install -g x"}),
			"\t",
			" | ",
		),
	)
	add(
		"scannedText",
		"found",
		strings.ReplaceAll(
			scannedText(
				scanned{
					Name:        "claude",
					DisplayName: "Claude Code",
					Found:       true,
					Path:        "/bin/" + apptest.Hostile,
					Registered:  true,
				},
			),
			"\t",
			" | ",
		),
	)
	add(
		"scannedText",
		"broken",
		strings.ReplaceAll(
			scannedText(
				scanned{
					Name:        "claude",
					DisplayName: "Claude Code",
					Found:       true,
					Path:        "/bin/claude",
					Broken:      apptest.Hostile,
				},
			),
			"\t",
			" | ",
		),
	)
	found("executableText", "", executableText("/bin/"+apptest.Hostile, "1.2"))
	found("executableText", "no version", executableText("/bin/true", ""))
	found("noExecutableText", "", noExecutableText(start))
	found("noExecutableText", "no command", noExecutableText(&process.StartError{Err: exec.ErrNotFound}))
	found("noEngineText", "", noEngineText(apptest.Hostile))
	found("unsetText", "", unsetText([]string{"A_KEY", "B_KEY"}))
	found(
		"notLoggedInText",
		"",
		notLoggedInText(
			agent.Remedy{Advice: "log in", Hint: hint.Hint{Kind: hint.Run, Argv: []string{"codex", "login"}}},
		),
	)
	add("loginUnknownText", "", loginUnknownText(errors.New(apptest.Hostile)))
	found("answersText", "", answersText("it reports that it is not logged in"))
	found(
		"noAnswerText",
		"",
		noAnswerText(&agent.FailureError{Agent: "x", Reason: apptest.Hostile, Remedy: agent.Remedy{Advice: "log in"}}),
	)
	found(
		"noAnswerText",
		"in a chat it would be retried",
		noAnswerText(
			&agent.FailureError{
				Agent:  "x",
				Reason: apptest.Hostile,
				Remedy: agent.Remedy{Advice: "retry", Hint: hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}},
			},
		),
	)
	found("noAnswerText", "no program", noAnswerText(start))
	found("noAnswerText", "else", noAnswerText(timeoutError(time.Minute)))
	found("answerText", "", answerText(apptest.Hostile, 1234*time.Millisecond))
	add("notWorkingText", "", notWorkingText(1, 2))
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
	add("otherHomeText", "", otherHomeText("/"+apptest.Hostile))
	add("nameTakenText", "built in", nameTakenText("demo", team.File{}))
	add("nameTakenText", "file", nameTakenText(apptest.Hostile, team.File{Path: "/" + apptest.Hostile}))
	on, off := true, false
	add("thinkingText", "unset", thinkingText(nil))
	add("thinkingText", "on", thinkingText(&on))
	add("thinkingText", "off", thinkingText(&off))
	add("maxRoundsText", "", maxRoundsText(0))
	add("writtenTeamText", "", writtenTeamText("review"))
	add("fileExistsText", "", fileExistsText("/"+apptest.Hostile))
	add("agentChoiceText", "", agentChoiceText(choices{found: []string{"claude"}, more: []string{"codex", "demo"}}))
	add("unknownAgentsText", "", unknownAgentsText([]string{apptest.Hostile}, []string{"claude", "demo"}))
	add("duplicateText", "", duplicateText("claude"))
	add("noAgentsText", "", noAgentsText())
	return texts
}

func TestSetupTexts(t *testing.T) { apptest.CheckTexts(t, setupTexts()) }
