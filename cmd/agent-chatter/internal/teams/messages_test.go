package teams

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// teamsTexts renders each text of the package with sample values.
func teamsTexts() []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	a := &app.App{}
	key := "made-up-key-4711"
	members := []team.Member{
		{Name: "you", Type: team.Human},
		{Name: "ada", Type: team.AI, AgentType: "claude", Permissions: "bypass", BaseDir: "/clone", Model: "opus",
			Args: []string{"--add-dir", "/etc"}},
		{Name: "abe", Type: team.AI, AgentType: "codex-acp", Model: "a/m", Recall: team.RecallAll},
		{Name: "bea", Type: team.AI, AgentType: "x", Command: "/bin/sh", Args: []string{"-c", "echo it's " + key},
			Env: map[string]string{"A_KEY": key, "BASH_FUNC_secret-tool%%": "() { echo; }", "LD_PRELOAD": "./" + apptest.Hostile}},
		{Name: "cleo", Type: team.AI, AgentType: "openai", Endpoint: "https://me:word@host/v1", APIKeyEnv: "A_KEY",
			Headers: map[string]string{"api-key": "$AZURE_KEY", "x-team": apptest.Hostile}, Env: map[string]string{"A_KEY": "$B_KEY"}},
		{Name: apptest.Hostile, Type: team.AI, AgentType: "x", Command: apptest.Hostile},
		{Name: "demo", Type: team.AI, AgentType: "demo"},
	}
	crew := &team.Team{
		Members: members, Source: &team.Source{Path: "/clone/" + apptest.Hostile}, Elsewhere: []string{"/etc/" + apptest.Hostile},
	}
	const why = "You have not confirmed it yet, and it may be from someone else."
	add("runsText", "", runsText(a, crew))
	add("confirmText", "", confirmText(a, crew, why))
	add("refusedText", "", refusedText(a, crew, why))
	add("runText", "", runText(nil, members[3]))
	add("RecallText", "", RecallText(team.RecallTeam))
	add("EndpointText", "", EndpointText(redact.New(nil), "https://me:word@host/v1?a=b"))
	add("EndpointText", "no password", EndpointText(redact.New(nil), "http://me@host/v1"))
	add("notLoadedText", "", notLoadedText(apptest.AliceID, apptest.Hostile, errors.New(apptest.Hostile)))
	add("noConfigurationText", "", noConfigurationText(apptest.AliceID, apptest.Hostile))
	add("elsewhereText", "", elsewhereText(apptest.AliceID, `\\host\share\`+apptest.Hostile))
	add("warningText", "", warningText("/"+apptest.Hostile,
		schemas.Problem{Path: "/team/members/1", Message: `missing property "baseDir"`}))
	add("warningText", "of a newer version", warningText("/"+apptest.Hostile,
		schemas.Problem{Path: "/", Message: `unknown property "memory"`, Unknown: "memory"}))
	add("changedText", "", changedText("/"+apptest.Hostile))
	add("notRecordedText", "", notRecordedText("/"+apptest.Hostile, errors.New(apptest.Hostile)))
	add("trustedText", "", trustedText(a, &team.Team{
		Source: &team.Source{Path: "/" + apptest.Hostile}, Members: []team.Member{{Name: "ada", Type: team.AI, Command: "x"}},
	}))
	add("withoutModelText", "", withoutModelText(team.Member{Name: apptest.Hostile, Engine: "demo"}))
	add("noAgentOfNameText", "", noAgentOfNameText(apptest.Hostile, team.Demo()))
	add("revokedText", "", revokedText("/"+apptest.Hostile))
	add("notTrustedText", "", notTrustedText("/"+apptest.Hostile))
	add("promptText", "", promptText("/review", "/a/"+apptest.Hostile+".md", "Review $1.\n"+strings.ReplaceAll(apptest.Hostile, "\n", " ")+"\n"))
	add("promptText", "long", promptText("/review", "/a/review.md", strings.Repeat("again\n", maxShown+3)))
	add("promptRefusedText", "", promptRefusedText("/review", "/a/"+apptest.Hostile+".md"))
	return texts
}

func TestTeamsTexts(t *testing.T) { apptest.CheckTexts(t, teamsTexts()) }
