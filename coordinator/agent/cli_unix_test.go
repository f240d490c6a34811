//go:build unix

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// claude is the engine with all the time that a test has, hasty the one without any.
var claude, hasty = func() (claude, hasty agent.CLI) {
	claude, hasty = agent.Claude(), agent.Claude()
	claude.Grace, claude.Linger = 2*patience, 2*patience
	hasty.Grace, hasty.Linger = time.Millisecond, time.Millisecond
	return claude, hasty
}()

// What a script prints to say something, and to say how its turn ended.
const (
	saysHi  = `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}'; `
	done    = `echo '{"type":"result","subtype":"success"}'; `
	failing = `echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 out of luck"}'; `
	retries = `echo '{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"error":"unknown"}'; `
)

// acts is a turn whose agent is a script that takes any arguments.
func acts(t *testing.T, text string) agent.Turn {
	turn := self(t, "script")
	turn.Member.Env["AGENT_TEST_SCRIPT"] = text
	return turn
}

func TestAnAgentThatTellsItsTurnHearsThePromptOnStandardInputAlone(t *testing.T) {
	turn := acts(t, `cat > heard; printf '%s\n' "$@" > args; `+saysHi+done)
	turn.Prompt = "Build a shelf.\xff\nToday. " + strings.Repeat("x", huge)
	if got := mustReply(t, claude, turn); got != "hi" {
		t.Errorf("the reply is %q", got)
	}
	heard, err := os.ReadFile(filepath.Join(turn.Dir, "heard"))
	if want := strings.ToValidUTF8(turn.Prompt, "\uFFFD"); err != nil || string(heard) != want {
		t.Errorf("it heard %d bytes, want %d, %v", len(heard), len(want), err)
	}
	args, err := os.ReadFile(filepath.Join(turn.Dir, "args"))
	if err != nil || strings.Contains(string(args), "shelf") || !strings.Contains(string(args), "stream-json") {
		t.Errorf("the arguments are %q, %v", args, err)
	}
}

func TestATurnEndsAsTheAgentsFinalLineSays(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		says, help string // of the failure
	}{
		{"done", saysHi + done, "", ""},
		{"done, with an exit code", saysHi + done + `exit 3`, "", ""},
		{"done, without a line break", saysHi + `printf %s '{"type":"result","subtype":"success"}'`, "", ""},
		{"failed, with exit code 0", saysHi + failing, "API Error: 400 out of luck", "/retry"},
		{"the last word counts", saysHi + failing + done, "", ""},
		{"chatter around it", `echo warning; ` + saysHi + `echo '{}'; echo; ` + done + `echo bye`, "", ""},
		{"no final line", saysHi, "it exited with code 0 before its turn was finished", "run claude directly"},
		{"no final line, and trouble", saysHi + retries, "before its turn was finished: try 3 of 10 failed: unknown", "/retry"},
		{"half a final line", saysHi + `printf '{"type":"result","sub'`, "printed “{", "engine"},
		{"garbage", saysHi + `echo 'Hello, my friend!'`, "it exited with code 0 before its turn was finished, and printed “Hello, my friend!”", `set the member's "engine" to "command"`},
		{"a usage text", saysHi + `echo 'error: unknown option --verbose' >&2; exit 1`, "it exited with code 1 before its turn was finished: error: unknown option --verbose", "npm install -g @anthropic-ai/claude-code"},
		{"no login", saysHi + `echo 'Invalid API key · Please run /login' >&2; exit 1`, "Invalid API key", "/login"},
		{"too many requests", saysHi + `echo '{"type":"result","is_error":true,"result":"API Error: 429 rate limit"}'`, "429", "wait a while"},
		{"no such model", saysHi + `echo '{"type":"result","is_error":true,"result":"404 not_found_error: model: x"}'`, "404", `"model"`},
		{"silence", saysHi + `exit 4`, "it exited with code 4 before its turn was finished", "directly"},
		{"a signal", saysHi + `kill -KILL $$`, "it was ended by signal: killed", "directly"},
		{"too much power", saysHi + `echo 'cannot be used with root/sudo privileges' >&2; exit 1`, "root", `"permissions"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said, err := reply(within(t), claude, acts(t, tt.text))
			if said != "hi" {
				t.Errorf("it said %q", said)
			}
			if tt.says == "" {
				if err != nil {
					t.Errorf("the turn failed: %v", err)
				}
				return
			}
			failure, ok := errors.AsType[*agent.FailureError](err)
			if !ok || failure.Agent != "Claude Code" || !strings.Contains(failure.Reason, tt.says) || !strings.Contains(withHint(failure), tt.help) {
				t.Errorf("got %v, want %q and %q", err, tt.says, tt.help)
			}
		})
	}
}

func TestALineLongerThanAnySessionHoldsEndsTheTurn(t *testing.T) {
	turn := acts(t, saysHi+`printf '{"type":"assistant","message":{"content":"'; head -c 100000000 /dev/zero | tr '\0' x; sleep 300`)
	said, err := reply(within(t), hasty, turn)
	failure, ok := errors.AsType[*agent.FailureError](err)
	if !ok || said != "hi" || !strings.Contains(failure.Reason, "a line of more than 67108864 bytes") {
		t.Errorf("said %q, then %v", said, err)
	}
}

func TestAnAgentThatIsNotThereSaysHowToInstallIt(t *testing.T) {
	for _, tt := range []struct{ command, says string }{
		{"", "npm install -g @anthropic-ai/claude-code"},
		{"no-such-agent", "command -v no-such-agent"},
	} {
		turn := acts(t, "")
		turn.Member.Command, turn.Member.Env["PATH"] = tt.command, t.TempDir()
		_, err := reply(within(t), claude, turn)
		if _, ok := errors.AsType[*process.StartError](err); !ok || !strings.Contains(withHint(err), tt.says) {
			t.Errorf("got %v, want %q", err, tt.says)
		}
	}
}

func TestAnAgentThatGoesOnBehindItsFinalLineIsStopped(t *testing.T) {
	for name, text := range map[string]string{
		"silent":     `echo $$ > pid; ` + saysHi + done + `sleep 300`,
		"talkative":  `echo $$ > pid; ` + saysHi + done + `while :; do echo '{}'; done`,
		"no outputs": `echo $$ > pid; ` + saysHi + done + `exec >/dev/null 2>&1; sleep 300`,
	} {
		t.Run(name, func(t *testing.T) {
			turn := acts(t, text)
			if got := mustReply(t, hasty, turn); got != "hi" {
				t.Errorf("the reply is %q", got)
			}
			wantGone(t, numbers(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
		})
	}
}

func TestAnAgentIsInterruptedBeforeItIsTerminated(t *testing.T) {
	for _, tt := range []struct {
		name, text, signal string
		engine             agent.CLI
	}{
		{"ends at SIGINT", `trap 'echo INT > end; exit 0' INT; trap 'echo TERM > end; exit 1' TERM; `, "INT\n", claude},
		{"ends at SIGTERM", `trap '' INT; trap 'echo TERM > end; exit 0' TERM; `, "TERM\n", func() agent.CLI { c := claude; c.Grace = time.Second; return c }()},
		{"ends at SIGKILL", `trap '' INT TERM; echo KILL > end; `, "KILL\n", hasty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := acts(t, tt.text+saysHi+`while :; do sleep 0.01; done`)
			if said := cancelAfterFirst(t, tt.engine, turn); said != "hi" {
				t.Errorf("it said %q", said)
			}
			if end, err := os.ReadFile(filepath.Join(turn.Dir, "end")); err != nil || string(end) != tt.signal {
				t.Errorf("it ended by %q, %v", end, err)
			}
		})
	}
}

func TestAStoppedAgentIsNotAskedHowItsTurnEnded(t *testing.T) {
	turn := acts(t, `trap 'printf "%s\n" "{\"type\":\"result\",\"subtype\":\"success\"}"; exit 0' INT; `+saysHi+`while :; do sleep 0.01; done`)
	cancelAfterFirst(t, claude, turn) // which checks the error
}

func TestATurnThatTakesTooLongSaysWhatWasInTheWay(t *testing.T) {
	enough := errors.New("it took too long")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn := acts(t, retries+saysHi+`sleep 300`)
	var last error
	for _, err := range hasty.Run(ctx, turn) {
		last = err
		cancel(enough)
	}
	if want := "turn stopped: it took too long; last warning of Claude Code: try 3 of 10 failed: unknown (status 0)"; !errors.Is(last, enough) || fmt.Sprint(last) != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

func TestLeavingTheLoopEndsAnAgentThatTellsItsTurn(t *testing.T) {
	turn := acts(t, `echo $$ > pid; `+saysHi+`sleep 300`)
	for _, err := range hasty.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	wantGone(t, numbers(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
}
