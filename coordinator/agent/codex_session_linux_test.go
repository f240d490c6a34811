package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

func TestCodexSession(t *testing.T) {
	turn := codexTurn(t, "")
	s, err := patientCodex.Open(within(t), turn, agent.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	one, two := act(t, s, turn, "say one"), act(t, s, turn, "say two")
	failed := act(t, s, turn, "end failed no")
	three := act(t, s, turn, "say three")
	if one.text+two.text+three.text != "onetwothree" || failed.err == nil || one.point == two.point || !s.Alive() ||
		s.ID() != agenttest.CodexThread {
		t.Errorf("%+v, %+v, %+v, %+v", one, two, failed, three)
	}
	s.Close()
	if four := act(t, s, turn, "say four"); s.Alive() || four.err == nil {
		t.Errorf("after Close: %+v", four)
	}
	for pid, command := range agenttest.Running(turn.ID) {
		t.Errorf("process %d is still running: %s", pid, command)
	}
}

// Codex says which models it has while a turn runs, until the end of the second one. An older one says nothing.
func TestCodexModels(t *testing.T) {
	for _, tt := range []struct {
		habits []agenttest.Habit
		want   []string
	}{{nil, []string{"gpt-one", "gpt-two"}}, {[]agenttest.Habit{agenttest.Older}, nil}} {
		turn := codexTurn(t, "", tt.habits...)
		s, err := patientCodex.Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		lister := s.(agent.ModelLister)
		if before := lister.Models(); len(before) > 0 {
			t.Errorf("before a turn: %q", before)
		}
		one, two := act(t, s, turn, "say one"), act(t, s, turn, "requests")
		if one.err != nil || two.err != nil || strings.Count(two.text, "model/list") != 1 {
			t.Errorf("%+v, %+v", one, two)
		}
		if got := lister.Models(); !slices.Equal(got, tt.want) {
			t.Errorf("with the habits %q: %q, want %q", tt.habits, got, tt.want)
		}
	}
}

func TestCodexOrigins(t *testing.T) {
	for _, tt := range []struct {
		origin agent.Origin
		habits []agenttest.Habit
		id     string
		sent   string
		err    error
	}{
		{agent.Origin{Way: agent.Resume}, nil, agenttest.CodexThread, `"excludeTurns":true`, nil},
		{agent.Origin{Way: agent.Resume, Point: agenttest.CodexTurn}, nil, agenttest.CodexThread, "thread/resume", nil},
		{
			agent.Origin{Way: agent.Resume, Point: agenttest.CodexTurn}, []agenttest.Habit{agenttest.Continued},
			agenttest.CodexFork, `"lastTurnId":"` + agenttest.CodexTurn, nil,
		},
		{agent.Origin{Way: agent.Fork}, nil, agenttest.CodexFork, "thread/fork", nil},
		{agent.Origin{Way: agent.Fork, Point: agenttest.CodexTurn}, nil, agenttest.CodexFork, `"lastTurnId"`, nil},
		{agent.Origin{Way: agent.Resume}, []agenttest.Habit{agenttest.Busy}, agenttest.CodexThread, "thread/resume", nil},
		{agent.Origin{Way: agent.Resume}, []agenttest.Habit{agenttest.Occupied}, "", "", agent.ErrBusy},
		{agent.Origin{Way: agent.Resume}, []agenttest.Habit{agenttest.Older}, "", "", agent.ErrUnsupported},
		{agent.Origin{Way: agent.Resume}, []agenttest.Habit{agenttest.Gone}, "", "", agent.ErrGone},
		{agent.Origin{Way: agent.Fork}, []agenttest.Habit{agenttest.Gone}, "", "", agent.ErrGone},
	} {
		tt.origin.ID = agenttest.CodexThread
		turn := codexTurn(t, "requests", tt.habits...)
		turn.Member.Permissions = agent.Ask
		s, err := patientCodex.Open(within(t), turn, tt.origin)
		if err != nil || tt.err != nil {
			if !errors.Is(err, tt.err) {
				t.Errorf("%+v, %v: %v", tt.origin, tt.habits, err)
			}
			continue
		}
		got := act(t, s, turn, turn.Prompt)
		s.Close()
		if s.ID() != tt.id || !strings.Contains(got.text, tt.sent) {
			t.Errorf("%+v, %v: id %s, sent %s", tt.origin, tt.habits, s.ID(), got.text)
		}
	}
}

func TestCodexThreadHasDirectory(t *testing.T) {
	turn := codexTurn(t, "requests")
	turn.Member.Args, turn.Ephemeral = []string{"-C", "sub"}, true
	got := mustReply(t, patientCodex, turn)
	if !strings.Contains(got, `"cwd":"`+filepath.Join(turn.Dir, "sub")+`"`) || !strings.Contains(got, `"ephemeral":true`) {
		t.Error(got)
	}
}

// stopTurn cancels a turn of a session when it has said something, and returns that.
func stopTurn(t *testing.T, s agent.Session, turn agent.Turn, prompt string) string {
	t.Helper()
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn.Prompt = prompt
	var text string
	var last error
	for event, err := range s.Turn(ctx, turn) {
		if piece, ok := event.(agent.Text); ok {
			if text += piece.Text; strings.HasSuffix(text, "see.") || strings.HasPrefix(prompt, "tool") && len(text) > 1 {
				cancel(errCancelled)
			}
		}
		last = err
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("got %v", last)
	}
	return text
}

func TestCodexIsInterrupted(t *testing.T) {
	turn := codexTurn(t, "")
	s, err := patientCodex.Open(within(t), turn, agent.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stopTurn(t, s, turn, "hang")
	stopTurn(t, s, turn, "tool")
	if got := act(t, s, turn, "say hi"); got.text != "hi" || !s.Alive() {
		t.Errorf("%+v", got)
	}
	for event := range s.Turn(within(t), nextTurn(turn, "hang")) {
		if _, ok := event.(agent.Text); ok {
			break
		}
	}
	if got := act(t, s, turn, "say hi"); got.text != "hi" || !s.Alive() {
		t.Errorf("after the loop was left: %+v", got)
	}
}

func TestCodexThatCannotBeInterruptedIsEnded(t *testing.T) {
	for _, habit := range []agenttest.Habit{agenttest.Stubborn, agenttest.Careless} {
		turn := codexTurn(t, "", habit)
		s, err := abruptCodex.Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		stopTurn(t, s, turn, "tool")
		for pid, command := range agenttest.Running(turn.ID) {
			t.Errorf("%s: process %d is still running: %s", habit, pid, command)
		}
		if s.Alive() {
			t.Errorf("%s: it is alive", habit)
		}
		s.Close()
	}
}

// A thread keeps how much its model reasoned.
func TestCodexThinkingInResumedSession(t *testing.T) {
	turn := codexTurn(t, "requests")
	turn.Member.Thinking, turn.Member.Permissions = new(bool), agent.Ask
	for way, sent := range map[agent.Way]bool{agent.New: false, agent.Resume: true, agent.Fork: true} {
		s, err := patientCodex.Open(within(t), turn, agent.Origin{Way: way, ID: agenttest.CodexThread})
		if err != nil {
			t.Fatal(err)
		}
		if got := act(t, s, turn, turn.Prompt).text; strings.Contains(got, `"effort":"none"`) != sent {
			t.Errorf("way %d: %s", way, got)
		}
		s.Close()
	}
}
