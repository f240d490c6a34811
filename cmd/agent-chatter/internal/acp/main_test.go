package acp

import (
	"fmt"
	"os"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// homeVariable makes the test binary the acp command with this home.
const homeVariable = "ACP_TEST_HOME"

// PlayCommand ends this process if it is one that a test started: after it was a guard, an agent or the command.
func PlayCommand() {
	if process.Guarded() {
		os.Exit(0)
	}
	agenttest.Play()
	if home := os.Getenv(homeVariable); home != "" {
		os.Exit(runCommand(home))
	}
}

func runCommand(home string) int {
	os.Unsetenv(homeVariable)
	streams := app.IO{Stdin: os.Stdin, Stdout: &app.Output{File: os.Stdout}, Stderr: os.Stderr}
	a, err := app.New(streams, app.Options{Home: home})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return a.Fail((&Command{Team: "crew"}).Run(a))
}
