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

// patientAgy has no timeouts; that of abruptAgy is over at once.
var (
	patientAgy = agent.Agy{Grace: never}
	abruptAgy  = agent.Agy{Grace: time.Millisecond}
)

func agyTurn(t *testing.T, prompt string, habits ...agenttest.Habit) agent.Turn {
	id := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return agent.Turn{ID: id, Dir: t.TempDir(), Prompt: prompt, Member: agenttest.AgyMember(t.TempDir(), habits...)}
}

func TestAgyEvents(t *testing.T) {
	turn := agyTurn(t, `say Let me see.
tool view_file {"AbsolutePath":"/a"}
fail grep_search no such file
subagent I am another.
say Done.
deny run_command`)
	var got []string
	for e, err := range patientAgy.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Alive, agent.SessionStarted:
		case agent.ToolStarted:
			got = append(got, fmt.Sprintf("start %s %s %s", e.ID, e.Name, e.Input))
		default:
			got = append(got, fmt.Sprintf("%+v", e))
		}
	}
	want := []string{
		"{Text:Let m}", "{Input:10 CachedRead:0 CachedWrite:0 Output:0 Thought:0 Cost:unknown Total:unknown Context:10 Window:0}",
		"{Text:e see.}", "{Input:10 CachedRead:5 CachedWrite:0 Output:4 Thought:3 Cost:unknown Total:unknown Context:22 Window:0}",
		`start 2 view_file {"AbsolutePath":"/a"}`, "{ID:2 Name:view_file Output:done Error: Omitted:0}",
		"start 3 grep_search {}", "{ID:3 Name:grep_search Output: Error:no such file Omitted:0}",
		"{Text:\n\nDo}", "{Input:20 CachedRead:5 CachedWrite:0 Output:4 Thought:3 Cost:unknown Total:unknown Context:10 Window:0}",
		"{Text:ne.}", "{Input:20 CachedRead:10 CachedWrite:0 Output:8 Thought:6 Cost:unknown Total:unknown Context:22 Window:0}",
		"start 5 run_command {}", "{ID:5 Name:run_command Output: Error:denied Omitted:0}",
		"{Text:it was not permitted: run_command}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAgyResumesConversation(t *testing.T) {
	for _, habits := range [][]agenttest.Habit{nil, {agenttest.Early}} {
		turn := agyTurn(t, "", habits...)
		s, err := patientAgy.Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if s.ID() != "" || s.Alive() {
			t.Errorf("a new conversation is %q, and alive: %t", s.ID(), s.Alive())
		}
		if got := act(t, s, turn, "say one"); got.text != "one" || got.err != nil || s.ID() == "" {
			t.Errorf("%+v of %q", got, s.ID())
		}
		resumed, err := patientAgy.Open(within(t), turn, agent.Origin{Way: agent.Resume, ID: s.ID()})
		if err != nil {
			t.Fatal(err)
		}
		got := act(t, resumed, turn, "recall")
		if got.text != "say one; recall" || got.err != nil || resumed.ID() != s.ID() {
			t.Errorf("%+v of %q, want %q", got, resumed.ID(), s.ID())
		}
	}
}

func TestAgyConversationIsGone(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000001"
	for _, habits := range [][]agenttest.Habit{nil, {agenttest.Swaps}} {
		turn := agyTurn(t, "", habits...)
		s, err := patientAgy.Open(within(t), turn, agent.Origin{Way: agent.Resume, ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := act(t, s, turn, "say one"); !errors.Is(got.err, agent.ErrGone) || got.text != "" {
			t.Errorf("%v: %+v", habits, got)
		}
	}
	for origin, want := range map[agent.Origin]error{
		{Way: agent.Resume, ID: "--add-dir=/"}: agent.ErrGone,
		{Way: agent.Fork, ID: id}:              agent.ErrUnsupported,
	} {
		if _, err := patientAgy.Open(within(t), agyTurn(t, ""), origin); !errors.Is(err, want) {
			t.Errorf("%+v: %v", origin, err)
		}
	}
}

func TestAgyArguments(t *testing.T) {
	const always = "--input-format stream-json --output-format stream-json --print= --print-timeout=0s"
	for _, tt := range []struct {
		member agent.Member
		want   string
	}{
		{agent.Member{}, ""},
		{agent.Member{Model: "m", Args: []string{"--sandbox"}}, " --model m --sandbox"},
		{agent.Member{Permissions: agent.Deny, Args: []string{"--mode", "accept-edits"}}, " --mode plan"},
		{agent.Member{Permissions: agent.ReadOnly, Args: []string{"-mode=accept-edits", "-dangerously-skip-permissions"}}, " --mode plan"},
		{agent.Member{Permissions: agent.Edit, Args: []string{"--dangerously-skip-permissions"}}, " --mode accept-edits"},
		{agent.Member{Permissions: agent.Allow}, " --dangerously-skip-permissions"},
		{agent.Member{Permissions: agent.Bypass}, " --dangerously-skip-permissions"},
		{agent.Member{Args: []string{"--mode", "plan"}}, " --mode plan"},
		{agent.Member{Args: []string{"--conversation", "x", "-conversation=y", "--continue", "--print-timeout", "5m"}}, ""},
	} {
		if got := strings.Join(patientAgy.CommandLine(tt.member), " "); got != "agy "+always+tt.want {
			t.Errorf("%+v: got %q", tt.member, got)
		}
	}
	turn := agyTurn(t, "args")
	if got, want := mustReply(t, patientAgy, turn), always+" --add-dir="+turn.Dir; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAgyRefusesPermissions(t *testing.T) {
	for permissions, want := range map[string]string{agent.Ask: "cannot ask", "some": "invalid permissions"} {
		turn := agyTurn(t, "say one")
		turn.Member.Permissions = permissions
		got, err := reply(within(t), patientAgy, turn)
		if got != "" || err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "allow, deny, read, edit, bypass") {
			t.Errorf("%s: %q, %v", permissions, got, err)
		}
	}
}

func TestAgyIsStoppedWhenItDoesMore(t *testing.T) {
	const command = `tool run_command {"CommandLine":"touch a"}`
	for _, tt := range []struct {
		permissions, prompt, stopped string
		habits                       []agenttest.Habit
	}{
		{agent.Deny, command, "touch a", nil},
		{agent.ReadOnly, command, "touch a", nil},
		{agent.ReadOnly, `tool write_to_file {"TargetFile":"/a"}`, "/a", nil},
		{agent.Deny, `tool replace_file_content {}`, "replace_file_content", nil},
		{agent.Deny, `tool view_file {}`, "", nil},
		{agent.Deny, "deny run_command\nsay It is denied.", "", nil},
		{agent.Edit, command, "", nil},
		{"", command, "", nil},
		{agent.Allow, command, "", nil},
		{agent.Deny, "say one", "skips all checks", []agenttest.Habit{agenttest.Skips}},
		{agent.Edit, "say one", "skips all checks", []agenttest.Habit{agenttest.Skips}},
		{"", "say one", "", []agenttest.Habit{agenttest.Skips}},
	} {
		turn := agyTurn(t, tt.prompt+"\nsay end", tt.habits...)
		turn.Member.Permissions = tt.permissions
		if tt.stopped != "" {
			turn.Prompt = tt.prompt + "\nhang"
		}
		_, err := reply(within(t), abruptAgy, turn)
		if tt.stopped == "" && err != nil || tt.stopped != "" && (err == nil || !strings.Contains(err.Error(), tt.stopped)) {
			t.Errorf("%s, %s: %v", tt.permissions, tt.prompt, err)
		}
	}
}

func TestAgyFailures(t *testing.T) {
	for prompt, want := range map[string]string{
		"end ERROR You are not signed in.":          "Antigravity CLI failed: You are not signed in.; sign in there",
		"end ERROR quota exhausted":                 "quota exhausted; wait a while, then retry",
		"end WAITING":                               "it ended with the status WAITING",
		"exit 2 unknown flag":                       "it exited with code 2 before its turn was finished: unknown flag",
		"raw Hello\nexit 0":                         "and printed “Hello”, which is not the expected format",
		"deny run_command":                          `it was not permitted: run_command; change the member's "permissions", or its settings`,
		"say a part\ntimeout":                       "time limit of its own",
		`raw {"event":"result","result":7}`:         "it ended with the status",
		"say one\nend ERROR conversation not found": "conversation not found",
		"end ERROR conversation not found":          "conversation not found",
	} {
		_, err := reply(within(t), patientAgy, agyTurn(t, prompt))
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, agent.ErrGone) {
			t.Errorf("%q: %v", prompt, err)
		}
	}
	turn := agyTurn(t, "")
	turn.Member.Command = "/no/such/agy"
	if _, err := reply(within(t), patientAgy, turn); err == nil {
		t.Error("a missing program runs")
	}
}

func TestAgyRepliesWithoutPieces(t *testing.T) {
	if got := mustReply(t, patientAgy, agyTurn(t, "say one", agenttest.Silent)); got != "one" {
		t.Errorf("it replies %q", got)
	}
}

func TestAgyPromptIsNoCommand(t *testing.T) {
	if got := mustReply(t, patientAgy, agyTurn(t, "/usage\nrecall")); got != " /usage\nrecall" {
		t.Errorf("it gets %q", got)
	}
}

// A program that stays after its turn is ended.
func TestAgyLasts(t *testing.T) {
	if got := mustReply(t, abruptAgy, agyTurn(t, "say one", agenttest.Lasts)); got != "one" {
		t.Errorf("it replies %q", got)
	}
}

func TestAgyIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for e, err := range abruptAgy.Run(ctx, agyTurn(t, "say one\nhang")) {
		if _, ok := e.(agent.Text); ok {
			cancel(errCancelled)
		}
		last = err
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("it ends with %v", last)
	}
	for range abruptAgy.Run(within(t), agyTurn(t, "say one\nhang")) {
		break
	}
}

func TestAgyReportsWhatItLacks(t *testing.T) {
	turn, thinks := agyTurn(t, "say one"), true
	turn.Member.Thinking = &thinks
	turn.MCPServers = []agent.MCPServer{{Name: "s", Setting: "recall"}}
	var got []agent.Event
	for e, err := range patientAgy.Run(within(t), turn) {
		if _, ok := e.(agent.Unsupported); ok {
			got = append(got, e)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]agent.Event{agent.Unsupported{Setting: "thinking"}, agent.Unsupported{Setting: "recall"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
