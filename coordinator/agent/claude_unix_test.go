//go:build unix

package agent_test

import (
	"context"
	"encoding/json"
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

// claude has no timeouts; those of abruptClaude are over at once.
var (
	claude       = agent.Claude{Grace: never, Start: never}
	abruptClaude = agent.Claude{Grace: time.Millisecond, Start: never}
)

// scriptedCLI returns a turn whose agent is a shell script that takes any arguments.
func scriptedCLI(t *testing.T, text string) agent.Turn {
	turn := self(t, "script")
	turn.Member.Env["AGENT_TEST_SCRIPT"] = text
	return turn
}

// Shell commands of a program that speaks as Claude Code does.
const (
	claudeStart = `read -r request; echo '{"type":"control_response","response":{"subtype":"success",` +
		`"request_id":"1","response":{}}}'; read -r prompt; `
	claudeHi     = `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}'; `
	claudeDone   = `echo '{"type":"result","subtype":"success"}'; `
	claudeFailed = `echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 out of luck"}'; `
	claudeRetry  = `echo '{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"error":"unknown"}'; `
)

func TestClaudeTurnErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text     string
		reply          string
		reason, remedy string // of the failure
	}{
		{"done", claudeStart + claudeHi + claudeDone, "hi", "", ""},
		{"done, without newline", claudeStart + claudeHi + `printf %s '{"type":"result","subtype":"success"}'`, "hi", "", ""},
		{"done, and the program stays", claudeStart + claudeHi + claudeDone + `cat > rest`, "hi", "", ""},
		{"failed", claudeStart + claudeHi + claudeFailed + `cat > rest`, "hi", "API Error: 400 out of luck", "/retry"},
		{
			"other output",
			`echo warning; ` + claudeStart + `echo warning; ` + claudeHi + `echo '{}'; echo; ` + claudeDone, "hi", "", "",
		},
		{
			"no final line", claudeStart + claudeHi, "hi",
			"it exited with code 0 before its turn was finished", "run claude directly",
		},
		{
			"no final line, and warning", claudeStart + claudeHi + claudeRetry, "hi",
			"before its turn was finished: try 3 of 10 failed: unknown", "/retry",
		},
		{"garbage", `echo 'Hello, my friend!'`, "", "printed “Hello, my friend!”", `set the member's "engine" to "command"`},
		{
			"usage text", `echo "error: unknown option '--verbose'" >&2; exit 1`, "",
			"it exited with code 1 before its turn was finished: error: unknown option", "npm install -g @anthropic-ai/claude-code",
		},
		{"no login", `echo 'Invalid API key · Please run /login' >&2; exit 1`, "", "Invalid API key", "/login"},
		{"fails at its start", `echo '{"type":"result","is_error":true,"errors":["Oops."]}'; exit 1`, "", "Oops.", "/retry"},
		{"signal", claudeStart + claudeHi + `kill -KILL $$`, "hi", "it was ended by signal: killed", "directly"},
		{"runs as root", `echo 'cannot be used with root/sudo privileges' >&2; exit 1`, "", "root", `"permissions"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replied, err := reply(within(t), claude, scriptedCLI(t, tt.text))
			if replied != tt.reply {
				t.Errorf("the reply is %q", replied)
			}
			if tt.reason == "" {
				if err != nil {
					t.Errorf("the turn failed: %v", err)
				}
				return
			}
			failure, ok := errors.AsType[*agent.FailureError](err)
			if !ok || failure.Agent != "Claude Code" || !strings.Contains(failure.Reason, tt.reason) ||
				!strings.Contains(withHint(failure), tt.remedy) {
				t.Errorf("got %v, want %q and %q", err, tt.reason, tt.remedy)
			}
		})
	}
}

// The prompt is no argument, which other users can read, and no command of the agent.
func TestClaudePromptIsTextOnStdinOnly(t *testing.T) {
	for prompt, want := range map[string]string{
		"Build a shelf.\xff\nToday.": "Build a shelf.\uFFFD\nToday.",
		"/compact the shelf":         " /compact the shelf",
	} {
		turn := scriptedCLI(t, claudeStart+`printf '%s\n' "$prompt" > prompt; printf '%s\n' "$@" > args; `+claudeHi+claudeDone)
		turn.Prompt = prompt
		mustReply(t, claude, turn)
		var sent struct{ Message struct{ Content string } }
		received, err := os.ReadFile(filepath.Join(turn.Dir, "prompt"))
		if err2 := json.Unmarshal(received, &sent); sent.Message.Content != want {
			t.Errorf("the agent received %q, %v, %v", received, err, err2)
		}
		args, err := os.ReadFile(filepath.Join(turn.Dir, "args"))
		if err != nil || strings.Contains(string(args), "shelf") || !strings.Contains(string(args), "--session-id=") {
			t.Errorf("the arguments are %q, %v", args, err)
		}
	}
}

func TestClaudeStartsNothing(t *testing.T) {
	turn := scriptedCLI(t, `echo hi > ran`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if _, err := reply(ctx, claude, turn); !errors.Is(err, errCancelled) {
		t.Errorf("of a cancelled turn: got %v", err)
	}
	for _, id := range []string{"", "my title", "--help", "../x", "12345678-1234-1234-1234-123456789abc; x"} {
		for _, way := range []agent.Way{agent.Resume, agent.Fork} {
			if _, err := claude.Open(within(t), turn, agent.Origin{Way: way, ID: id}); !errors.Is(err, agent.ErrGone) {
				t.Errorf("with the id %q: got %v", id, err)
			}
		}
	}
	turn.Member.Permissions = "yolo"
	if _, err := reply(within(t), claude, turn); err == nil || !strings.Contains(err.Error(), `invalid permissions "yolo"`) {
		t.Errorf("with invalid permissions: got %v", err)
	}
	if _, err := os.Stat(filepath.Join(turn.Dir, "ran")); err == nil {
		t.Error("the agent ran")
	}
}

func TestClaudeLineLimit(t *testing.T) {
	turn := scriptedCLI(t, claudeStart+claudeHi+`printf '{"type":"assistant","message":{"content":"'; `+
		`head -c 100000000 /dev/zero | tr '\0' x; sleep 300`)
	replied, err := reply(within(t), abruptClaude, turn)
	failure, ok := errors.AsType[*agent.FailureError](err)
	if !ok || replied != "hi" || !strings.Contains(failure.Reason, "a line of more than 33554432 bytes") {
		t.Errorf("replied %q, then %v", replied, err)
	}
}

func TestClaudeMustAnswerAtItsStart(t *testing.T) {
	for text, want := range map[string]string{
		`sleep 300`:                     "it does not answer in its protocol",
		`echo 'What is it?'; sleep 300`: "it does not answer in its protocol, and printed “What is it?”",
	} {
		e := agent.Claude{Grace: time.Millisecond, Start: 500 * time.Millisecond}
		if _, err := reply(within(t), e, scriptedCLI(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestClaudeStopErrorHasLastWarning(t *testing.T) {
	enough := errors.New("it took too long")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for _, err := range abruptClaude.Run(ctx, scriptedCLI(t, claudeStart+claudeRetry+`sleep 300`)) {
		last = err
		cancel(enough)
	}
	want := "turn stopped: it took too long; last warning of Claude Code: try 3 of 10 failed: unknown"
	if !errors.Is(last, enough) || fmt.Sprint(last) != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

func TestClaudeHintInstallsMissingAgent(t *testing.T) {
	turn := scriptedCLI(t, "")
	turn.Member.Command, turn.Member.Env["PATH"] = "", t.TempDir()
	_, err := reply(within(t), claude, turn)
	if _, ok := errors.AsType[*process.StartError](err); !ok || !strings.Contains(withHint(err), "npm install -g @anthropic-ai/") {
		t.Errorf("got %v", err)
	}
}

func TestLeavingLoopEndsClaude(t *testing.T) {
	turn := scriptedCLI(t, `echo $$ > pid; `+claudeStart+claudeHi+`sleep 300`)
	for _, err := range abruptClaude.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	wantEnded(t, pidsIn(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
}
