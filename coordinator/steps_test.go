package coordinator_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// order lists the texts, tools and plans of a session.
func order(t *testing.T, d *disk, id string) (found []string) {
	t.Helper()
	for _, e := range d.events(id) {
		p, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case projection.TurnText:
			found = append(found, p.Text)
		case projection.ToolStarted:
			found = append(found, "tool "+p.ToolID)
		case projection.PlanUpdated:
			found = append(found, fmt.Sprintf("plan %v %d", p.Entries, p.More))
		}
	}
	return found
}

func TestTextIsRecordedBeforeToolsAndPlans(t *testing.T) {
	d := onDisk(t, 0)
	plan := func(status string) agent.Plan {
		return agent.Plan{Entries: []agent.PlanEntry{{Content: "look", Status: status, Priority: "high"}}}
	}
	s := start(t, d, yields(nil,
		agent.Text{Text: "First"}, agent.Text{Text: " I look. "}, agent.ToolStarted{ID: "c1", Name: "grep"},
		agent.ToolStarted{ID: "c2", Name: "grep"}, agent.Text{Text: "Then I plan. "}, plan("in_progress"),
		plan("in_progress"), agent.Text{Text: "Then I end. "}, plan("completed"), agent.Text{Text: "Done."}))
	s.say("do it")
	checkEqual(t, "the order", order(t, d, s.Session().ID), []string{
		"First I look. ", "tool c1", "tool c2", "Then I plan. ", "plan [{look in_progress high}] 0",
		"Then I end. ", "plan [{look completed high}] 0",
	})
	checkEqual(t, "the messages", d.messages(s.Session().ID), []string{
		"you: do it", "ada: First I look. Then I plan. Then I end. Done.",
	})
	s.say("and now?")
	if strings.Contains(s.engine.prompt(), "in_progress") {
		t.Errorf("a plan is in the prompt:\n%s", s.engine.prompt())
	}
}

// The text before a tool may end in a part of a secret.
func TestPartOfASecretBeforeAToolIsNotRecorded(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "shell-token-4711")
	d := onDisk(t, 0)
	s := start(t, d, yields(nil, agent.Text{Text: "it is shell-token-"}, agent.ToolStarted{ID: "c1", Name: "grep"},
		agent.Text{Text: "4711, ok"}))
	s.say("do it")
	checkEqual(t, "the order", order(t, d, s.Session().ID), []string{
		"it is [REDACTED:DEPLOY_TOKEN]", "tool c1",
	})
}

func TestPlansAreBoundedAndValid(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "shell-token-4711")
	d := onDisk(t, 0)
	entries := make([]agent.PlanEntry, 130)
	for i := range entries {
		entries[i] = agent.PlanEntry{Content: strings.Repeat("壶", 1000), Status: "cancelled", Priority: "urgent"}
	}
	entries[0].Content = "use shell-token-4711\xff"
	s := start(t, d, yields(nil, agent.Plan{}, agent.Plan{Entries: entries}, agent.Text{Text: "Done."}))
	s.say("do it")
	events := d.events(s.Session().ID)
	plans := payloads[projection.PlanUpdated](t, events)
	if len(plans) != 1 || len(plans[0].Entries) != 100 || plans[0].More != 30 {
		t.Fatalf("recorded %d plans, %d entries and %d more", len(plans), len(plans[0].Entries), plans[0].More)
	}
	checkEqual(t, "the first entry", plans[0].Entries[0], projection.PlanEntry{
		Content: "use [REDACTED:DEPLOY_TOKEN]\uFFFD", Status: projection.Pending,
	})
	if n := len(plans[0].Entries[1].Content); n != 498 {
		t.Errorf("an entry has %d bytes", n)
	}
	for _, e := range events {
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			t.Error(err)
		}
	}
}

func TestEventsOfOddAgentsAreValid(t *testing.T) {
	for name, event := range map[string]agent.Event{
		"negative tokens": agent.Usage{Input: -1, CachedRead: -2, CachedWrite: -3, Output: -4, Thought: -5, Context: -6, Window: 9},
		"a negative cost": agent.Usage{Cost: &agent.Cost{Amount: -1, Currency: "USD"}},
		"no number":       agent.Usage{Cost: &agent.Cost{Amount: math.NaN(), Currency: "USD"}},
		"infinity":        agent.Usage{Cost: &agent.Cost{Amount: math.Inf(1), Currency: "USD"}},
		"a long currency": agent.Usage{Cost: &agent.Cost{Amount: 1, Currency: "dollars"}},
		"an exponent":     agent.ToolStarted{ID: "c1", Name: "grep", Input: json.RawMessage(`{"n":1e999}`)},
		"many digits":     agent.ToolStarted{ID: "c1", Name: "grep", Input: json.RawMessage(strings.Repeat("9", 400))},
		"deep nesting": agent.ToolStarted{
			ID: "c1", Input: json.RawMessage(strings.Repeat("[", 3e4) + strings.Repeat("]", 3e4)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := onDisk(t, 0)
			s := start(t, d, yields(nil, event, agent.Text{Text: "ok"}))
			s.say("hello")
			checkEqual(t, "the messages", d.messages(s.Session().ID), []string{"you: hello", "ada: ok"})
			for _, e := range d.events(s.Session().ID) {
				if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
					t.Errorf("%.300s\n%v", e.Line(), err)
				}
			}
		})
	}
}

func TestUsageIsRecordedWithItsCost(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d, yields(nil, agent.Text{Text: "ok"}, agent.Usage{
		Input: 1, CachedRead: 2, CachedWrite: 3, Output: 4, Thought: 5, Cost: &agent.Cost{Amount: 0.25, Currency: "EUR"},
		Context: 6, Window: 7,
	}))
	s.say("hello")
	checkEqual(t, "the usage", s.lastEnd().Usage, &projection.Usage{
		Input: 1, CachedRead: 2, CachedWrite: 3, Output: 4, Thought: 5,
		Cost: &projection.Cost{Amount: 0.25, Currency: "EUR"}, Context: 6, Window: 7,
	})
	s.say("again")
	checkEqual(t, "the sums", s.Session().Stats.Usage, projection.Totals{
		Input: 1, CachedRead: 2, CachedWrite: 3, Output: 4, Thought: 5, Costs: map[string]float64{"EUR": 0.25},
	})
}

func TestTheHashOfEachPromptIsRecorded(t *testing.T) {
	s := start(t, onDisk(t, 0), says("ok"), yields(context.DeadlineExceeded))
	for _, text := range []string{"hello", "again"} {
		_ = s.Say(t.Context(), "you", text)
		want := fmt.Sprintf("%x", sha256.Sum256([]byte(s.engine.prompt())))
		if got := s.lastEnd().PromptSHA256; got != want {
			t.Errorf("%s: the hash is %q, not %q", text, got, want)
		}
	}
}

func TestLimitsOfTurnsAreRecorded(t *testing.T) {
	d := onDisk(t, 0)
	s := newFixture(t, d)
	o := s.options(d)
	o.MaxRounds = 7
	team := testTeam()
	team.MaxRounds = 3
	s.Coordinator = coordinator.New(o)
	s.setTeam(team, "")
	s.say("hello")
	id := s.stop()
	checkEqual(t, "at first", payloads[projection.SessionCreated](t, d.events(id))[0].Limits,
		projection.Limits{MaxRounds: 3, MaxRunRounds: 7})
	s = newFixture(t, d)
	team.MaxRounds = 0
	s.setTeam(team, id)
	s.say("again")
	checkEqual(t, "later", payloads[projection.SessionResumed](t, d.events(id))[0].Limits, projection.Limits{})
}

func TestInterruptedTurnWithAMessageIsDone(t *testing.T) {
	stored := &store.Memory{}
	speaker := func(id, kind string) projection.Speaker {
		return projection.Speaker{ID: id, Name: id, DisplayName: id, Type: kind}
	}
	id := writeSession(t, stored,
		projection.NewMessage("m1", noon, speaker("you", projection.TypeHuman), "go", nil),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m1"},
		projection.TurnText{TurnID: "t1", Text: "ok"},
		projection.NewMessage("m2", noon, speaker("ada", projection.TypeAI), "ok", nil),
	)
	s := resume(t, stored, id)
	if interrupted := s.Session().Interrupted; len(interrupted) > 0 {
		t.Errorf("%s is interrupted", interrupted)
	}
	s.say("more")
	end := payloads[projection.TurnEnded](t, s.recorder.appended)[0]
	if end.TurnID != "t1" || end.FinishReason != projection.Done || end.Partial != "" {
		t.Errorf("the turn ended as %+v", end)
	}
}

func TestChangedInstructionsAreNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "AGENTS.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	team := testTeam()
	team.Members[0].InstructionFile = file
	stored := &store.Memory{}
	s := newFixture(t, stored)
	s.setTeam(team, "")
	s.say("no file yet", "the same")
	write("be brief")
	s.say("a file")
	id := s.stop()
	if n := s.recorder.count("notice InstructionsChanged Ada"); n != 1 {
		t.Errorf("notified %q", s.recorder.lines)
	}

	s = newFixture(t, stored)
	s.setTeam(team, id)
	s.say("the same")
	first := s.lastEnd().Instructions
	if n := s.recorder.count("notice InstructionsChanged"); n != 0 || len(first) != 64 {
		t.Errorf("notified %q, recorded %q", s.recorder.lines, first)
	}
	write("be kind")
	s.say("another", "that")
	if n := s.recorder.count("notice InstructionsChanged Ada"); n != 1 || s.lastEnd().Instructions == first {
		t.Errorf("notified %q", s.recorder.lines)
	}
	s.say("[NEXT: bob]")
	if n := s.recorder.count("notice InstructionsChanged"); n != 1 {
		t.Errorf("notified %q of a member without an earlier turn", s.recorder.lines)
	}
}

func TestLongerPlanIsRecordedAgain(t *testing.T) {
	d := onDisk(t, 0)
	plan := func(entries int) agent.Plan { return agent.Plan{Entries: make([]agent.PlanEntry, entries)} }
	s := start(t, d, yields(nil, plan(101), plan(102), plan(102), agent.Text{Text: "ok"}))
	s.say("do it")
	if plans := payloads[projection.PlanUpdated](t, d.events(s.Session().ID)); len(plans) != 2 || plans[1].More != 2 {
		t.Errorf("recorded %d plans", len(plans))
	}
}

func TestDefaultLimitIsNotifiedNearItsEnd(t *testing.T) {
	s := newFixture(t, &store.Memory{})
	for range 60 {
		s.engine.then(says("again [NEXT: ada]"))
	}
	crew := testTeam()
	crew.MaxRounds = team.DefaultMaxRounds
	s.setTeam(crew, "")
	s.say("go")
	if n := s.recorder.count("notice Round Ada"); n != coordinator.LastRounds || len(s.engine.members()) != 50 {
		t.Errorf("%d turns, notified of %d", len(s.engine.members()), n)
	}
}
