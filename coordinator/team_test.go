package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
)

func TestDemoTeamHasTwoAgentsThatNeedNothingAndAHuman(t *testing.T) {
	team := coordinator.DemoTeam()
	if team.ID != "demo" || team.Source != nil {
		t.Errorf("the team is %q from %v, want demo from nowhere", team.ID, team.Source)
	}
	want := []struct{ id, display, kind, engine string }{
		{"planner", "Planner", coordinator.MemberAI, "demo"},
		{"critic", "Critic", coordinator.MemberAI, "demo"},
		{"you", "You", coordinator.MemberHuman, "command"},
	}
	if len(team.Members) != len(want) {
		t.Fatalf("%d members, want %d", len(team.Members), len(want))
	}
	for i, m := range team.Members {
		w := want[i]
		if m.ID != w.id || m.Name != w.id || m.DisplayName != w.display || m.Type != w.kind || m.EngineName() != w.engine {
			t.Errorf("member %d is %+v, want %+v", i, m, w)
		}
	}
	if team.MaxRounds != 0 || team.MaxAgentResponseTime != 30*time.Minute || !team.ShowThinkingTimer || !team.AllowEscCancel {
		t.Errorf("limits are not the defaults: %+v", team)
	}
}

func TestEveryCallerGetsADemoTeamOfItsOwn(t *testing.T) {
	coordinator.DemoTeam().Members[0].DisplayName = "changed"
	if got := coordinator.DemoTeam().Members[0].DisplayName; got != "Planner" {
		t.Errorf("display name %q, want Planner", got)
	}
}

func TestEngineIsNamedElseFollowsFromTheAgentType(t *testing.T) {
	for _, test := range []struct{ engine, agentType, want string }{
		{"", "demo", "demo"},
		{"", "anything", "command"},
		{"", "Demo", "command"},
		{"", "claude", "claude"},
		{"", "claude-code", "claude"},
		{"", "codex", "codex"},
		{"", "gemini", "gemini"},
		{"", "gemini-cli", "gemini"},
		{"", "openai", "openai"},
		{"codex", "claude", "codex"},
		{"command", "claude", "command"},
		{"command", "demo", "command"},
		{"demo", "anything", "demo"},
	} {
		m := coordinator.Member{Engine: test.engine, AgentType: test.agentType}
		if got := m.EngineName(); got != test.want {
			t.Errorf("engine %q of type %q: got %q, want %q", test.engine, test.agentType, got, test.want)
		}
	}
}

// crew is a team whose names are hard to tell apart.
func crew() *coordinator.Team {
	member := func(id, display, kind string) coordinator.Member {
		return coordinator.Member{ID: id, Name: id, DisplayName: display, Type: kind}
	}
	return &coordinator.Team{Members: []coordinator.Member{
		member("code-reviewer", "Ann the Reviewer", coordinator.MemberAI),
		member("ann", "Code_Reviewer", coordinator.MemberHuman),
		member("straße", "Ωmega", coordinator.MemberAI),
		member("bob", "Ann", coordinator.MemberHuman),
		member("-", "", coordinator.MemberAI),
	}}
}

func TestMatchIgnoresCaseSpacesHyphensAndUnderscores(t *testing.T) {
	for name, want := range map[string]string{
		"code-reviewer":         "code-reviewer",
		"Code Reviewer":         "code-reviewer", // a name before the display name of another
		"CODE_REVIEWER":         "code-reviewer",
		" codereviewer ":        "code-reviewer",
		"ann-the\u3000REVIEWER": "code-reviewer",
		"ANN":                   "ann",
		"ωMEGA":                 "straße",
		"\u2126mega":            "straße", // the Ohm sign is an omega in another case
		"STRAßE":                "straße",
		"-":                     "-",
	} {
		if m, ok := crew().Match(name); !ok || m.ID != want {
			t.Errorf("%q matches %q (%v), want %q", name, m.ID, ok, want)
		}
	}
}

func TestMatchFindsNobodyForOtherNames(t *testing.T) {
	for _, name := range []string{"", " ", "_", "an", "annn", "code.reviewer"} {
		if m, ok := crew().Match(name); ok {
			t.Errorf("%q matches %q, want nobody", name, m.ID)
		}
	}
}

func TestMemberIsFoundByItsExactIDOnly(t *testing.T) {
	if m, ok := crew().Member("bob"); !ok || m.DisplayName != "Ann" {
		t.Errorf("bob is %+v, %v", m, ok)
	}
	if m, ok := crew().Member("Bob"); ok {
		t.Errorf("Bob is %+v, want nobody", m)
	}
}

func TestFirstHumanAndFirstAIAreTheFirstOfTheirType(t *testing.T) {
	human, _ := crew().FirstHuman()
	ai, _ := crew().FirstAI()
	if human.ID != "ann" || ai.ID != "code-reviewer" {
		t.Errorf("first human %q, first AI %q", human.ID, ai.ID)
	}
	empty := &coordinator.Team{}
	if _, ok := empty.FirstHuman(); ok {
		t.Error("a team without members has a human")
	}
	if _, ok := empty.FirstAI(); ok {
		t.Error("a team without members has an AI")
	}
}

func ExampleDemoTeam() {
	team := coordinator.DemoTeam()
	critic, _ := team.Match("CRITIC")
	fmt.Println(critic.DisplayName, critic.EngineName())
	// Output: Critic demo
}
