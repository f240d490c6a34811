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
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A recording is the communication between an engine and the program of an agent, one line for
// each item, in order:
//
//	> LINE     the engine wrote the line to the program
//	< LINE     the program printed the line
//	! SIGNAL   the program received the signal, by name
//	! exit N   the program exited with code N
//
// Recordings are in testdata/streams; TestRealRecord makes them from real agents. For each there is
// a golden file with the events of its engine.
const (
	recordings      = "testdata/streams"
	recordingSuffix = ".rec"
	goldenSuffix    = ".golden"
)

// The directories in recordings.
const (
	recordedHome = "/home/dev"
	recordedDir  = recordedHome + "/project"
)

// The environment of programs that record and play back.
const (
	recordingFile   = "AGENT_TEST_RECORDING"
	recordedProgram = "AGENT_TEST_PROGRAM"    // the program to record
	playbackDir     = "AGENT_TEST_DIR"        // the engine's working directory
	cancelURL       = "AGENT_TEST_CANCEL_URL" // a request to it cancels the turn
)

// A scene is a turn that is recorded with several agents.
type scene struct {
	name, prompt string
	agents       string // only agents whose names contain one of these words; "" is all
	asks         bool   // the agent is configured to request permission
	refuses      bool   // permission is denied
	cancelled    bool   // the turn is cancelled during its reply
	retries      bool   // the agent retries, and is cancelled after some time
	unreachable  bool   // the API refuses connections
}

// recordedScenes are all scenes. Errors of the API are not recorded with OpenCode, which retries
// without printing anything.
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

// runRecorded runs a program and records its communication. It returns the program's exit code.
func runRecorded() int {
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
	signals := make(chan os.Signal, 8) // sent to the group, so the program has received them, too
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			note('!', signalName(s))
		}
	}()
	cmd := exec.Command(os.Getenv(recordedProgram), os.Args[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "AGENT_TEST_ROLE="), os.Stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		copyLines(os.Stdin, stdin, func(line string) { note('>', line) })
		stdin.Close()
	}()
	copyLines(stdout, os.Stdout, func(line string) { note('<', line) })
	_ = cmd.Wait()
	note('!', fmt.Sprintf("exit %d", cmd.ProcessState.ExitCode()))
	return cmd.ProcessState.ExitCode()
}

func signalName(s os.Signal) string {
	return map[os.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[s]
}

// copyLines copies lines. Each is noted before it is copied, and so before the response to it.
func copyLines(from io.Reader, to io.Writer, note func(line string)) {
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

// runPlayback plays a recording back as the agent's program. It returns 1 if the input differs from
// that of the recording.
func runPlayback() int {
	randomID := regexp.MustCompile(`,"uuid":"[^"]*"`) // of a message to Claude Code

	content, err := os.ReadFile(os.Getenv(recordingFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	input := bufio.NewReader(os.Stdin)
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		mark, text, _ := strings.Cut(line, " ")
		switch mark {
		case "<":
			fmt.Println(text)
		case ">":
			if slices.ContainsFunc([]string{
				`"method":"session/cancel"`, `"method":"turn/interrupt"`, `"subtype":"interrupt"`,
			}, func(cancel string) bool { return strings.Contains(text, cancel) }) {
				requestCancel()
			}
			got, _ := input.ReadString('\n')
			got = strings.ReplaceAll(strings.TrimSuffix(got, "\n"), os.Getenv(playbackDir), recordedDir)
			if randomID.ReplaceAllString(got, "") != randomID.ReplaceAllString(text, "") {
				fmt.Fprintf(os.Stderr, "the input is\n%s\nwant\n%s\n", got, text)
				return 1
			}
		case "!":
			var code int
			if n, _ := fmt.Sscanf(text, "exit %d", &code); n == 1 {
				return code
			}
			requestCancel()
			if text == "SIGKILL" {
				select {}
			}
			if got := signalName(<-signals); got != text {
				fmt.Fprintf(os.Stderr, "received %s, want %s\n", got, text)
				return 1
			}
		}
	}
	_, _ = io.Copy(io.Discard, input) // a server exits at the end of its input
	return 0
}

// requestCancel makes the test cancel the turn: everything before that was played back.
func requestCancel() {
	if response, err := http.Get(os.Getenv(cancelURL)); err == nil {
		response.Body.Close()
	}
}
