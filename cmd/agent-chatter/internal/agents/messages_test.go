package agents

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

// agentTexts renders each text of the package with sample values.
func agentTexts() []apptest.Text {
	enemy := team.Agent{Name: apptest.Hostile, Command: apptest.Hostile, Args: []string{apptest.Hostile}}
	start := &process.StartError{
		Command: "claude",
		Install: []string{"npm", "install", "-g", "x"},
		Err:     exec.ErrNotFound,
	}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	found := func(function, sample string, f app.Finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, (&app.App{}).Resolve(f).Help))
	}
	add("registeredText", "", registeredText(enemy))
	add("alreadyRegisteredText", "", alreadyRegisteredText(enemy))
	add("unregisteredText", "", unregisteredText(enemy))
	add("noCommandText", "", noCommandText(apptest.Hostile))
	const name, display = "claude", "Claude Code"
	for _, s := range []struct {
		sample string
		Scanned
	}{
		{"not found", Scanned{Name: name, DisplayName: display, Install: "npm install -g x"}},
		{"found", Scanned{Name: name, DisplayName: display, Found: true, Path: "/bin/" + apptest.Hostile, Registered: true}},
		{"broken", Scanned{Name: name, DisplayName: display, Found: true, Path: "/bin/claude", Broken: apptest.Hostile}},
	} {
		add("scannedText", s.sample, strings.ReplaceAll(scannedText(s.Scanned), "\t", " | "))
	}
	add("answeredText", "", answeredText(1, false))
	add("answeredText", "without a dry run", answeredText(2, true))
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
	add("noAgentsText", "", noAgentsText())
	return texts
}

func TestAgentTexts(t *testing.T) { apptest.CheckTexts(t, agentTexts()) }
