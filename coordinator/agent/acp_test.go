package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// newACP returns an engine without timeouts.
func newACP(t *testing.T) *agent.ACP {
	e := &agent.ACP{Grace: never, Start: never}
	t.Cleanup(e.Close)
	return e
}

// withHint returns the error with its hint as a user types it.
func withHint(err error) string {
	h, _ := hint.Of(err)
	if h.Kind == hint.Slash {
		return err.Error() + "\n/" + hint.Join(h.Argv)
	}
	return err.Error() + "\n" + hint.Join(h.Argv)
}

// acpTurn returns a turn of the agent that follows instructions in the prompt.
func acpTurn(t *testing.T, prompt string, habits ...agenttest.Habit) agent.Turn {
	id := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return agent.Turn{ID: id, Dir: t.TempDir(), Prompt: prompt, Member: agenttest.Member(habits...)}
}

// nextTurn returns the turn with another prompt and id.
func nextTurn(turn agent.Turn, prompt string) agent.Turn {
	turn.ID += "-again"
	turn.Prompt = prompt
	return turn
}

// allEvents returns the events of a turn, formatted, without Alive and with adjacent texts joined.
func allEvents(ctx context.Context, e agent.Engine, turn agent.Turn) (got []string, err error) {
	text := ""
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			return append(got, text), err
		}
		if piece, ok := event.(agent.Text); ok {
			text += piece.Text
			continue
		}
		if event == (agent.Alive{}) {
			continue
		}
		if text != "" {
			got, text = append(got, text), ""
		}
		switch event := event.(type) {
		case agent.ToolStarted:
			got = append(got, fmt.Sprintf("%T {ID:%s Name:%s Input:%s}", event, event.ID, event.Name, event.Input))
		case agent.ToolCompleted:
			got = append(got, fmt.Sprintf("%T {ID:%s Name:%s Output:%s Error:%s}", event,
				event.ID, event.Name, event.Output, event.Error))
		case agent.Usage:
			cost := "unknown"
			if event.Cost != nil {
				cost = fmt.Sprintf("%g %s", event.Cost.Amount, event.Cost.Currency)
			}
			line := fmt.Sprintf("%T %d+%d+%d %d+%d, cost %s", event,
				event.Input, event.CachedRead, event.CachedWrite, event.Output, event.Thought, cost)
			if event.Window > 0 {
				line += fmt.Sprintf(", context %d of %d", event.Context, event.Window)
			}
			got = append(got, line)
		default:
			got = append(got, fmt.Sprintf("%T %+v", event, event))
		}
	}
	if text != "" {
		got = append(got, text)
	}
	return got, nil
}

func TestACPYieldsEvents(t *testing.T) {
	got, err := allEvents(within(t), newACP(t), acpTurn(t, "say Build a shelf. [NEXT: bob]"))
	want := "agent.SessionStarted {ID:session-1}\nBuild a shelf. [NEXT: bob]\nagent.Usage 10+2+0 5+0, cost unknown"
	if got := strings.Join(got, "\n"); err != nil || got != want {
		t.Errorf("got\n%s\nand %v, want\n%s", got, err, want)
	}
}

// With some agents the tokens of the reply include those of thoughts. The total shows which.
func TestACPSeparatesTokensOfThoughts(t *testing.T) {
	for total, want := range map[int]string{14: "2+3+4 4+1", 15: "2+3+4 5+1", 0: "2+3+4 4+1"} {
		turn := acpTurn(t, fmt.Sprintf(`usage {"inputTokens": 2, "cachedReadTokens": 3, "cachedWriteTokens": 4, `+
			`"outputTokens": 5, "thoughtTokens": 1, "totalTokens": %d}`, total))
		got, err := allEvents(within(t), newACP(t), turn)
		want = "agent.SessionStarted {ID:session-1}\nHello.\nagent.Usage " + want + ", cost unknown"
		if got := strings.Join(got, "\n"); err != nil || got != want {
			t.Errorf("total %d: got\n%s\nand %v, want\n%s", total, got, err, want)
		}
	}
}

// location is the reply to the instruction "where".
type location struct{ session, dir, process, model string }

func where(t *testing.T, e agent.Engine, turn agent.Turn) location {
	t.Helper()
	fields := strings.Fields(mustReply(t, e, turn) + " -")
	return location{fields[0], fields[1], fields[2], fields[3]}
}

func TestACPReusesProgramWithNewSessions(t *testing.T) {
	for _, habits := range [][]agenttest.Habit{nil, {agenttest.Unclosing}} {
		e, turn := newACP(t), acpTurn(t, "where", habits...)
		first, second := where(t, e, turn), where(t, e, nextTurn(turn, "where"))
		if first.process != second.process {
			t.Errorf("the processes are %s and %s", first.process, second.process)
		}
		if first.dir != turn.Dir || second.dir != turn.Dir {
			t.Errorf("the directories are %s and %s, want %s", first.dir, second.dir, turn.Dir)
		}
		// The agent numbers its open sessions.
		if closed := first.session == second.session; closed != (len(habits) == 0) {
			t.Errorf("%v: the sessions are %s and %s", habits, first.session, second.session)
		}
		e.Close()
		if third := where(t, e, nextTurn(turn, "where")); third.process == first.process {
			t.Error("the program was still running after Close")
		}
	}
}

func TestACPStartsOneProgramPerMember(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	other := nextTurn(turn, "where")
	other.Member.ID = "other"
	if a, b := where(t, e, turn), where(t, e, other); a.process == b.process {
		t.Errorf("they share process %s", a.process)
	}
}

func TestACPStartsProgramForOtherEnvironment(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	first, same := where(t, e, turn), where(t, e, nextTurn(turn, "where"))
	changed := nextTurn(turn, "where")
	changed.Member.Env = maps.Clone(turn.Member.Env)
	changed.Member.Env["AGENT_TEST_KEY"] = "new"
	if second := where(t, e, changed); first.process != same.process || first.process == second.process {
		t.Errorf("the processes are %s, %s and, with another key, %s", first.process, same.process, second.process)
	}
}

func TestACPRestartsExitedProgram(t *testing.T) {
	for _, prompt := range []string{"leave", "crash"} {
		e, turn := newACP(t), acpTurn(t, prompt)
		if replied, err := reply(within(t), e, turn); replied == "" || (prompt == "leave") != (err == nil) {
			t.Errorf("%s: the reply is %q, %v", prompt, replied, err)
		}
		if got := mustReply(t, e, nextTurn(turn, "say I am back.")); got != "I am back." {
			t.Errorf("%s: the next reply is %q", prompt, got)
		}
	}
}

func TestACPKeepsResultOfExitingProgram(t *testing.T) {
	for range 20 {
		if got := mustReply(t, newACP(t), acpTurn(t, "leave")); got != "Goodbye." {
			t.Fatalf("the reply is %q", got)
		}
	}
}

func TestACPTurnErrors(t *testing.T) {
	for _, tt := range []struct {
		name, prompt   string
		habits         []agenttest.Habit
		replied        string
		reason, remedy string // of the failure
	}{
		{"reply", "?", nil, "Hello.", "", ""},
		{"unknown messages", "blurt", nil, "Well.", "", ""},
		{"context full during reply", "stop max_tokens", nil, "Let me see.", "cut off", "longer reply"},
		{"context full before reply", "mute max_tokens", nil, "", "the prompt may be too long", "name a file"},
		{"request limit", "stop max_turn_requests", nil, "Let me see.", "limit of model requests", "/retry"},
		{"refusal", "stop refusal", nil, "Let me see.", "refuses", "other words"},
		{"unrequested cancellation", "stop cancelled", nil, "Let me see.", "not requested", "/retry"},
		{"unknown stop reason", "stop tired", nil, "Let me see.", "“tired”", "/retry"},
		{"error", "fail Internal error: API Error: 400 no credit", nil, "", "API Error: 400 no credit", "/retry"},
		{"error of the API", `fail {"error":{"code":400,"message":"no credit"}}`, nil, "", "no credit", "/retry"},
		{"too many requests", "fail 429 too many requests", nil, "", "429", "wait a while"},
		{"error is a string", `error "boom"`, nil, "", `"boom"`, "/retry"},
		{"empty error", `error {}`, nil, "", "{}", "/retry"},
		{"error code is a string", `error {"code":"E7","message":"no credit"}`, nil, "", "no credit", "/retry"},
		{"null error", `error null`, nil, "", "it stopped for the reason “”", "/retry"},
		{"unreadable request", "unread", nil, "", "Parse error", "/retry"},
		{
			"crash", "crash", nil, "Let me see.", "it exited with code 3 before its turn was finished: out of memory",
			"/retry",
		},
		{
			"rubbish with exit code 0", "?", []agenttest.Habit{agenttest.Rubbish}, "",
			"it exited with code 0 before its turn was finished, and printed “Welcome, my friend!”",
			`"engine" to "command"`,
		},
		{
			"no login", "?", []agenttest.Habit{agenttest.LoggedOut}, "", "it requires a login: Authentication required",
			"log in",
		},
		{"other protocol version", "?", []agenttest.Habit{agenttest.Older}, "", "version 0", ""},
		{"does not read", "flood requests 4", nil, "", "it does not read what it is sent", "/retry"},
		{"line too long", "line 70000000", nil, "", "a line of more than 33554432 bytes", "less"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := acpTurn(t, tt.prompt, tt.habits...)
			turn.Member.AgentType = "opencode"
			replied, err := reply(within(t), newACP(t), turn)
			if replied != tt.replied {
				t.Errorf("the reply is %q", replied)
			}
			failure, failed := errors.AsType[*agent.FailureError](err)
			switch {
			case (tt.reason == "") != (err == nil), err != nil && !failed:
				t.Errorf("got %v", err)
			case failed && (failure.Agent != "OpenCode" || !strings.Contains(failure.Reason, tt.reason) ||
				!strings.Contains(withHint(failure), tt.remedy)):
				t.Errorf("got %v, want %q and %q", err, tt.reason, tt.remedy)
			}
		})
	}
}

func TestACPKeepsBeginningOfOutput(t *testing.T) {
	var done *agent.ToolCompleted
	for event, err := range newACP(t).Run(within(t), acpTurn(t, "flood output 1")) {
		if err != nil {
			t.Fatal(err)
		}
		if event, ok := event.(agent.ToolCompleted); ok {
			done = &event
		}
	}
	if done == nil || len(done.Output) != 256<<10 || done.Omitted < 512<<10 ||
		!strings.HasPrefix(done.Output, "one word after another one") {
		t.Errorf("got %.200v", done)
	}
}

func TestACPAsksAtMostHundredQuestionsAtOnce(t *testing.T) {
	turn := acpTurn(t, "flood questions 1")
	var asking, most atomic.Int32
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		if n := asking.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer asking.Add(-1)
		<-ctx.Done()
		return agent.Refused
	}
	_, _ = reply(ctx, newACP(t), turn)
	if most.Load() > 100 {
		t.Errorf("%d questions were asked at once", most.Load())
	}
}

func TestACPInitializeTimeout(t *testing.T) {
	e := &agent.ACP{Grace: time.Millisecond, Start: time.Millisecond}
	_, err := reply(within(t), e, acpTurn(t, "?", agenttest.Mute))
	_, ok := errors.AsType[*agent.FailureError](err)
	if !ok || !strings.Contains(err.Error(), "does not answer in the Agent Client Protocol") ||
		!strings.Contains(err.Error(), "command") {
		t.Errorf("got %v", err)
	}
}

func TestACPHintInstallsMissingServer(t *testing.T) {
	for _, tt := range []struct{ agentType, reason string }{
		{"claude", "npm install -g @agentclientprotocol/claude-agent-acp"},
		{"claude-code", "claude-agent-acp"},
		{"codex", "npm install -g @agentclientprotocol/codex-acp"},
		{"gemini", "npm install -g @google/gemini-cli"},
		{"opencode", "npm install -g opencode-ai"},
		{"mine", "no command"},
	} {
		turn := acpTurn(t, "?")
		turn.Member.AgentType, turn.Member.Command = tt.agentType, ""
		turn.Member.Env = map[string]string{"PATH": t.TempDir()}
		_, err := reply(within(t), newACP(t), turn)
		if _, ok := errors.AsType[*process.StartError](err); !ok || !strings.Contains(withHint(err), tt.reason) {
			t.Errorf("%s: got %v, want %q", tt.agentType, err, tt.reason)
		}
	}
}

func TestACPSetsModelOfSession(t *testing.T) {
	for _, habit := range []agenttest.Habit{agenttest.Models, agenttest.ModelOption} {
		turn := acpTurn(t, "where", habit)
		turn.Member.Model = "opus"
		if got := where(t, newACP(t), turn).model; got != "opus" {
			t.Errorf("%s: the model is %q", habit, got)
		}
	}
	turn := acpTurn(t, "where")
	turn.Member.Model = "opus"
	_, err := reply(within(t), newACP(t), turn)
	if err == nil || !strings.Contains(err.Error(), `omit the member's "model"`) {
		t.Errorf("without a choice of models: got %v", err)
	}
}

func TestACPHugePromptsAndReplies(t *testing.T) {
	e := newACP(t)
	prompt := "count\n" + strings.Repeat("日本語🙂 and \"more\". ", 10<<20/24)
	turn := acpTurn(t, prompt)
	if got := mustReply(t, e, turn); got != strconv.Itoa(len(prompt)) {
		t.Errorf("the agent received %s bytes of %d", got, len(prompt))
	}
	long := 100 << 20
	if !sizetest.Full() {
		long = 10 << 20
	}
	total := 0
	for event, err := range e.Run(t.Context(), nextTurn(turn, "long "+strconv.Itoa(long))) {
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := event.(agent.Text); ok {
			total += len(text.Text)
		}
	}
	if total != long {
		t.Errorf("%d bytes were received", total)
	}
}

func TestACPPermissionIsDecidedByTurn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		permit func(context.Context, agent.Permission) agent.Grant
		want   string
	}{
		{"allowed", func(context.Context, agent.Permission) agent.Grant { return agent.AllowedOnce }, "selected this-time"},
		{"refused", func(context.Context, agent.Permission) agent.Grant { return agent.Refused }, "selected never"},
		{"allowed always", func(context.Context, agent.Permission) agent.Grant { return agent.AllowedAlways },
			"selected for-good"},
		{"no decision", nil, "selected never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var requested []agent.Permission
			turn := acpTurn(t, "ask rm -r /")
			if tt.permit != nil {
				turn.Permit = func(ctx context.Context, p agent.Permission) agent.Grant {
					requested = append(requested, p)
					return tt.permit(ctx, p)
				}
			}
			got, err := allEvents(within(t), newACP(t), turn)
			if err != nil || len(got) != 5 || !strings.Contains(got[1], `ToolStarted {ID:t1 Name:execute`) ||
				!strings.Contains(got[2], "ToolCompleted {ID:t1") || got[3] != tt.want {
				t.Errorf("got %q, %v", got, err)
			}
			if tt.permit != nil && (len(requested) != 1 || requested[0].Title != "rm -r /" ||
				requested[0].ToolID != "t1" || requested[0].Tool != "execute" || requested[0].Always == "") {
				t.Errorf("permission requested for %+v", requested)
			}
		})
	}
}

func TestACPPermissionHasTheEdit(t *testing.T) {
	turn := acpTurn(t, "edit main.go")
	var requested []agent.FileEdit
	turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
		requested = p.Edits
		return agent.AllowedOnce
	}
	got := mustReply(t, newACP(t), turn)
	want := []agent.FileEdit{{Path: "main.go", Old: "one\ntwo\nthree\n", New: "one\n2\nthree\n"}}
	if got != "selected this-time" || !slices.Equal(requested, want) {
		t.Errorf("permission requested for %+v; the reply is %q", requested, got)
	}
}

func TestACPPermissionCountsWhatIsTooLong(t *testing.T) {
	path := strings.Repeat("a", 300_000)
	turn := acpTurn(t, "edit "+path)
	var requested agent.Permission
	turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
		requested = p
		return agent.AllowedOnce
	}
	mustReply(t, newACP(t), turn)
	edit := len(path) + len("one\ntwo\nthree\n") + len("one\n2\nthree\n")
	if want := len("Edit "+path) - len(requested.Title) + edit; len(requested.Edits) > 0 || requested.Omitted != want {
		t.Errorf("%d bytes are omitted, want %d; %d edits are shown", requested.Omitted, want, len(requested.Edits))
	}
}

func TestACPPermissionOfOtherSessionIsDismissed(t *testing.T) {
	turn := acpTurn(t, "late rm -r /")
	turn.Permit = func(context.Context, agent.Permission) agent.Grant {
		t.Error("permission was requested")
		return agent.AllowedOnce
	}
	if got, err := allEvents(within(t), newACP(t), turn); err != nil || len(got) != 3 || got[1] != "cancelled " {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestACPPermissionEndsWithStoppedTurn(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "ask rm -r /")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn.Permit = func(requested context.Context, _ agent.Permission) agent.Grant {
		cancel(errCancelled)
		<-requested.Done()
		return agent.AllowedOnce // too late
	}
	replied, err := reply(ctx, e, turn)
	if !errors.Is(err, errCancelled) || replied != "cancelled " {
		t.Errorf("the reply is %q, %v", replied, err)
	}
	if got := mustReply(t, e, nextTurn(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestACPPermissionEndsWithBlockedConsumer(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "urge rm -r /")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	begun, ended := make(chan struct{}), make(chan struct{})
	turn.Permit = func(requested context.Context, _ agent.Permission) agent.Grant {
		close(begun)
		<-requested.Done()
		close(ended)
		return agent.Refused
	}
	var last error
	for event, err := range e.Run(ctx, turn) {
		last = err
		if event == (agent.Alive{}) {
			select {
			case <-begun: // a consumer that asks the user receives no events until the answer
				cancel(errCancelled)
				<-ended
			default:
			}
		}
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("the last error is %v", last)
	}
	if got := mustReply(t, e, nextTurn(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestACPReusesCancelledAgent(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	process := where(t, e, turn).process
	for _, prompt := range []string{"hang", "slow 100000"} {
		ctx, cancel := context.WithCancelCause(within(t))
		var last error
		for event, err := range e.Run(ctx, nextTurn(turn, prompt)) {
			last = err
			if _, ok := event.(agent.Text); ok {
				cancel(errCancelled)
			}
		}
		cancel(nil)
		if !errors.Is(last, errCancelled) {
			t.Errorf("%s: the last error is %v", prompt, last)
		}
	}
	if got := where(t, e, nextTurn(turn, "where")).process; (got == process) != findsDetached {
		t.Errorf("the process was %s and is %s", process, got)
	}
}

func TestACPLeavingLoopCancelsTurn(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "hang")
	for event, err := range e.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := event.(agent.Text); ok {
			break
		}
	}
	for range e.Run(within(t), nextTurn(turn, "hang")) {
		break // at once
	}
	if got := mustReply(t, e, nextTurn(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestACPCancelledTurnStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	turn := agent.Turn{Member: agent.Member{Command: "/nowhere"}}
	if _, err := reply(ctx, newACP(t), turn); !errors.Is(err, errCancelled) {
		t.Errorf("got %v", err)
	}
}

func TestACPStopsWhileProgramStarts(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(within(t), 10*time.Millisecond, errCancelled)
	defer cancel()
	if _, err := reply(ctx, newACP(t), acpTurn(t, "?", agenttest.Mute)); !errors.Is(err, errCancelled) {
		t.Errorf("got %v", err)
	}
}

func TestACPLeavingLoopBeforePromptKeepsProgram(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	first := where(t, e, turn)
	for range e.Run(within(t), nextTurn(turn, "hang")) {
		break
	}
	if got := where(t, e, nextTurn(turn, "where")); got != first { // also the session, so that of the left turn was closed
		t.Errorf("got %+v, want %+v", got, first)
	}
}

func TestACPStoppedTurnThatFinishesKeepsProgram(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	first := where(t, e, turn)
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range e.Run(ctx, nextTurn(turn, "whole Goodbye.")) {
		if _, ok := event.(agent.Text); ok {
			cancel(errCancelled)
		}
		last = err
	}
	if got := where(t, e, nextTurn(turn, "where")); !errors.Is(last, errCancelled) || (got == first) != findsDetached {
		t.Errorf("the last error is %v; got %+v, want %+v", last, got, first)
	}
}

func TestACPTurnWaitsForItsPermissions(t *testing.T) {
	turn := acpTurn(t, "abandon")
	var answered atomic.Bool
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		<-ctx.Done() // the turn has ended
		time.Sleep(10 * time.Millisecond)
		answered.Store(true)
		return agent.AllowedOnce
	}
	if got := mustReply(t, newACP(t), turn); got != "Hello." || !answered.Load() {
		t.Errorf("the reply is %q; the permission was answered: %t", got, answered.Load())
	}
}

func TestACPAsksHundredsOfQuestionsInTurn(t *testing.T) {
	turn := acpTurn(t, "repeat 101")
	turn.Permit = func(context.Context, agent.Permission) agent.Grant { return agent.AllowedOnce }
	if got := mustReply(t, newACP(t), turn); got != "selected this-time" {
		t.Errorf("the last answer is %q", got)
	}
}

func TestACPUpdatesAreSignsOfLife(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "scene")
	if err := os.WriteFile(scene, []byte(`{"update":{"sessionUpdate":"agent_thought_chunk","content":{"text":"hm"}}}
{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"hi"}}}
{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image"}}}
{"update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"ls"}}
{"update":{"sessionUpdate":"plan","entries":[{"content":"saw","status":"pending","priority":"high"}]}}
{"update":{"sessionUpdate":"usage_update","cost":{"amount":0.5,"currency":"USD"}}}
{"update":{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"again","willRetry":true}}}}}

{"update":{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}}
{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"no credit"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e, turn := newACP(t), acpTurn(t, "?")
	turn.Member.Env["AGENT_TEST_SCENE"] = scene
	for _, want := range []string{
		"{session-1} {} {} {hi} {[image]} {} {} {[{saw pending high}]} {} {again 0s 0 0} {10 2 0 5 0 0.5 USD unknown 0 0}",
		"{session-1} {} {} {10 2 0 5 0 unknown unknown 0 0} Fake failed: no credit; retry, or run " + turn.Member.Command +
			" directly to see more",
	} {
		var got []string
		for event, err := range e.Run(within(t), turn) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprint(event))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
}

func TestACPPromptLimits(t *testing.T) {
	for _, tt := range []struct {
		agentType string
		bytes     int
		excess    int
	}{
		{"codex", 1 << 20, 0},
		{"codex-acp", 1<<20 + 7, 7},
		{"gemini", 4<<20 - 64<<10, 0},
		{"gemini", 4<<20 - 64<<10 + 7, 7},
		{"claude", 10 << 20, 0},
		{"opencode", 10 << 20, 0},
		{"unknown", 10 << 20, 0},
	} {
		e, m := newACP(t), agent.Member{AgentType: tt.agentType, Command: "/nowhere"}
		turn := agent.Turn{Prompt: strings.Repeat("x", tt.bytes), Member: m}
		if got := e.Excess(turn.Member, turn.Prompt); got != tt.excess {
			t.Errorf("%s: %d bytes are %d too many, want %d", tt.agentType, tt.bytes, got, tt.excess)
		}
		_, err := reply(within(t), e, turn)
		if strings.Contains(err.Error(), "the prompt is too long: the limit is ") != (tt.excess > 0) {
			t.Errorf("%s: %d bytes: got %v", tt.agentType, tt.bytes, err)
		}
	}
}

func TestACPReportsRetries(t *testing.T) {
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	impatient := errors.New("it took too long")
	var retries []agent.Retry
	var last error
	for event, err := range newACP(t).Run(ctx, acpTurn(t, "retry 429 Too Many Requests")) {
		if retry, ok := event.(agent.Retry); ok {
			retries = append(retries, retry)
			cancel(impatient)
		}
		last = err
	}
	const reason = "Reconnecting... 1/5: 429 Too Many Requests"
	if len(retries) != 1 || retries[0] != (agent.Retry{Reason: reason}) {
		t.Errorf("the retries are %+v", retries)
	}
	if !errors.Is(last, impatient) || !strings.Contains(last.Error(), reason) {
		t.Errorf("the error is %v", last)
	}
}

func TestACPPassesServersThatTheAgentTakes(t *testing.T) {
	const (
		own = `{"args":["mcp"],"command":"/bin/own","env":[],"name":"agent-chatter"}`
		env = `{"args":[],"command":"files","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"name":"files"}`
		web = `{"headers":[{"name":"X","value":"y"}],"name":"web","type":"http","url":"http://h"}`
	)
	servers := []agent.MCPServer{
		{Name: "agent-chatter", Setting: "recall", Command: "/bin/own", Args: []string{"mcp"}},
		{Name: "files", Command: "files", Env: map[string]string{"B": "2", "A": "1"}},
		{Name: "web", Type: "http", URL: "http://h", Headers: map[string]string{"X": "y"}},
		{Name: "old", Type: "sse", URL: "http://h"},
	}
	for _, tt := range []struct {
		servers []agent.MCPServer
		habits  []agenttest.Habit
		want    string
		skipped []string
	}{
		{nil, nil, "[]", nil},
		{servers[:2], nil, "[" + own + "," + env + "]", nil},
		{servers, nil, "[" + own + "," + env + "]", []string{agent.SettingMCPServers}},
		{servers[:3], []agenttest.Habit{agenttest.HTTPServers}, "[" + own + "," + env + "," + web + "]", nil},
	} {
		turn := agent.Turn{ID: t.Name(), Dir: t.TempDir(), Member: agenttest.Member(tt.habits...), Prompt: "servers"}
		turn.MCPServers = tt.servers
		settings, text := unsupported(t, newACP(t), turn)
		var got any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		sorted, err := json.Marshal(got)
		if err != nil || string(sorted) != tt.want || !slices.Equal(settings, tt.skipped) {
			t.Errorf("the session got %s, want %s; unsupported %q, want %q", sorted, tt.want, settings, tt.skipped)
		}
	}
}
