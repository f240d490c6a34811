package agenttest

import (
	"os"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

const (
	roleVariable   = "AGENT_TEST_PLAY"
	habitsVariable = "AGENT_TEST_HABITS"

	roleACP   = "acp"
	roleSleep = "sleep"
)

// sleepTime is longer than any test waits.
const sleepTime = 10 * time.Minute

// Play does what the program was started for, and does not return, when that was to play an
// agent or one of its tools.
func Play() {
	switch os.Getenv(roleVariable) {
	case roleACP:
		os.Exit(playACP(os.Stdin, os.Stdout, habitsOf(os.Getenv(habitsVariable))))
	case roleSleep:
		time.Sleep(sleepTime)
		os.Exit(0)
	}
}

// PlayACP plays an agent that speaks the Agent Client Protocol, for programs that are nothing
// else. It does not return.
func PlayACP() {
	os.Setenv(roleVariable, roleACP) // for what it starts
	os.Exit(playACP(os.Stdin, os.Stdout, habitsOf(os.Getenv(habitsVariable))))
}

// Member is a member whose agent is this program, with bad habits if need be.
func Member(habits ...Habit) agent.Member {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	names := make([]string, len(habits))
	for i, h := range habits {
		names[i] = string(h)
	}
	return agent.Member{ID: "fake", Name: "fake", DisplayName: "Fake", Command: program, Env: map[string]string{
		roleVariable: roleACP, habitsVariable: strings.Join(names, ","),
	}}
}

// A Habit is what an agent does whatever it is told.
type Habit string

// The habits there are.
const (
	Mute      Habit = "mute"      // it reads and never says anything
	Rubbish   Habit = "rubbish"   // it prints a text and ends with exit code 0
	LoggedOut Habit = "loggedOut" // it refuses sessions
	Older     Habit = "older"     // it speaks another version of the protocol
	Careless  Habit = "careless"  // it leaves its tools running when it is cancelled
	Stubborn  Habit = "stubborn"  // it does not care about being cancelled, nor for SIGINT and SIGTERM
	Unclosing Habit = "unclosing" // it cannot close sessions
	Modelled  Habit = "modelled"  // it has a choice of models, by session/set_model
	Optioned  Habit = "optioned"  // it has a choice of models, among its options
)

type habits map[Habit]bool

func habitsOf(names string) habits {
	h := habits{}
	for name := range strings.SplitSeq(names, ",") {
		h[Habit(name)] = true
	}
	return h
}
