package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func reported(n int64) agent.Usage { return agent.Usage{Output: n} }

func dollars(amount float64) agent.Usage {
	return agent.Usage{Input: 1, Cost: &agent.Cost{Amount: amount, Currency: "USD"}}
}

// uses returns a turn that replies and then reports what it used.
func uses(u agent.Usage, then ...agent.Event) turnFunc {
	return yields(nil, append([]agent.Event{agent.Text{Text: "ok"}, u}, then...)...)
}

// startWithin returns a coordinator of a team with a budget, without a session.
func startWithin(t *testing.T, s store.Store, b team.Budget, script ...turnFunc) *fixture {
	t.Helper()
	f := newFixture(t, s, script...)
	members := without(without(testTeam(), "eve"), "bob")
	members.Budget = b
	f.setTeam(members, "")
	return f
}

// limit sets a limit of the session.
func (s *fixture) limit(name string, most float64) {
	s.t.Helper()
	if err := s.SetLimit(name, &most); err != nil {
		s.t.Fatal(err)
	}
}

// refused checks that a message starts no turn, because of a limit.
func (s *fixture) refused(limit string) *coordinator.BudgetError {
	s.t.Helper()
	turns := len(s.engine.members())
	err := s.Say(context.Background(), "", "more")
	var refused *coordinator.BudgetError
	if !errors.As(err, &refused) || refused.Bound.Name() != limit || len(s.engine.members()) != turns {
		s.t.Fatalf("the error is %v after %d turns, want one of %s after %d", err, len(s.engine.members()), limit, turns)
	}
	return refused
}

func TestBudgetOfASession(t *testing.T) {
	for _, test := range []struct {
		limit string
		team.Limit
		used agent.Usage
		want string
	}{
		{"session.turns", team.Limit{Turns: 2}, agent.Usage{}, "2 of 2 turns used in this session"},
		{"session.tokens", team.Limit{Tokens: 20}, reported(10), "20 of 20 tokens used in this session"},
		{"session.cost", team.Limit{Cost: 0.5}, dollars(0.375), "0.75 of 0.50 USD used in this session"},
	} {
		t.Run(test.limit, func(t *testing.T) {
			memory := new(store.Memory)
			s := startWithin(t, memory, team.Budget{Session: test.Limit}, uses(test.used), uses(test.used))
			s.say("one", "two")
			e := s.refused(test.limit)
			if !strings.Contains(e.Error(), test.want) || strings.Join(e.Hint().Argv, " ") == "" {
				t.Errorf("the error is %v, with %v", e, e.Hint())
			}
			if n := s.recorder.count("notice BudgetNear"); n != 1 && test.limit != "session.turns" {
				t.Errorf("%d notices:\n%s", n, strings.Join(s.recorder.lines, "\n"))
			}
			drops := payloads[projection.QueueChanged](t, s.recorder.appended)
			if len(drops) == 0 || drops[len(drops)-1].Changes[0].Reason != "the budget is used up" {
				t.Errorf("recorded: %+v", drops)
			}
			limits := payloads[projection.SessionCreated](t, s.recorder.appended)[0].Limits.Budget
			if len(limits) != 1 || limits[test.limit] == 0 {
				t.Errorf("recorded limits: %v", limits)
			}
		})
	}
}

// Resuming a session, and another run of the program, do not begin at zero.
func TestBudgetHoldsAfterAResume(t *testing.T) {
	bothStores(t, func(t *testing.T, both store.Store) {
		s := startWithin(t, both, team.Budget{Session: team.Limit{Turns: 1}})
		s.say("one")
		id, members := s.stop(), s.Team()
		s = newFixture(t, both)
		s.setTeam(members, id)
		s.refused("session.turns")
		s.limit("session.turns", 2)
		s.say("two")
		s.refused("session.turns")
		recorded := payloads[projection.SessionResumed](t, s.recorder.appended)[0].Limits.Budget
		if recorded["session.turns"] != 1 {
			t.Errorf("recorded limits: %v", recorded)
		}
		s.limit("session.turns", 0)
		s.say("three")
	})
}

func TestBudgetOfAMessage(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Message: team.Limit{Turns: 2}},
		says("one [NEXT: ada]"), says("two [NEXT: ada]"))
	err := s.Say(t.Context(), "", "hello")
	if e, ok := errors.AsType[*coordinator.BudgetError](err); !ok || e.Used != 2 {
		t.Fatalf("the error is %v", err)
	}
	s.say("and again") // the limit is that of one message
	if n := len(s.engine.members()); n != 3 || s.Status().Phase != coordinator.Paused {
		t.Errorf("%d turns, %+v", n, s.Status())
	}
}

func TestLowerLimitHolds(t *testing.T) {
	s := newFixture(t, new(store.Memory))
	o := s.options(new(store.Memory))
	o.Budget.Home = team.Budget{Session: team.Limit{Turns: 1, Cost: 3}}
	s.Coordinator = coordinator.New(o)
	members := testTeam()
	members.Budget = team.Budget{Session: team.Limit{Turns: 5, Cost: 2}}
	s.setTeam(members, "")
	want := "[session.turns=1 session.cost=2]"
	if got := fmt.Sprint(s.Bounds()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is unknown is not 0: it is said, and the number of turns holds.
func TestBudgetOfUnknownUsage(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Session: team.Limit{Turns: 3, Tokens: 10, Cost: 1}},
		uses(agent.Usage{}), uses(reported(1)))
	s.say("one", "two", "three")
	s.refused("session.turns")
	for _, want := range []string{"notice BudgetUnknown session.tokens=10 1", "notice BudgetUnknown session.cost=1 1"} {
		if s.recorder.count(want) != 1 {
			t.Errorf("not once %s:\n%s", want, strings.Join(s.recorder.lines, "\n"))
		}
	}
}

func TestTurnThatPassesALimitIsStopped(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Session: team.Limit{Tokens: 10}},
		uses(reported(10)), uses(reported(5), agent.ToolStarted{ID: "t", Name: "Bash"}, agent.Text{Text: "never"}))
	s.limit("session.tokens", 12)
	s.say("one")
	err := s.Say(t.Context(), "", "two")
	e := turnError(t, err, "ada", projection.Failed)
	if !strings.Contains(e.Message, "the turn is stopped: 15 of 12 tokens") || s.recorder.streamed.String() != "okok" {
		t.Errorf("the error is %s, the reply %s", e.Message, s.recorder.streamed.String())
	}
	if end := s.lastEnd(); end.Usage == nil || end.Usage.Output != 5 || end.Partial != "ok" {
		t.Errorf("recorded: %+v", end)
	}
	s.refused("session.tokens")
}

// An agent that reports what it used when it is done has done what was asked.
func TestTurnThatEndsBeyondALimitIsDone(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Message: team.Limit{Tokens: 10}},
		uses(reported(500), agent.Point{ID: "p"}))
	s.say("one")
	if end := s.lastEnd(); end.FinishReason != projection.Done {
		t.Errorf("recorded: %+v", end)
	}
}

func TestDayWithoutACountIsRefused(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Day: team.Limit{Turns: 10}})
	if err := s.Say(t.Context(), "", "one"); err == nil || len(s.engine.members()) > 0 {
		t.Errorf("%v after %d turns", err, len(s.engine.members()))
	}
}

func TestSummaryIsRefusedWithinABudget(t *testing.T) {
	s := startWithin(t, new(store.Memory), team.Budget{Session: team.Limit{Turns: 1}})
	s.say("one")
	if err := s.Summarize(t.Context(), "ada", ""); !errors.As(err, new(*coordinator.BudgetError)) {
		t.Errorf("the error is %v", err)
	}
}

// memoryDay counts a day for some coordinators, with a clock of its own.
type memoryDay struct {
	now, highest int // days
	spent        projection.Spent
}

func (d *memoryDay) Begin(
	_ context.Context, turns int, bounds []team.Bound,
) (spent projection.Spent, day string, err error) {
	if d.now > d.highest {
		d.highest, d.spent = d.now, projection.Spent{}
	}
	spent = d.spent
	if e := coordinator.Reached(bounds, spent, 1); e != nil {
		return spent, fmt.Sprint(d.highest), e
	}
	d.spent.Turns += turns
	return spent, fmt.Sprint(d.highest), nil
}

func (d *memoryDay) Add(used *projection.Usage) error {
	d.spent.Add(used)
	return nil
}

// ledger knows what the turns of a schedule used, by what they used it for.
type ledger struct {
	bounds []team.Bound
	spent  map[string]projection.Spent
	day    string
}

func (l *ledger) key(per, session string) string {
	switch per {
	case team.PerDay:
		return per + l.day
	case team.PerSession:
		return per + session
	}
	return per
}

// engine starts turns that use something random, and checks that none starts beyond a limit.
type spendingEngine struct {
	t       *rapid.T
	l       *ledger
	session string
	begins  func()
}

func (e *spendingEngine) Run(_ context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		e.begins()
		for _, b := range e.l.bounds {
			spent := e.l.spent[e.l.key(b.Per, e.session)]
			if used, _, _ := b.Used(spent); used >= b.Most {
				e.t.Fatalf("a turn starts with %v of %v %s", used, b.Most, b.Name())
			}
		}
		var used agent.Usage
		switch rapid.IntRange(0, 3).Draw(e.t, "reports") {
		case 0:
		case 1:
			used = reported(rapid.Int64Range(1, 40).Draw(e.t, "tokens"))
		default:
			used = dollars(float64(rapid.IntRange(0, 8).Draw(e.t, "cost")) / 4)
		}
		for _, per := range []string{team.PerMessage, team.PerSession, team.PerDay} {
			key := e.l.key(per, e.session)
			spent := e.l.spent[key]
			spent.Turns++
			recorded := &projection.Usage{Input: used.Input, Output: used.Output}
			if used.Cost != nil {
				recorded.Cost = &projection.Cost{Amount: used.Cost.Amount, Currency: "USD"}
			}
			spent.Add(recorded)
			e.l.spent[key] = spent
		}
		next := rapid.SampledFrom([]string{"ok", "ok [NEXT: ada]", "ok [NEXT: ada]"}).Draw(e.t, "next")
		if used != (agent.Usage{}) && !yield(used, nil) {
			return
		}
		if rapid.IntRange(0, 5).Draw(e.t, "fails") == 0 {
			yield(nil, errors.New("it failed"))
			return
		}
		yield(agent.Text{Text: next}, nil)
	}
}

// At full size, 10,000 schedules are tried.
func TestNoTurnStartsBeyondALimit(t *testing.T) {
	schedules := 5
	if sizetest.Full() {
		schedules = 100
	}
	propertytest.Check(t, func(t *rapid.T) {
		for range schedules {
			checkSchedule(t)
		}
	})
}

// checkSchedule runs turns in some sessions of a team with a random budget, while the clock is set forward and back.
func checkSchedule(t *rapid.T) {
	limit := func(name string) (l team.Limit) {
		if rapid.Bool().Draw(t, name) {
			l.Turns = rapid.Int64Range(0, 6).Draw(t, name+".turns")
			l.Tokens = rapid.Int64Range(0, 100).Draw(t, name+".tokens")
			l.Cost = float64(rapid.IntRange(0, 12).Draw(t, name+".cost")) / 4
		}
		return l
	}
	members := without(without(testTeam(), "eve"), "bob")
	members.Budget = team.Budget{Message: limit("message"), Session: limit("session"), Day: limit("day")}
	l := &ledger{bounds: members.Budget.Bounds(), spent: map[string]projection.Spent{}}
	day, memory := &memoryDay{now: 10, highest: 10}, new(store.Memory)
	var sessions []string
	begin := func(id string) *coordinator.Coordinator {
		e := &spendingEngine{t: t, l: l, session: id}
		c := coordinator.New(coordinator.Options{
			Store: memory, Engines: map[string]agent.Engine{"scripted": e}, Budget: coordinator.Budget{Day: day},
		})
		e.begins = func() { e.session, l.day = c.Session().ID, fmt.Sprint(day.highest) }
		if err := c.SetTeam(context.Background(), members, coordinator.SetTeamOptions{ResumeSessionID: id}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := begin("")
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			if s := c.Session(); s != nil {
				sessions = append(sessions, s.ID)
			}
			_ = c.Stop("end")
			c = begin(rapid.SampledFrom(append([]string{""}, sessions...)).Draw(t, "session"))
			l.spent[team.PerMessage] = projection.Spent{} // the next step is not Retry: the queue is empty
			_ = c.Say(context.Background(), "", "hello")
		case 1:
			day.now += rapid.IntRange(-3, 1).Draw(t, "days")
		case 2:
			_ = c.Retry(context.Background())
		default:
			l.spent[team.PerMessage] = projection.Spent{}
			_ = c.Say(context.Background(), "", "hello")
		}
	}
	_ = c.Stop("end")
}
