package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// requestsPermission is a turn that requests permission to remove everything and replies with the answer.
func requestsPermission(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if yield(agent.ToolStarted{ID: "t1", Name: "execute"}, nil) {
			allowed := turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "execute", Title: "rm -r /"})
			if ctx.Err() != nil {
				yield(nil, fmt.Errorf("the turn was stopped: %w", context.Cause(ctx)))
				return
			}
			yield(agent.Text{Text: fmt.Sprint("allowed: ", allowed != agent.Refused)}, nil)
		}
	}
}

func TestPermissionsAnswerRequests(t *testing.T) {
	for _, tt := range []struct {
		permissions string
		person      string // the user's answer; "": no user
		allowed     bool
		by          projection.Decider
		notice      string
	}{
		{"allow", "no", true, projection.ByPolicy, ""},
		{"deny", "yes", false, projection.ByPolicy, "notice PermissionDenied Ada rm -r /"},
		{"ask", "yes", true, projection.ByPerson, ""},
		{"ask", "no", false, projection.ByPerson, ""},
		{"", "yes", true, projection.ByPerson, ""},
		{"", "no", false, projection.ByPerson, ""},
		{"ask", "", false, projection.ByDefault, "notice PermissionUnanswered Ada rm -r /"},
		{"", "", false, projection.ByDefault, "notice PermissionUnanswered Ada rm -r /"},
	} {
		t.Run(fmt.Sprintf("permissions %q and a person that says %q", tt.permissions, tt.person), func(t *testing.T) {
			s := newFixture(t, &store.Memory{}, requestsPermission)
			if tt.person != "" {
				s.Coordinator = coordinator.New(s.asking(func(context.Context) bool { return tt.person == "yes" }))
			}
			team := testTeam()
			team.Members[0].Permissions = tt.permissions
			s.setTeam(team, "")
			s.say("go")
			if said := fmt.Sprint("said by ada: allowed: ", tt.allowed); s.recorder.count(said) != 1 {
				t.Errorf("notified %q", s.recorder.lines)
			}
			if n := s.recorder.count("notice"); n > 0 != (tt.notice != "") || n > 0 &&
				s.recorder.count(tt.notice) != 1 {
				t.Errorf("notified %q, want %q", s.recorder.lines, tt.notice)
			}
			want := projection.PermissionAnswered{ToolID: "t1", Name: "execute", Title: "rm -r /", Allowed: tt.allowed,
				By: tt.by}
			checkAnswered(t, s, want)
		})
	}
}

// asking returns the options of a fixture whose user answers questions.
func (s *fixture) asking(person func(context.Context) bool) coordinator.Options {
	s.recorder.answer = func(ctx context.Context, q coordinator.Question) coordinator.Answer {
		if q.Member.ID != "ada" || q.Permission.Title != "rm -r /" {
			s.t.Errorf("the question is %+v", q)
		}
		if person(ctx) {
			return coordinator.Allowed
		}
		return coordinator.Refused
	}
	return s.options(&store.Memory{})
}

// checkAnswered checks the recorded answer of the only question.
func checkAnswered(t *testing.T, s *fixture, want projection.PermissionAnswered) {
	t.Helper()
	answered := payloads[projection.PermissionAnswered](t, s.recorder.appended)
	if len(answered) != 1 {
		t.Fatalf("recorded %+v", answered)
	}
	want.TurnID = payloads[projection.TurnStarted](t, s.recorder.appended)[0].TurnID
	want.WaitedMS = answered[0].WaitedMS
	checkEqual(t, "recorded", answered[0], want)
}

// requestsTwice is a turn that requests permission to run both commands, and replies with the answers.
func requestsTwice(first, second string) func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		a := turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "execute", Title: first, Always: true})
		b := turn.Permit(ctx, agent.Permission{ToolID: "t2", Tool: "execute", Title: second})
		return says(fmt.Sprint("grants: ", a, b))(ctx, turn)
	}
}

func TestPermissionForSessionIsForTheSameRequest(t *testing.T) {
	for _, tt := range []struct {
		name, second string
		answer       coordinator.Answer
		asked        int
		grants       string
	}{
		{"the same", "rm -r a", coordinator.AllowedForSession, 1, "1 1"},
		{"another command", "rm -r /", coordinator.AllowedForSession, 2, "1 1"},
		{"allowed once", "rm -r a", coordinator.Allowed, 2, "1 1"},
		{"refused", "rm -r a", coordinator.Refused, 2, "0 0"},
		{"allowed always, which only the first offers", "rm -r a", coordinator.AllowedAlways, 2, "2 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, &store.Memory{}, requestsTwice("rm -r a", tt.second))
			asked := 0
			s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Answer {
				asked++
				return tt.answer
			}
			s.setTeam(testTeam(), "")
			s.say("go")
			if asked != tt.asked || s.recorder.count("said by ada: grants: "+tt.grants) != 1 {
				t.Errorf("asked %d times, want %d: %q", asked, tt.asked, s.recorder.lines)
			}
		})
	}
}

func TestRequestIsRefusedWithoutListener(t *testing.T) {
	s := newFixture(t, &store.Memory{}, requestsPermission)
	options := s.options(&store.Memory{})
	options.Listener = nil
	s.Coordinator = coordinator.New(options)
	s.setTeam(testTeam(), "")
	s.say("go")
	if said := s.Session().Recent[1].Content; said != "allowed: false" {
		t.Errorf("the reply is %q", said)
	}
}

// A request that is not waited for any more is refused, whatever the coordinator is busy with.
func TestCanceledRequestIsRefused(t *testing.T) {
	var grant agent.Grant
	s := start(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		grant = turn.Permit(canceled, agent.Permission{ToolID: "t1", Tool: "execute", Title: "rm -r /"})
		return says("ok")(ctx, turn)
	})
	s.say("go")
	if grant != agent.Refused {
		t.Errorf("the grant is %v", grant)
	}
}

func TestPermissionForSessionIsForRequestsThatAreShownWhole(t *testing.T) {
	s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for range 2 {
				turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "edit", Omitted: 1})
			}
			yield(agent.Text{Text: "done"}, nil)
		}
	})
	asked := 0
	s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Answer {
		asked++
		return coordinator.AllowedForSession
	}
	s.setTeam(testTeam(), "")
	s.say("go")
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestPermissionForSessionEndsWithTheConversation(t *testing.T) {
	s := newFixture(t, &store.Memory{}, requestsTwice("rm", "rm"), requestsTwice("rm", "rm"))
	asked := 0
	s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Answer {
		asked++
		return coordinator.AllowedForSession
	}
	s.setTeam(testTeam(), "")
	s.say("go")
	s.setTeam(testTeam(), "")
	s.say("go")
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestCancelAtQuestionCancelsTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newFixture(t, &store.Memory{}, requestsPermission)
	s.Coordinator = coordinator.New(s.asking(func(asked context.Context) bool {
		cancel()
		<-asked.Done()
		return true
	}))
	s.setTeam(testTeam(), "")
	turnError(t, s.Say(ctx, "you", "go"), "ada", projection.Cancelled)
	checkAnswered(t, s, projection.PermissionAnswered{ToolID: "t1", Name: "execute", Title: "rm -r /",
		By: projection.ByDefault})
	s.say("continue")
}
