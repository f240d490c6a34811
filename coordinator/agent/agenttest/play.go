package agenttest

import (
	"os"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

const (
	roleVariable   = "AGENT_TEST_PLAY"
	habitsVariable = "AGENT_TEST_HABITS"

	roleACP    = "acp"
	roleClaude = "claude"
	roleAgy    = "agy"
	roleSleep  = "sleep"
)

// sleepTime is longer than any test waits.
const sleepTime = 10 * time.Minute

// Play runs the agent, one of its tools, a server or a guard, and does not return, if the process was started for
// that.
func Play() {
	if process.Guarded() { // otherwise the guard of a test would run the tests, with guards
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == mcpArgument {
		playMCP(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	switch os.Getenv(roleVariable) {
	case roleACP:
		os.Exit(playACP(os.Stdin, os.Stdout, habitsOf(os.Getenv(habitsVariable))))
	case roleCodex:
		os.Exit(playCodex(os.Stdin, os.Stdout, habitsOf(os.Getenv(habitsVariable))))
	case roleClaude:
		os.Exit(playClaude(os.Stdin, os.Stdout, os.Args[1:], habitsOf(os.Getenv(habitsVariable))))
	case roleAgy:
		os.Exit(playAgy(os.Stdin, os.Stdout, os.Args[1:], habitsOf(os.Getenv(habitsVariable))))
	case roleSleep:
		time.Sleep(sleepTime)
		os.Exit(0)
	}
}

// PlayACP runs the agent that speaks the Agent Client Protocol, and does not return. It is for
// programs with no other purpose.
func PlayACP() {
	os.Setenv(roleVariable, roleACP) // for its tools
	os.Exit(playACP(os.Stdin, os.Stdout, habitsOf(os.Getenv(habitsVariable))))
}

// Member returns a member whose agent is this program.
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

// A Habit is something that the agent does whatever the prompt is.
type Habit string

// The habits.
const (
	Mute        Habit = "mute"        // reads and never prints anything
	Rubbish     Habit = "rubbish"     // prints text and exits with code 0
	LoggedOut   Habit = "loggedOut"   // refuses sessions
	Older       Habit = "older"       // speaks another version of the protocol
	Careless    Habit = "careless"    // leaves its tools running when it is cancelled
	Stubborn    Habit = "stubborn"    // ignores cancellation, SIGINT and SIGTERM
	Unclosing   Habit = "unclosing"   // cannot close sessions
	Models      Habit = "models"      // has a choice of models, by session/set_model
	ModelOption Habit = "modelOption" // has a choice of models, by session/set_config_option

	HTTPServers Habit = "httpServers" // takes MCP servers with a URL

	Modeless   Habit = "modeless"   // has no modes
	OtherModes Habit = "otherModes" // has modes of unknown names
	ModeOption Habit = "modeOption" // has its modes as an option
	Auto       Habit = "auto"       // starts in a mode in which it does not ask
	Staying    Habit = "staying"    // answers that its mode is set, and does not change it
	Claiming   Habit = "claiming"   // does not either, and claims that it has, with ModeOption

	ThoughtOption Habit = "thoughtOption" // has a choice of how much its model reasons; "where" shows it as the model
)

type habits map[Habit]bool

func habitsOf(names string) habits {
	h := habits{}
	for name := range strings.SplitSeq(names, ",") {
		h[Habit(name)] = true
	}
	return h
}
