package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// cancelAt cancels a turn at its first event of a type. A turn without one must succeed.
func cancelAt(t *testing.T, e agent.Engine, turn agent.Turn, event string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	found := false
	for got, err := range e.Run(ctx, turn) {
		last = err
		if fmt.Sprintf("%T", got) == event {
			found = true
			cancel(errCancelled)
		}
	}
	if found && !errors.Is(last, errCancelled) || !found && last != nil {
		t.Errorf("%s: the last error is %v", turn.Prompt, last)
	}
}

func TestClaudeContinuesAfterStop(t *testing.T) {
	turn := claudeTurn(t)
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		<-ctx.Done()
		return agent.AllowedOnce // too late
	}
	s := openClaude(t, turn, agent.Origin{})
	for prompt, at := range map[string]string{
		"hang": "agent.Text", `ask Bash {"command":"ls"}`: "agent.ToolStarted", "tool": "agent.Text", "say hello": "agent.SessionStarted",
		"wake": "agent.Text", "hang on": "agent.SessionStarted"} {
		turn.Prompt = prompt
		cancelAt(t, s, turn, at)
		if !s.Alive() {
			t.Fatalf("%s: the program has ended", prompt)
		}
		if got, _ := says(t, s, turn, "say fine"); got != "fine" {
			t.Errorf("%s: the next reply is %q", prompt, got)
		}
	}
}

func TestClaudeIsEndedIfItDoesNotStop(t *testing.T) {
	for habit, prompt := range map[agenttest.Habit]string{agenttest.Stubborn: "hang", agenttest.Careless: "tool"} {
		turn := claudeTurn(t, habit)
		e := agent.Claude{Grace: 100 * time.Millisecond, Start: never}
		session, err := e.Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		turn.Prompt = prompt
		cancelAfterFirst(t, inSession{session}, turn)
		if session.Alive() {
			t.Errorf("%s: the program is alive", habit)
		}
		if left := agenttest.Running(turn.ID); len(left) > 0 {
			t.Errorf("%s: left running: %v", habit, left)
		}
	}
}

func TestClaudeTurnsShareProgram(t *testing.T) {
	turn := claudeTurn(t)
	turn.Ephemeral = true
	s := openClaude(t, turn, agent.Origin{})
	a, _ := says(t, s, turn, "where")
	b, _ := says(t, s, turn, "where")
	if fields := strings.Fields(a); a != b || fields[1] != s.ID() || !strings.Contains(a, " --no-session-persistence ") {
		t.Errorf("the turns are in %q and %q", a, b)
	}
	s.Close()
	if s.Alive() {
		t.Error("the program is alive after Close")
	}
	if _, err := reply(within(t), s, turn); err == nil || !strings.Contains(err.Error(), "its program has ended") {
		t.Errorf("after Close: %v", err)
	}
	if left := agenttest.Running(turn.ID); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
}
