package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// pauses returns a turn with a pause before each event.
func pauses(pause time.Duration, events ...agent.Event) turnFunc {
	return func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for _, e := range events {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					yield(nil, fmt.Errorf("the turn was stopped: %w; the last that it said: try 3 of 10 failed",
						context.Cause(ctx)))
					return
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func TestIdleAgentTimesOut(t *testing.T) {
	text, alive := agent.Text{Text: "so far "}, agent.Alive{}
	started, completed := agent.ToolStarted{ID: "t1", Name: "Bash"}, agent.ToolCompleted{ID: "t1"}
	for _, tt := range []struct {
		name     string
		limit    time.Duration
		turnFunc turnFunc
		idle     bool
	}{
		{"regular events", time.Minute, pauses(59*time.Second, text, text, text), false},
		{"signs of life", time.Minute, pauses(59*time.Second, alive, alive, text), false},
		{"nothing", time.Minute, pauses(61*time.Second, text), true},
		{
			"retries only", time.Minute,
			then(says("so far "), pauses(29*time.Second, agent.Retry{}, agent.Retry{}, agent.Retry{}, text)), true,
		},
		{"no further events", time.Minute, then(says("so far "), pauses(61*time.Second, text)), true},
		{"a tool at work", time.Minute, pauses(59*time.Second, started, text, completed, text), false},
		{
			"a tool at work for an hour", time.Minute,
			then(yields(nil, started), pauses(time.Hour, completed), says("so far ")), false,
		},
		{
			"no event after a tool", time.Minute, then(yields(nil, started, completed), pauses(61*time.Second, text)),
			true,
		},
		{"no limit", 0, pauses(29*time.Minute, text), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFixture(t, &store.Memory{}, tt.turnFunc)
				team := testTeam()
				team.MaxAgentResponseTime, team.Members[0].MaxAgentIdleTime = 10*time.Hour, tt.limit
				s.setTeam(team, "")
				err := s.Say(t.Context(), "you", "go")
				if !tt.idle {
					if err != nil {
						t.Error(err)
					}
					return
				}
				failed := turnError(t, err, "ada", projection.TimedOut)
				for _, want := range []string{"no output for 1m0s", "maxAgentIdleTime", "try 3 of 10"} {
					if !strings.Contains(failed.Error(), want) {
						t.Errorf("the error does not contain %q: %v", want, err)
					}
				}
				checkRetryHint(t, err)
			})
		})
	}
}

// then returns a turn that runs others one after another until one fails.
func then(script ...turnFunc) turnFunc {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for _, p := range script {
				for e, err := range p(ctx, turn) {
					if !yield(e, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

func TestAnswerTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, &store.Memory{}, requestsPermission)
		s.Coordinator = coordinator.New(s.asking(func(context.Context) bool {
			time.Sleep(time.Hour)
			return true
		}))
		team := testTeam()
		team.MaxAgentResponseTime, team.Members[0].MaxAgentIdleTime = 10*time.Minute, time.Minute
		s.setTeam(team, "")
		if err := s.Say(t.Context(), "you", "go"); err != nil {
			t.Error(err)
		}
		answered := payloads[projection.PermissionAnswered](t, s.recorder.appended)[0]
		ended := payloads[projection.TurnEnded](t, s.recorder.appended)[0]
		if answered.WaitedMS != time.Hour.Milliseconds() || ended.DurationMS != 0 {
			t.Errorf("the question waited for %d ms, the turn took %d ms", answered.WaitedMS, ended.DurationMS)
		}
	})
}

func TestRemainingTimeCountsAfterQuestion(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after time.Duration // of 10 minutes, around a question that takes an hour
		over          bool
	}{
		{"less than all of it", 4 * time.Minute, 5 * time.Minute, false},
		{"more than all of it", 6 * time.Minute, 5 * time.Minute, true},
		{"more than all of it, after the question", 0, 11 * time.Minute, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := agent.Text{Text: "so far "}
				s := newFixture(t, &store.Memory{}, then(pauses(tt.before, said), requestsPermission,
					pauses(tt.after, said)))
				s.Coordinator = coordinator.New(s.asking(func(context.Context) bool {
					time.Sleep(time.Hour)
					return true
				}))
				team := testTeam()
				team.MaxAgentResponseTime = 10 * time.Minute
				s.setTeam(team, "")
				err := s.Say(t.Context(), "you", "go")
				if tt.over {
					turnError(t, err, "ada", projection.TimedOut)
				} else if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Events of the agent during a question do not restart the idle timeout.
func TestEventsDuringQuestionDoNotEndTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) {
				answered := make(chan agent.Grant)
				go func() { answered <- turn.Permit(ctx, agent.Permission{Tool: "execute", Title: "rm -r /"}) }()
				time.Sleep(time.Second)
				yield(agent.Text{Text: "so far "}, nil)
				<-answered
				time.Sleep(50 * time.Second)
				yield(agent.Text{Text: "done"}, nil)
			}
		})
		s.Coordinator = coordinator.New(s.asking(func(context.Context) bool {
			time.Sleep(time.Hour)
			return true
		}))
		team := testTeam()
		team.MaxAgentResponseTime, team.Members[0].MaxAgentIdleTime = 10*time.Minute, time.Minute
		s.setTeam(team, "")
		s.say("go")
		if ended := payloads[projection.TurnEnded](t, s.recorder.appended)[0]; ended.DurationMS != 50_000 {
			t.Errorf("the turn took %d ms", ended.DurationMS)
		}
	})
}
