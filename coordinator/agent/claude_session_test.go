package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// An inSession is an engine whose turns are those of a session.
type inSession struct{ agent.Session }

func (s inSession) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return s.Turn(ctx, turn)
}

// patientClaude has time for a program on a busy machine.
var patientClaude = agent.Claude{Grace: 5 * time.Second, Start: never}

// claudeTurn returns a turn whose agent speaks as Claude Code does.
func claudeTurn(t *testing.T, habits ...agenttest.Habit) agent.Turn {
	id := fmt.Sprintf("%s-%d", t.Name(), os.Getpid())
	return agent.Turn{ID: id, Dir: t.TempDir(), Member: agenttest.ClaudeMember(t.TempDir(), habits...)}
}

// openClaude opens a session, which is closed when the test ends.
func openClaude(t *testing.T, turn agent.Turn, o agent.Origin) inSession {
	t.Helper()
	s, err := patientClaude.Open(within(t), turn, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	t.Cleanup(s.Close)
	return inSession{s}
}

// says runs a turn that must succeed, and returns its reply and its last point.
func says(t *testing.T, e agent.Engine, turn agent.Turn, prompt string) (replied, point string) {
	t.Helper()
	turn.Prompt = prompt
	for event, err := range e.Run(within(t), turn) {
		if err != nil {
			t.Fatalf("%s: %v", prompt, err)
		}
		switch e := event.(type) {
		case agent.Text:
			replied += e.Text
		case agent.Point:
			point = e.ID
		}
	}
	return replied, point
}

func TestClaudeSessionIsContinued(t *testing.T) {
	turn := claudeTurn(t)
	s := openClaude(t, turn, agent.Origin{})
	_, first := says(t, s, turn, "say oak")
	_, second := says(t, s, turn, "say ash")
	s.Close()
	for _, tt := range []struct {
		origin agent.Origin
		same   bool // it is the same session
		want   string
	}{
		{agent.Origin{Way: agent.Resume, ID: s.ID(), Point: second}, true, "say oak; say ash; recall"},
		{agent.Origin{Way: agent.Resume, ID: s.ID()}, true, "say oak; say ash; recall; recall"},
		{agent.Origin{Way: agent.Resume, ID: s.ID(), Point: second}, false, "say oak; say ash; recall"},
		{agent.Origin{Way: agent.Fork, ID: s.ID(), Point: first}, false, "say oak; recall"},
		{agent.Origin{Way: agent.Fork, ID: s.ID()}, false, "say oak; say ash; recall; recall; recall"},
		{agent.Origin{}, false, "recall"},
	} {
		again := openClaude(t, turn, tt.origin)
		if got, _ := says(t, again, turn, "recall"); got != tt.want || (again.ID() == s.ID()) != tt.same {
			t.Errorf("%+v: the session %s recalls %q, want %q", tt.origin, again.ID(), got, tt.want)
		}
		again.Close()
	}
}

func TestClaudeSessionIsGone(t *testing.T) {
	turn := claudeTurn(t)
	const unknown = "01234567-89ab-4def-8123-456789abcdef"
	s := openClaude(t, turn, agent.Origin{})
	says(t, s, turn, "say oak")
	s.Close()
	for _, o := range []agent.Origin{
		{Way: agent.Resume, ID: unknown}, {Way: agent.Resume, ID: unknown, Point: unknown},
		{Way: agent.Fork, ID: unknown}, {Way: agent.Fork, ID: s.ID(), Point: unknown},
		{Way: agent.Resume, ID: s.ID(), Point: "--help"}, {Way: agent.Resume, ID: strings.ToUpper(unknown)},
	} {
		if _, err := patientClaude.Open(within(t), turn, o); !errors.Is(err, agent.ErrGone) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What lies where the session's file should be does not block, and makes the session a fork.
func TestClaudeSessionFileIsNotTrusted(t *testing.T) {
	turn := claudeTurn(t)
	s := openClaude(t, turn, agent.Origin{})
	_, point := says(t, s, turn, "say oak")
	s.Close()
	file := filepath.Join(agenttest.ClaudeSessions(turn.Member.Env["HOME"]), s.ID()+".jsonl")
	add := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	resumed := func() bool {
		again := openClaude(t, turn, agent.Origin{Way: agent.Resume, ID: s.ID(), Point: point})
		defer again.Close()
		return again.ID() == s.ID()
	}
	add("\n[]\n{\"type\":\"summary\",\"uuid\":\"x\"}\n{\"type\":\"user\",\"uuid\":\"y\",\"isSidechain\":true}\n{\"type\":\"us")
	if !resumed() {
		t.Error("lines that are no messages make it a fork")
	}
	other := filepath.Join(filepath.Dir(filepath.Dir(file)), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, s.ID()+".jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if resumed() {
		t.Error("there are two files, and it is no fork")
	}
	if err := os.Remove(filepath.Join(other, s.ID()+".jsonl")); err != nil {
		t.Fatal(err)
	}
	add("\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 9))
	if resumed() {
		t.Error("its last message is not found, and it is no fork")
	}
}

func TestClaudeReportsCostOfSession(t *testing.T) {
	turn := claudeTurn(t)
	turn.Prompt = "compact"
	var got []string
	for event, err := range patientClaude.Run(within(t), turn) {
		switch e := event.(type) {
		case agent.Usage:
			got = append(got, fmt.Sprint(e.Cost, e.Total))
		case agent.Compacted:
			got = append(got, fmt.Sprint(e.Before, e.After))
		}
		if err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(got, []string{"90 20", "unknown 1 USD"}) {
		t.Errorf("got %q", got)
	}
}

func TestClaudeAsksForPermission(t *testing.T) {
	const (
		rules = `,"updatedPermissions":[{"type":"addRules","rules":[{"ruleContent":"like it","toolName":"Bash"}],` +
			`"behavior":"allow","destination":"DESTINATION"}]`
		allowed = `{"behavior":"allow","updatedInput":{"command":"ls"}`
	)
	for _, tt := range []struct {
		grant agent.Grant
		want  string
	}{
		{agent.AllowedOnce, allowed + "}"},
		{agent.AllowedForSession, allowed + strings.Replace(rules, "DESTINATION", "session", 1) + "}"},
		{agent.AllowedAlways, allowed + strings.Replace(rules, "DESTINATION", "localSettings", 1) + "}"},
		{agent.Grant{Reason: "Use a saw."}, `{"behavior":"deny","message":"Use a saw."}`},
		{agent.Refused, `{"behavior":"deny","message":"Permission denied: the user, or the permissions of the member, ` +
			`do not allow it."}`},
	} {
		turn := claudeTurn(t)
		turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
			want := agent.Permission{
				ToolID: "t1", Tool: "Bash", Kind: agent.KindExecute, Title: "ls", Input: json.RawMessage(`{"command":"ls"}`),
				TakesReason: true, Session: true, Always: ".claude/settings.local.json",
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			return tt.grant
		}
		if got, _ := says(t, patientClaude, turn, `ask Bash {"command":"ls"}`); got != tt.want {
			t.Errorf("%+v: the answer is\n%s, want\n%s", tt.grant, got, tt.want)
		}
	}
}

func TestClaudeAsksForTwoToolsAtOnce(t *testing.T) {
	turn := claudeTurn(t)
	var both sync.WaitGroup
	both.Add(2)
	turn.Permit = func(context.Context, agent.Permission) agent.Grant {
		both.Done()
		both.Wait()
		return agent.AllowedOnce
	}
	if got, _ := says(t, patientClaude, turn, "both"); got != "2" {
		t.Errorf("%s are allowed", got)
	}
}

func TestClaudeQuestionsAreLimited(t *testing.T) {
	turn := claudeTurn(t)
	refused := make(chan struct{})
	refuse := sync.OnceFunc(func() { close(refused) })
	var asked atomic.Int32
	turn.Permit = func(context.Context, agent.Permission) agent.Grant {
		if asked.Add(1) > 100 {
			t.Error("101 questions are not too many")
			refuse()
		}
		<-refused
		return agent.AllowedOnce
	}
	turn.Prompt = "many 101"
	replied := ""
	for event, err := range patientClaude.Run(within(t), turn) {
		switch e := event.(type) {
		case agent.ToolCompleted:
			refuse()
		case agent.Text:
			replied += e.Text
		}
		if err != nil {
			t.Error(err)
		}
	}
	if replied != "100" {
		t.Errorf("%s are allowed", replied)
	}
}

func TestClaudeWithdrawsQuestion(t *testing.T) {
	turn := claudeTurn(t)
	withdrawn := false
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		<-ctx.Done()
		withdrawn = true
		return agent.Refused
	}
	if got, _ := says(t, patientClaude, turn, "withdraw"); got != "Well." || !withdrawn {
		t.Errorf("the reply is %q; withdrawn: %t", got, withdrawn)
	}
}

// What the program does by itself between two turns is no part of the next one, and is not permitted.
func TestClaudeDoesNothingBetweenTurns(t *testing.T) {
	turn := claudeTurn(t)
	turn.Permit = func(context.Context, agent.Permission) agent.Grant {
		t.Error("it asked in a turn")
		return agent.AllowedOnce
	}
	s := openClaude(t, turn, agent.Origin{})
	for range 3 {
		if got, _ := says(t, s, turn, "wake"); got != "Good night." {
			t.Errorf("the reply is %q", got)
		}
		if got, _ := says(t, s, turn, "say fine"); got != "fine" {
			t.Errorf("the next reply is %q", got)
		}
	}
}

func TestClaudeExitsInTurn(t *testing.T) {
	turn := claudeTurn(t)
	s := openClaude(t, turn, agent.Origin{})
	turn.Prompt = "crash"
	replied, err := reply(within(t), s, turn)
	failure, ok := errors.AsType[*agent.FailureError](err)
	if !ok || replied != "Let me see." || !strings.Contains(failure.Reason, "code 3") || s.Alive() ||
		!strings.Contains(failure.Reason, "out of memory") {
		t.Errorf("replied %q, then %v; alive: %t", replied, err, s.Alive())
	}
}
