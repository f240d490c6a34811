//go:build unix

package agent_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// A recording is what went to and fro between an engine and the program of an agent, a line
// each, in the order in which it happened:
//
//	> LINE     the engine wrote it to the program
//	< LINE     the program printed it
//	! SIGNAL   the program was sent a signal, by its name
//	! exit N   the program ended, with that exit code
//
// Recordings are in testdata/streams, real agents of this package's TestRealRecord. Beside each
// is what its engine tells of it.
const (
	recordings    = "testdata/streams"
	recordingEnds = ".rec"
	toldEnds      = ".told"
)

// The places that recordings name.
const (
	playedHome = "/home/dev"
	playedIn   = playedHome + "/project"
)

// The environment of programs that record and play.
const (
	recordingFile   = "AGENT_TEST_RECORDING"
	overseenProgram = "AGENT_TEST_OVERSEEN" // what is recorded
	playerDir       = "AGENT_TEST_DIR"      // where the engine is told to work
	playerDoor      = "AGENT_TEST_DOOR"     // what a player asks for when it waits for a cancel
)

// A scene is a turn that is recorded of the agents.
type scene struct {
	name, prompt string
	agents       string // whose names contain one of these words; "" is all
	asks         bool   // the agent is set up to ask for leave
	refuses      bool   // which it does not get
	cancelled    bool   // when it has begun its reply
	retries      bool   // it tries again and again, until it has for long enough and is cancelled
	unreachable  bool   // its API is
}

// recordedScenes are all of them. An agent that is refused by its API and tries again in silence,
// as OpenCode does, is no scene.
var recordedScenes = []scene{
	{name: "text", prompt: "say <<Hello there. [NEXT: bob]>>"},
	{name: "tool", prompt: "tool <<echo hi; touch made>>", asks: true},
	{name: "words-and-tool", prompt: "first <<I look.>> tool <<echo hi>>"},
	{name: "tool-fails", prompt: "tool <<echo oops; exit 3>>"},
	{name: "tool-denied", prompt: "tool <<echo hi; touch made>>", asks: true, refuses: true},
	{name: "api-error", prompt: "fail 400", agents: "claude codex gemini"},
	{name: "unauthorized", prompt: "fail 401", agents: "cli", retries: true},
	{name: "interrupted", prompt: "slow 200", cancelled: true},
	{name: "retry", prompt: "hello", agents: "cli", retries: true, unreachable: true},
}

// overseen runs the program that is recorded, and writes down what goes to and fro.
func overseen() int {
	file, err := os.OpenFile(os.Getenv(recordingFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var mu sync.Mutex
	note := func(mark byte, line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(file, "%c %s\n", mark, strings.TrimSuffix(line, "\n"))
	}
	signals := make(chan os.Signal, 8) // which the group gets, so that the program has it already
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			note('!', signalName(s))
		}
	}()
	cmd := exec.Command(os.Getenv(overseenProgram), os.Args[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "AGENT_TEST_ROLE="), os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		passOn(os.Stdin, stdin, func(line string) { note('>', line) })
		stdin.Close()
	}()
	passOn(stdout, os.Stdout, func(line string) { note('<', line) })
	_ = cmd.Wait()
	note('!', fmt.Sprintf("exit %d", cmd.ProcessState.ExitCode()))
	return cmd.ProcessState.ExitCode()
}

func signalName(s os.Signal) string {
	return map[os.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[s]
}

// passOn copies lines, each of which is noted before anybody can answer to it.
func passOn(from io.Reader, to io.Writer, note func(line string)) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			note(line)
			_, _ = io.WriteString(to, line)
		}
		if err != nil {
			return
		}
	}
}

// played does what a recording says that an agent did, at the same things that it was told. It
// fails when it is told something else.
func played() int {
	content, err := os.ReadFile(os.Getenv(recordingFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	heard := bufio.NewReader(os.Stdin)
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		mark, text, _ := strings.Cut(line, " ")
		switch mark {
		case "<":
			fmt.Println(text)
		case ">":
			if strings.Contains(text, `"method":"session/cancel"`) {
				knock()
			}
			told, _ := heard.ReadString('\n')
			told = strings.ReplaceAll(strings.TrimSuffix(told, "\n"), os.Getenv(playerDir), playedIn)
			if told != text {
				fmt.Fprintf(os.Stderr, "it was told\n%s\nand not\n%s\n", told, text)
				return 1
			}
		case "!":
			var code int
			if n, _ := fmt.Sscanf(text, "exit %d", &code); n == 1 {
				return code
			}
			knock()
			if text == "SIGKILL" {
				select {}
			}
			if got := signalName(<-signals); got != text {
				fmt.Fprintf(os.Stderr, "it was sent %s and not %s\n", got, text)
				return 1
			}
		}
	}
	_, _ = io.Copy(io.Discard, heard) // a server ends when nobody has anything to tell it
	return 0
}

// knock says that everything before a cancel was done.
func knock() {
	if response, err := http.Get(os.Getenv(playerDoor)); err == nil {
		response.Body.Close()
	}
}
