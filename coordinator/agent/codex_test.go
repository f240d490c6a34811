package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// patientCodex has no timeouts; those of abruptCodex are over at once.
var (
	patientCodex = agent.Codex{Grace: never, Start: never, Retry: 1}
	abruptCodex  = agent.Codex{Grace: time.Millisecond, Start: never, Retry: 1}
)

func codexTurn(t *testing.T, prompt string, habits ...agenttest.Habit) agent.Turn {
	id := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return agent.Turn{ID: id, Dir: t.TempDir(), Prompt: prompt, Member: agenttest.CodexMember(habits...)}
}

// An acted is what a turn of a session has yielded.
type acted struct {
	text, point string
	used        agent.Usage
	events      []agent.Event
	err         error
}

// act runs a turn of a session in which everything is allowed.
func act(t *testing.T, s agent.Session, turn agent.Turn, prompt string) (got acted) {
	t.Helper()
	turn.Prompt = prompt
	if turn.Permit == nil {
		turn.Permit = func(context.Context, agent.Permission) agent.Grant { return agent.AllowedOnce }
	}
	for event, err := range s.Turn(within(t), turn) {
		got.err = err
		switch e := event.(type) {
		case agent.Text:
			got.text += e.Text
		case agent.Point:
			got.point = e.ID
		case agent.Usage:
			got.used = e
		}
		got.events = append(got.events, event)
	}
	return got
}

func TestCodexEvents(t *testing.T) {
	const session = "agent.SessionStarted {ID:" + agenttest.CodexThread + "}"
	const point = "agent.Point {ID:01a20000-0000-7000-9000-000000000001}"
	for _, tt := range []struct {
		name, prompt string
		want         []string
	}{
		{"messages", "say I look.\nwhole I saw.", []string{"I look.\n\nI saw."}},
		{"commands", `item {"id":"1","type":"commandExecution","command":"ls","aggregatedOutput":"a","exitCode":0,"status":"completed"}
item {"id":"2","type":"commandExecution","command":"rm","status":"declined"}
item {"id":"3","type":"commandExecution","command":"ls","exitCode":1,"status":"failed"}`, []string{
			`agent.ToolStarted {ID:1 Name:shell Input:{"command":"ls"}}`, "agent.ToolCompleted {ID:1 Name:shell Output:a Error:}",
			`agent.ToolStarted {ID:2 Name:shell Input:{"command":"rm"}}`, "agent.ToolCompleted {ID:2 Name:shell Output: Error:declined}",
			`agent.ToolStarted {ID:3 Name:shell Input:{"command":"ls"}}`, "agent.ToolCompleted {ID:3 Name:shell Output: Error:exit code 1}",
		}},
		{"other tools", `item {"id":"1","type":"mcpToolCall","server":"s","tool":"u","arguments":{"a":1},"result":{"content":[{"type":"text","text":"found"}]},"status":"completed"}
item {"id":"2","type":"mcpToolCall","server":"s","tool":"t","arguments":{},"result":null,"error":{"message":"no"},"status":"failed"}
item {"id":"3","type":"webSearch","query":"q"}
item {"id":"4","type":"reasoning","summary":[]}
item {"id":"5","type":"fileChange","changes":[{"diff":"a\n","kind":{"type":"add"},"path":"/p"}],"status":"completed"}`, []string{
			`agent.ToolStarted {ID:1 Name:s.u Input:{"a":1}}`, "agent.ToolCompleted {ID:1 Name:s.u Output:found Error:}",
			`agent.ToolStarted {ID:2 Name:s.t Input:{}}`, "agent.ToolCompleted {ID:2 Name:s.t Output: Error:no}",
			`agent.ToolStarted {ID:3 Name:web_search Input:{"query":"q"}}`, "agent.ToolCompleted {ID:3 Name:web_search Output: Error:}",
			`agent.ToolStarted {ID:5 Name:file_change Input:[{"diff":"a\n","kind":{"type":"add"},"path":"/p"}]}`,
			"agent.ToolCompleted {ID:5 Name:file_change Output: Error:}",
		}},
		{
			"plan", `note turn/plan/updated {"plan":[{"step":"saw","status":"inProgress"},{"step":"nail","status":"pending"}]}`,
			[]string{"agent.Plan {Entries:[{Content:saw Status:in_progress Priority:} {Content:nail Status:pending Priority:}]}"},
		},
		{"tokens", `note thread/tokenUsage/updated {"tokenUsage":{"total":{"inputTokens":900},"last":{"totalTokens":19,"inputTokens":10,"cachedInputTokens":4,"cacheWriteInputTokens":1,"outputTokens":9,"reasoningOutputTokens":2},"modelContextWindow":99}}
note thread/tokenUsage/updated {"tokenUsage":{"last":{"totalTokens":30,"inputTokens":20,"cachedInputTokens":15,"outputTokens":1},"modelContextWindow":99}}
note thread/tokenUsage/updated {"turnId":"another","tokenUsage":{"last":{"inputTokens":7}}}
item {"id":"9","type":"contextCompaction"}`, []string{
			"agent.Compacted {Before:30 After:0}", "agent.Usage 10+19+1 8+2, cost unknown, context 30 of 99",
		}},
		{
			"retry", `note error {"error":{"message":"Reconnecting... 1/5","additionalDetails":"timeout"},"willRetry":true}`,
			[]string{"agent.Retry {Reason:Reconnecting... 1/5 (timeout) Wait:0s Try:0 Max:0}"},
		},
		{"others' notifications", `note item/agentMessage/delta {"turnId":"another","itemId":"1","delta":"no"}
note item/agentMessage/delta {"threadId":"another","itemId":"1","delta":"no"}
note turn/completed {"threadId":"another","turn":{"id":"another","status":"failed"}}
note news {"item":7}
print npm warn
print {"method":
say yes`, []string{"yes"}},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "-"), func(t *testing.T) {
			got, err := allEvents(within(t), patientCodex, codexTurn(t, tt.prompt))
			for len(got) > 0 && got[len(got)-1] == "" {
				got = got[:len(got)-1]
			}
			want := append([]string{session}, tt.want...)
			if diff := cmp.Diff(append(want, point), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCodexTurnErrors(t *testing.T) {
	for _, tt := range []struct {
		prompt, reason, remedy string
		habits                 []agenttest.Habit
	}{
		{`end failed {"error":{"message":"401 Unauthorized"}}`, "401 Unauthorized", "codex login", nil},
		{"note warning {\"message\":\"the model is old\"}\nend failed", "the model is old", "/retry", nil},
		{"end interrupted", "it reports a cancellation that was not requested", "/retry", nil},
		{"refuse Input exceeds the maximum length", "Input exceeds the maximum length", "/retry", nil},
		{"crash", "it exited with code 3 before its turn was finished: out of memory", "directly", nil},
		{fmt.Sprint("line ", 33<<20), "a line of more than 33554432 bytes", "ask for less", nil},
		{"say hi", "printed “Hello, my friend!”", `"command"`, []agenttest.Habit{agenttest.Rubbish}},
		{"say hi", "does not follow the member's permissions", `"allow"`, []agenttest.Habit{agenttest.Wide}},
	} {
		turn := codexTurn(t, tt.prompt, tt.habits...)
		turn.Member.Permissions = agent.Ask
		_, err := reply(within(t), patientCodex, turn)
		failure, ok := errors.AsType[*agent.FailureError](err)
		if !ok || failure.Agent != "Codex" || !strings.Contains(failure.Reason, tt.reason) ||
			!strings.Contains(withHint(failure), tt.remedy) {
			t.Errorf("%.40s: got %v, want %q and %q", tt.prompt, err, tt.reason, tt.remedy)
		}
	}
}

func TestCodexThatDoesNotAnswer(t *testing.T) {
	_, err := reply(within(t), agent.Codex{Grace: 1, Start: 1}, codexTurn(t, "say hi", agenttest.Mute))
	if err == nil || !strings.Contains(err.Error(), "does not answer as the server of Codex does") {
		t.Errorf("got %v", err)
	}
}

func TestCodexStartsNothing(t *testing.T) {
	turn := codexTurn(t, "say hi")
	turn.Member.Command = "/bin/false"
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if _, err := reply(ctx, patientCodex, turn); !errors.Is(err, errCancelled) {
		t.Errorf("of a cancelled turn: got %v", err)
	}
	turn.Member.Permissions = "yolo"
	if _, err := reply(within(t), patientCodex, turn); err == nil || !strings.Contains(err.Error(), `invalid permissions "yolo"`) {
		t.Errorf("with invalid permissions: got %v", err)
	}
	turn.Member.Permissions = ""
	for _, origin := range []agent.Origin{
		{Way: agent.Resume, ID: "--last"}, {Way: agent.Fork}, {Way: agent.Fork, ID: agenttest.CodexThread, Point: "x"},
	} {
		if _, err := patientCodex.Open(within(t), turn, origin); !errors.Is(err, agent.ErrGone) {
			t.Errorf("%+v: got %v", origin, err)
		}
	}
}

func TestCodexPromptLimit(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		excess int
	}{
		{"", 0},
		{strings.Repeat("x", 1<<20), 0},
		{strings.Repeat("x", 1<<20+7), 7},
		{strings.Repeat("語", 1<<20), 0},
		{strings.Repeat("語", 1<<20+7), 7},
	} {
		if got := patientCodex.Excess(agent.Member{}, tt.prompt); got != tt.excess {
			t.Errorf("%d bytes are %d too many, want %d", len(tt.prompt), got, tt.excess)
		}
	}
	_, err := reply(within(t), patientCodex, codexTurn(t, strings.Repeat("x", 1<<20+1)))
	if err == nil || !strings.Contains(err.Error(), "the limit is 1048576 characters") {
		t.Errorf("got %v", err)
	}
}

// The command line and the requests of a member.
func TestCodexArguments(t *testing.T) {
	const profile = `--config=permissions.agent-chatter={extends="%s",filesystem={"/nonexistent/agent-chatter"="deny"}} ` +
		`--config=default_permissions="agent-chatter"`
	reading, writing := fmt.Sprintf(profile, ":read-only"), fmt.Sprintf(profile, ":workspace")
	for _, tt := range []struct {
		member agent.Member
		want   string
	}{
		{agent.Member{}, ""},
		{agent.Member{Permissions: agent.Ask}, reading},
		{agent.Member{Permissions: agent.Deny}, reading},
		{agent.Member{Permissions: agent.ReadOnly}, reading},
		{agent.Member{Permissions: agent.Edit}, writing},
		{agent.Member{Permissions: agent.Allow}, ""},
		{agent.Member{Permissions: agent.Bypass, Model: "m"}, ""},
		{
			agent.Member{Thinking: new(bool), Args: []string{"-c", "a=1", "--enable", "x"}},
			"--config=model_reasoning_effort=none -c a=1 --enable x",
		},
		{
			agent.Member{Args: []string{"exec", "--json", "--skip-git-repo-check", "-o", "last.txt", "--color=never", "-c", "exec=1", "-"}},
			"-c exec=1",
		},
		{
			agent.Member{Args: []string{"-m", "n", "-s", "read-only", "--ask-for-approval=never"}},
			`--config=model="n" --config=sandbox_mode="read-only" --config=approval_policy="never"`,
		},
		{
			agent.Member{Args: []string{"--full-auto"}},
			`--config=approval_policy="on-request" --config=sandbox_mode="workspace-write"`,
		},
		{
			agent.Member{Args: []string{"--yolo"}},
			`--config=approval_policy="never" --config=sandbox_mode="danger-full-access"`,
		},
		{
			agent.Member{Permissions: agent.Ask, Args: []string{"--sandbox", "danger-full-access", "--yolo", "-a", "never", "-c", "b=2"}},
			"-c b=2 " + reading,
		},
		{agent.Member{Args: []string{"--ignore-rules", "--cd", "x", "--ephemeral"}}, "--ignore-rules"},
	} {
		got := strings.Join(patientCodex.CommandLine(tt.member), " ")
		if want := strings.TrimSpace("codex app-server " + tt.want); got != want {
			t.Errorf("%+v: got %q, want %q", tt.member, got, want)
		}
	}
}

func TestCodexRequestsHavePolicies(t *testing.T) {
	const asks, never = `"approvalPolicy":"on-request","approvalsReviewer":"user"`, `"approvalPolicy":"never","approvalsReviewer":"user"`
	const more = `"writableRoots":["/more"]`
	for permissions, want := range map[string][2]string{
		"":             {"", ""},
		agent.Ask:      {asks, `"permissions":"agent-chatter"`},
		agent.Deny:     {never, `"permissions":"agent-chatter"`},
		agent.ReadOnly: {never, `"permissions":"agent-chatter"`},
		agent.Edit:     {asks, `"permissions":"agent-chatter"`},
		agent.Allow:    {asks, `"sandbox":"workspace-write"|"sandboxPolicy":{"type":"workspaceWrite",` + more + "}"},
		agent.Bypass:   {never, `"sandbox":"danger-full-access"|"sandboxPolicy":{"type":"dangerFullAccess",` + more + "}"},
	} {
		for _, way := range []agent.Way{agent.New, agent.Resume, agent.Fork} {
			turn := codexTurn(t, "requests")
			turn.Member.Permissions, turn.Member.Model = permissions, "m"
			origin := agent.Origin{Way: way}
			if way != agent.New {
				origin.ID = agenttest.CodexThread
			}
			s, err := patientCodex.Open(within(t), turn, origin)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(act(t, s, turn, turn.Prompt).text, "\n")
			s.Close()
			thread, started := got[len(got)-2], got[len(got)-1]
			inThread, inTurn, different := strings.Cut(want[1], "|")
			if !different {
				inTurn = inThread
			}
			if !strings.Contains(thread, want[0]) || !strings.Contains(started, want[0]) || !strings.Contains(thread, inThread) ||
				!strings.Contains(started, inTurn) || !strings.Contains(thread, `"model":"m"`) {
				t.Errorf("%q, way %d:\n%s\n%s", permissions, way, thread, started)
			}
			// What a session was allowed before does not stay.
			if permissions == "" && way != agent.New && !strings.Contains(thread, asks+`,"cwd"`) {
				t.Errorf("way %d: %q", way, got)
			}
		}
	}
}
