//go:build unix

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// gemini has no timeouts; those of abruptGemini are over at once.
var gemini, abruptGemini = func() (gemini, abruptGemini agent.CLI) {
	gemini, abruptGemini = agent.Gemini(), agent.Gemini()
	gemini.Grace, gemini.Linger = never, never
	abruptGemini.Grace, abruptGemini.Linger = time.Millisecond, time.Millisecond
	return gemini, abruptGemini
}()

// Shell commands that print lines of Gemini CLI.
const (
	printHi     = `echo '{"type":"message","role":"assistant","content":"hi"}'; `
	printDone   = `echo '{"type":"result","status":"success"}'; `
	printFailed = `echo '{"type":"result","status":"error","error":{"message":"API Error: 400 out of luck"}}'; `
	printRetry  = `echo '{"type":"error","message":"unknown"}'; `
)

// scriptedCLI returns a turn whose agent is a shell script that takes any arguments.
func scriptedCLI(t *testing.T, text string) agent.Turn {
	turn := self(t, "script")
	turn.Member.Env["AGENT_TEST_SCRIPT"] = text
	return turn
}

func TestCLIPromptIsOnStdinOnly(t *testing.T) {
	turn := scriptedCLI(t, `cat > prompt; printf '%s\n' "$@" > args; `+printHi+printDone)
	turn.Prompt = "Build a shelf.\xff\nToday. " + strings.Repeat("x", 2<<20)
	if got := mustReply(t, gemini, turn); got != "hi" {
		t.Errorf("the reply is %q", got)
	}
	received, err := os.ReadFile(filepath.Join(turn.Dir, "prompt"))
	if want := strings.ToValidUTF8(turn.Prompt, "\uFFFD"); err != nil || string(received) != want {
		t.Errorf("the agent received %d bytes, want %d, %v", len(received), len(want), err)
	}
	args, err := os.ReadFile(filepath.Join(turn.Dir, "args"))
	if err != nil || strings.Contains(string(args), "shelf") || !strings.Contains(string(args), "stream-json") {
		t.Errorf("the arguments are %q, %v", args, err)
	}
}

func TestCLITurnErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text     string
		reason, remedy string // of the failure
	}{
		{"done", printHi + printDone, "", ""},
		{"done, with exit code 3", printHi + printDone + `exit 3`, "", ""},
		{"done, without newline", printHi + `printf %s '{"type":"result","status":"success"}'`, "", ""},
		{"failed, with exit code 0", printHi + printFailed, "API Error: 400 out of luck", "/retry"},
		{"last result counts", printHi + printFailed + printDone, "", ""},
		{"other output", `echo warning; ` + printHi + `echo '{}'; echo; ` + printDone + `echo bye`, "", ""},
		{"no final line", printHi, "it exited with code 0 before its turn was finished", "run gemini directly"},
		{
			"no final line, and warning", printHi + printRetry,
			"before its turn was finished: unknown", "/retry",
		},
		{"torn final line", printHi + `printf '{"type":"result","sub'`, "printed “{", "engine"},
		{
			"garbage", printHi + `echo 'Hello, my friend!'`,
			"it exited with code 0 before its turn was finished, and printed “Hello, my friend!”",
			`set the member's "engine" to "command"`,
		},
		{
			"usage text", printHi + `echo 'error: unknown option --verbose' >&2; exit 1`,
			"it exited with code 1 before its turn was finished: error: unknown option --verbose",
			"npm install -g @google/gemini-cli",
		},
		{"no login", printHi + `echo 'Invalid API key · Please run /login' >&2; exit 1`, "Invalid API key", "/login"},
		{
			"too many requests",
			printHi + `echo '{"type":"result","error":{"message":"API Error: 429 rate limit"}}'`, "429",
			"wait a while",
		},
		{
			"unknown model",
			printHi + `echo '{"type":"result","error":{"message":"404 not_found_error: model: x"}}'`, "404",
			`"model"`,
		},
		{"no message", printHi + `exit 4`, "it exited with code 4 before its turn was finished", "directly"},
		{"signal", printHi + `kill -KILL $$`, "it was ended by signal: killed", "directly"},
		{
			"runs as root", printHi + `echo 'cannot be used with root/sudo privileges' >&2; exit 1`, "root",
			`"permissions"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replied, err := reply(within(t), gemini, scriptedCLI(t, tt.text))
			if replied != "hi" {
				t.Errorf("the reply is %q", replied)
			}
			if tt.reason == "" {
				if err != nil {
					t.Errorf("the turn failed: %v", err)
				}
				return
			}
			failure, ok := errors.AsType[*agent.FailureError](err)
			if !ok || failure.Agent != "Gemini CLI" || !strings.Contains(failure.Reason, tt.reason) ||
				!strings.Contains(withHint(failure), tt.remedy) {
				t.Errorf("got %v, want %q and %q", err, tt.reason, tt.remedy)
			}
		})
	}
}

func TestCLIStartsNothing(t *testing.T) {
	turn := scriptedCLI(t, `echo hi > ran`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if _, err := reply(ctx, gemini, turn); !errors.Is(err, errCancelled) {
		t.Errorf("of a cancelled turn: got %v", err)
	}
	turn.Member.Permissions = "yolo"
	if _, err := reply(within(t), gemini, turn); err == nil || !strings.Contains(err.Error(), `invalid permissions "yolo"`) {
		t.Errorf("with invalid permissions: got %v", err)
	}
	if _, err := os.Stat(filepath.Join(turn.Dir, "ran")); err == nil {
		t.Error("the agent ran")
	}
}

func TestCLIEvents(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{}'; echo rubbish; ` + printRetry + printHi + printDone:                        "agent.Alive agent.Retry agent.Text agent.Usage",
		`printf '\033]0;title\007'; ` + printHi + `printf '\357\273\277note: '; ` + printDone: "agent.Text agent.Usage",
		`{ printf '{"type":"mess'; ` + printHi + printDone + `} | tr -d '\n'`:                 "agent.Text agent.Usage",
	} {
		var got []string
		for event, err := range gemini.Run(within(t), scriptedCLI(t, script)) {
			if err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			got = append(got, fmt.Sprintf("%T", event))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %s", script, got, want)
		}
	}
}

// An event after the loop was left would panic.
func TestLoopCanBeLeftAtAnyEvent(t *testing.T) {
	on := true
	thinking := scriptedCLI(t, printHi+`sleep 300`)
	thinking.Member.Thinking = &on
	other := script(t, `echo hi > ran`)
	other.Member.Thinking = &on
	for name, events := range map[string]iter.Seq2[agent.Event, error]{
		"retry":                abruptGemini.Run(within(t), scriptedCLI(t, printRetry+printHi+`sleep 300`)),
		"sign of life":         abruptGemini.Run(within(t), scriptedCLI(t, `echo '{}'; `+printHi+`sleep 300`)),
		"unsupported":          abruptGemini.Run(within(t), thinking),
		"unsupported, command": graceful.Run(within(t), other),
	} {
		for event, err := range events {
			if event == nil {
				t.Errorf("%s: got %v", name, err)
			}
			break
		}
	}
	if _, err := os.Stat(filepath.Join(other.Dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

func TestCLILineLimit(t *testing.T) {
	turn := scriptedCLI(t, printHi+`printf '{"type":"message","content":"'; `+
		`head -c 100000000 /dev/zero | tr '\0' x; sleep 300`)
	replied, err := reply(within(t), abruptGemini, turn)
	failure, ok := errors.AsType[*agent.FailureError](err)
	if !ok || replied != "hi" || !strings.Contains(failure.Reason, "a line of more than 33554432 bytes") {
		t.Errorf("replied %q, then %v", replied, err)
	}
}

func TestCLIHintInstallsMissingAgent(t *testing.T) {
	for _, tt := range []struct{ command, reason string }{
		{"", "npm install -g @google/gemini-cli"},
		{"no-such-agent", "command -v no-such-agent"},
	} {
		turn := scriptedCLI(t, "")
		turn.Member.Command, turn.Member.Env["PATH"] = tt.command, t.TempDir()
		_, err := reply(within(t), gemini, turn)
		if _, ok := errors.AsType[*process.StartError](err); !ok || !strings.Contains(withHint(err), tt.reason) {
			t.Errorf("got %v, want %q", err, tt.reason)
		}
	}
}

func TestCLIStopsAgentAfterLinger(t *testing.T) {
	for name, text := range map[string]string{
		"silent":    `echo $$ > pid; ` + printHi + printDone + `sleep 300`,
		"printing":  `echo $$ > pid; ` + printHi + printDone + `while :; do echo '{}'; done`,
		"no output": `echo $$ > pid; ` + printHi + printDone + `exec >/dev/null 2>&1; sleep 300`,
	} {
		t.Run(name, func(t *testing.T) {
			turn := scriptedCLI(t, text)
			if got := mustReply(t, abruptGemini, turn); got != "hi" {
				t.Errorf("the reply is %q", got)
			}
			wantEnded(t, pidsIn(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
		})
	}
}

func TestCLIInterruptPrecedesTermination(t *testing.T) {
	for _, tt := range []struct {
		name, text, signal string
		engine             agent.CLI
	}{
		{"ends at SIGINT", `trap 'echo INT > end; exit 0' INT; trap 'echo TERM > end; exit 1' TERM; `, "INT\n", gemini},
		{
			"ends at SIGTERM", `trap '' INT; trap 'echo TERM > end; exit 0' TERM; `, "TERM\n",
			func() agent.CLI { c := gemini; c.Grace = time.Second; return c }(),
		},
		{"ends at SIGKILL", `trap '' INT TERM; echo KILL > end; `, "KILL\n", abruptGemini},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := scriptedCLI(t, tt.text+printHi+`while :; do sleep 0.01; done`)
			if replied := cancelAfterFirst(t, tt.engine, turn); replied != "hi" {
				t.Errorf("the reply is %q", replied)
			}
			if end, err := os.ReadFile(filepath.Join(turn.Dir, "end")); err != nil || string(end) != tt.signal {
				t.Errorf("it was ended by %q, %v", end, err)
			}
		})
	}
}

func TestCLIStopOverridesVerdict(t *testing.T) {
	turn := scriptedCLI(t, `trap 'printf "%s\n" "{\"type\":\"result\",\"status\":\"success\"}"; exit 0' INT; `+
		printHi+`while :; do sleep 0.01; done`)
	cancelAfterFirst(t, gemini, turn) // checks the error
}

func TestCLIStopErrorHasLastWarning(t *testing.T) {
	enough := errors.New("it took too long")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn := scriptedCLI(t, printRetry+printHi+`sleep 300`)
	var last error
	for _, err := range abruptGemini.Run(ctx, turn) {
		last = err
		cancel(enough)
	}
	want := "turn stopped: it took too long; last warning of Gemini CLI: unknown"
	if !errors.Is(last, enough) || fmt.Sprint(last) != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

func TestCLILeavingLoopEndsAgent(t *testing.T) {
	turn := scriptedCLI(t, `echo $$ > pid; `+printHi+`sleep 300`)
	for _, err := range abruptGemini.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	wantEnded(t, pidsIn(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
}
