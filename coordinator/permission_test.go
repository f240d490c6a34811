package coordinator_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
			yield(agent.Text{Text: fmt.Sprint("allowed: ", allowed.Scope != agent.Nothing)}, nil)
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
	s.recorder.answer = func(ctx context.Context, q coordinator.Question) coordinator.Decision {
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
		a := turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "execute", Title: first, Always: "a file"})
		b := turn.Permit(ctx, agent.Permission{ToolID: "t2", Tool: "execute", Title: second})
		return says(fmt.Sprint("grants: ", a.Scope, b.Scope))(ctx, turn)
	}
}

func TestPermissionForSessionIsForTheSameRequest(t *testing.T) {
	for _, tt := range []struct {
		name, second string
		answer       coordinator.Decision
		asked        int
		grants       string
	}{
		{"the same", "rm -r a", coordinator.AllowedForSession, 1, "1 1"},
		{"another command", "rm -r /", coordinator.AllowedForSession, 2, "1 1"},
		{"allowed once", "rm -r a", coordinator.Allowed, 2, "1 1"},
		{"refused", "rm -r a", coordinator.Refused, 2, "0 0"},
		{"allowed always, which only the first offers", "rm -r a", coordinator.AllowedAlways, 2, "3 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, &store.Memory{}, requestsTwice("rm -r a", tt.second))
			asked := 0
			s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
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
	if said := s.messages()[1].Content; said != "allowed: false" {
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
	if grant.Scope != agent.Nothing {
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
	s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
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
	s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
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

// allows answers questions with Allowed after a function has returned.
func allows(wait func(q coordinator.Question)) func(context.Context, coordinator.Question) coordinator.Decision {
	return func(_ context.Context, q coordinator.Question) coordinator.Decision {
		wait(q)
		return coordinator.Allowed
	}
}

func TestOpenQuestionDoesNotDelayEvents(t *testing.T) {
	const calls = 1000
	yielded := make(chan struct{})
	s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			granted := make(chan agent.Grant)
			go func() { granted <- turn.Permit(ctx, agent.Permission{ToolID: "asks", Tool: "execute"}) }()
			for i := range calls {
				yield(agent.ToolStarted{ID: fmt.Sprint(i), Name: "read"}, nil)
			}
			close(yielded)
			yield(agent.Text{Text: fmt.Sprint("grant: ", (<-granted).Scope)}, nil)
		}
	})
	s.recorder.answer = allows(func(coordinator.Question) { <-yielded })
	s.setTeam(testTeam(), "")
	s.say("go")
	before := 0
	for _, e := range s.recorder.appended {
		if e.Type == "permission.answered" {
			break
		}
		if e.Type == "tool.started" {
			before++
		}
	}
	if before != calls || s.recorder.count("said by ada: grant: 1") != 1 {
		t.Errorf("%d calls before the answer, %q", before, s.recorder.lines)
	}
}

// requestsAtOnce is a turn that requests permissions at the same time, and replies when all are answered.
func requestsAtOnce(titles ...string) turnFunc {
	return func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		var asking sync.WaitGroup
		for i, title := range titles {
			asking.Go(func() {
				turn.Permit(ctx, agent.Permission{ToolID: fmt.Sprint("t", i+1), Tool: "execute", Title: title})
			})
		}
		asking.Wait()
		return says("done")(ctx, turn)
	}
}

func TestQuestionsAreOpenAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := map[string]time.Duration{"rm a": 3 * time.Second, "rm b": 5 * time.Second, "rm c": 4 * time.Second}
		s := newFixture(t, &store.Memory{}, requestsAtOnce("rm a", "rm b", "rm c"))
		s.recorder.answer = allows(func(q coordinator.Question) { time.Sleep(waits[q.Permission.Title]) })
		s.setTeam(testTeam(), "")
		s.say("go")
		var answered []string
		for _, p := range payloads[projection.PermissionAnswered](t, s.recorder.appended) {
			answered = append(answered, fmt.Sprint(p.Title, " ", p.WaitedMS))
		}
		checkEqual(t, "answered", answered, []string{"rm a 3000", "rm c 4000", "rm b 5000"})
		if ended := payloads[projection.TurnEnded](t, s.recorder.appended)[0]; ended.DurationMS != 0 {
			t.Errorf("the turn took %d ms", ended.DurationMS)
		}
	})
}

func TestSameRequestWaitsForTheOpenQuestion(t *testing.T) {
	for answer, want := range map[coordinator.Decision]int32{
		coordinator.AllowedForSession: 1, coordinator.Allowed: 3, coordinator.Refused: 3,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture(t, &store.Memory{}, requestsAtOnce("rm a", "rm a", "rm a"))
			var asked, open atomic.Int32
			s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision {
				asked.Add(1)
				if open.Add(1) > 1 {
					t.Error("the same question is open twice")
				}
				time.Sleep(time.Second)
				open.Add(-1)
				return answer
			}
			s.setTeam(testTeam(), "")
			s.say("go")
			recorded := payloads[projection.PermissionAnswered](t, s.recorder.appended)
			if asked.Load() != want || len(recorded) != 3 {
				t.Errorf("answer %d: asked %d times, recorded %+v", answer, asked.Load(), recorded)
			}
		})
	}
}

func TestQuestionOfEndedTurnIsWithdrawn(t *testing.T) {
	asked := make(chan struct{})
	s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for _, title := range []string{"rm a", "rm b", "rm b"} {
				go turn.Permit(t.Context(), agent.Permission{Tool: "execute", Title: title})
			}
			<-asked
			<-asked
			yield(agent.Text{Text: "done"}, nil)
		}
	})
	s.recorder.answer = func(ctx context.Context, _ coordinator.Question) coordinator.Decision {
		asked <- struct{}{}
		<-ctx.Done()
		return coordinator.Unanswered
	}
	s.setTeam(testTeam(), "")
	s.say("go")
	for _, p := range payloads[projection.PermissionAnswered](t, s.recorder.appended) {
		if p.Allowed || p.By != projection.ByDefault {
			t.Errorf("recorded %+v", p)
		}
	}
	if s.recorder.count("said by ada: done") != 1 || s.recorder.count("notice PermissionUnanswered") != 0 {
		t.Errorf("notified %q", s.recorder.lines)
	}
}

// An agent that takes the reason of a refusal gets it without secrets, and it is recorded.
func TestReasonOfRefusalReachesTheAgent(t *testing.T) {
	s := newFixture(t, &store.Memory{}, func(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
		grant := turn.Permit(ctx, agent.Permission{ToolID: "t1", Tool: "execute", TakesReason: true})
		return says("the reason: "+grant.Reason)(ctx, turn)
	})
	s.recorder.answer = func(context.Context, coordinator.Question) coordinator.Decision { return coordinator.Refused }
	s.recorder.reason = "use ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s.setTeam(testTeam(), "")
	s.say("go")
	const want = "use [REDACTED:github-token]"
	answered := payloads[projection.PermissionAnswered](t, s.recorder.appended)
	if got := s.messages(); got[1].Content != "the reason: "+want || answered[0].Reason != want {
		t.Errorf("the reply is %q, recorded %+v", got[1].Content, answered)
	}
}
