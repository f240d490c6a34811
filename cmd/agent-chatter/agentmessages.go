package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// The texts of agents.
const (
	textNoAgents        = "No agent is registered. To find those that are installed, type: agent-chatter agents scan"
	textScanRegister    = "To make them known to all teams, type: agent-chatter agents scan --register"
	textAskingVersions  = "Asking the programs for their versions"
	textNoProgramNeeded = "it needs no program"
	textLoggedIn        = "it is logged in"
	textNothingMissing  = "it answers, so that no login is missing"
	textLoginUnknown    = "only an answer shows whether it is logged in"
)

func noAgentText(err error) string {
	return sentence(err) + "\nTo see which there are, type: agent-chatter agents list"
}

func registeredText(r team.Agent) string {
	return fmt.Sprintf("%s is registered. To try it out, type: agent-chatter agents verify %s", safeLine(r.Name), hint.Quote(r.Name))
}

func alreadyRegisteredText(r team.Agent) string {
	return fmt.Sprintf("The agent %s is registered already: %s\nTo replace it, add --replace before the name.", safeLine(r.Name), commandLine(r))
}

func unregisteredText(r team.Agent) string {
	return fmt.Sprintf("%s is not registered any more; nothing was uninstalled. It was: %s", safeLine(r.Name), commandLine(r))
}

func noCommandText(name string) string {
	var names []string
	for _, k := range knownAgents() {
		names = append(names, k.Name)
	}
	return fmt.Sprintf("Name the program of %s behind its name. Without one, these are known: %s.", safeLine(name), strings.Join(names, ", "))
}

// scannedText is a row of a scan.
func scannedText(s scanned) string {
	if !s.Found {
		return fmt.Sprintf("%s\t%s\tnot found\tto install it, type: %s", s.Name, s.DisplayName, s.Install)
	}
	state := "not registered"
	if s.Registered {
		state = "registered"
	}
	if s.Broken != "" {
		state += ", cannot be started: " + safeLine(s.Broken)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s, %s", s.Name, s.DisplayName, safeLine(orUnknown(s.Version)), safeLine(s.Path), state)
}

func tryingOutText(name string) string { return "Trying out " + safeLine(name) }

func executableText(path, version string) finding {
	if version != "" {
		version = ", version " + version
	}
	return fine(safeLine(path + version))
}

func noExecutableText(err *process.StartError) finding {
	if err.Command == "" {
		return wrong(sentence(err), "")
	}
	what := safeLine(fmt.Sprintf("%q cannot be started: %v", err.Command, err.Err))
	return wrong(what, remedyText(err.Advice(), err.Hint()))
}

func noEngineText(name string) finding {
	return wrong(fmt.Sprintf("there is no engine %q", safeLine(name)), "Correct the member's engine; a newer agent-chatter may know it.")
}

func unsetText(names []string) finding {
	return wrong("not set in your environment: "+safeLine(strings.Join(names, ", ")), "Set it before you start the chat, such as: export "+safeLine(names[0])+"=…")
}

func notLoggedInText(login agent.Remedy) finding {
	return wrong("it says that it is not logged in", remedyText(login.Advice, login.Hint))
}

// remedyText is a bridge until hints are rendered in one place.
func remedyText(advice string, h hint.Hint) string {
	text := sentence(errors.New(advice))
	switch {
	case h.Kind == hint.Run:
		text += "; type: " + hint.Join(h.Argv)
	case h.Kind == hint.Slash:
		text += "; to try again, type: agent-chatter agents verify"
	}
	return text
}

// noWordOnLoginText says why a program has not said whether it is logged in.
func noWordOnLoginText(err error) string {
	return "it has not said whether it is logged in: " + safeLine(err.Error())
}

// anyhowText is said of an agent that answers though it does not look like it could.
func anyhowText(what string) finding {
	return note(what+"; it answers all the same", "")
}

// noAnswerText says why an agent did not answer.
func noAnswerText(err error) finding {
	var failure *agent.FailureError
	var start *process.StartError
	switch {
	case errors.As(err, &failure):
		return wrong(safeLine(failure.Reason), remedyText(failure.Remedy.Advice, failure.Hint()))
	case errors.As(err, &start):
		return noExecutableText(start)
	}
	return wrong(safeLine(err.Error()), "Run it by hand to see more; --timeout gives it more time.")
}

func answerText(answer string, took time.Duration) finding {
	return fine(fmt.Sprintf("it answered “%s” in %.1f s", safeLine(answer), took.Seconds()))
}

func notWorkingText(bad, of int) string {
	return fmt.Sprintf("%d of %s did not work.", bad, count(of, "agent"))
}
