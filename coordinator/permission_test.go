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

// asksLeave asks leave to remove everything, and says what was answered.
func asksLeave(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if yield(agent.ToolStarted{ID: "t1", Name: "execute"}, nil) {
			allowed := turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "execute", Title: "rm -r /"})
			if ctx.Err() != nil {
				yield(nil, fmt.Errorf("the turn was stopped: %w", context.Cause(ctx)))
				return
			}
			yield(agent.Text{Text: fmt.Sprint("allowed: ", allowed)}, nil)
		}
	}
}

func TestPermissionsDecideWhatAnAgentAsksLeaveFor(t *testing.T) {
	for _, tt := range []struct {
		permissions string
		person      string // what the one in front of the chat says; "": nobody is there
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
			s := stage(t, &store.Memory{}, asksLeave)
			if tt.person != "" {
				s.Coordinator = coordinator.New(s.asking(func(context.Context) bool { return tt.person == "yes" }))
			}
			team := ensemble()
			team.Members[0].Permissions = tt.permissions
			s.with(team, "")
			s.say("go")
			if said := fmt.Sprint("said by ada: allowed: ", tt.allowed); s.diary.count(said) != 1 {
				t.Errorf("told %q", s.diary.lines)
			}
			if n := s.diary.count("notice"); n > 0 != (tt.notice != "") || n > 0 && s.diary.count(tt.notice) != 1 {
				t.Errorf("told %q, want %q", s.diary.lines, tt.notice)
			}
			want := projection.PermissionAnswered{ToolID: "t1", Name: "execute", Title: "rm -r /", Allowed: tt.allowed, By: tt.by}
			checkAnswered(t, s, want)
		})
	}
}

// asking are the options of a scene in which somebody is there to be asked.
func (s *scene) asking(person func(context.Context) bool) coordinator.Options {
	s.diary.answer = func(ctx context.Context, q coordinator.Question) coordinator.Answer {
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

// checkAnswered checks what is recorded of the one thing that was asked.
func checkAnswered(t *testing.T, s *scene, want projection.PermissionAnswered) {
	t.Helper()
	answered := payloads[projection.PermissionAnswered](t, s.diary.appended)
	if len(answered) != 1 {
		t.Fatalf("recorded is %+v", answered)
	}
	want.TurnID = payloads[projection.TurnStarted](t, s.diary.appended)[0].TurnID
	checkEqual(t, "recorded", answered[0], want)
}

func TestCancellingAtAQuestionCancelsTheTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := stage(t, &store.Memory{}, asksLeave)
	s.Coordinator = coordinator.New(s.asking(func(asked context.Context) bool {
		cancel()
		<-asked.Done()
		return true
	}))
	s.with(ensemble(), "")
	turnError(t, s.SayAs(ctx, "you", "go"), "ada", projection.Cancelled)
	checkAnswered(t, s, projection.PermissionAnswered{ToolID: "t1", Name: "execute", Title: "rm -r /", By: projection.ByDefault})
	s.say("go on")
}
