package team_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestDemoHasTwoAgentsAndAHuman(t *testing.T) {
	loaded := team.Demo()
	if loaded.ID != "demo" || loaded.Source != nil {
		t.Errorf("the team is %q from %v, want demo without a source", loaded.ID, loaded.Source)
	}
	want := []struct{ id, display, kind, engine string }{
		{"planner", "Planner", team.AI, "demo"},
		{"critic", "Critic", team.AI, "demo"},
		{"you", "You", team.Human, "command"},
	}
	if len(loaded.Members) != len(want) {
		t.Fatalf("%d members, want %d", len(loaded.Members), len(want))
	}
	for i, m := range loaded.Members {
		w := want[i]
		if m.ID != w.id || m.Name != w.id || m.DisplayName != w.display || m.Type != w.kind ||
			m.EngineName() != w.engine {
			t.Errorf("member %d is %+v, want %+v", i, m, w)
		}
	}
	if loaded.MaxRounds != 50 || loaded.MaxAgentResponseTime != 30*time.Minute || !loaded.ShowThinkingTimer ||
		!loaded.AllowEscCancel {
		t.Errorf("limits are not the defaults: %+v", loaded)
	}
}

func TestDemoReturnsNewTeam(t *testing.T) {
	team.Demo().Members[0].DisplayName = "changed"
	if got := team.Demo().Members[0].DisplayName; got != "Planner" {
		t.Errorf("display name %q, want Planner", got)
	}
}

func TestEngineNameDefaultsByAgentType(t *testing.T) {
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
		m := team.Member{Engine: test.engine, AgentType: test.agentType}
		if got := m.EngineName(); got != test.want {
			t.Errorf("engine %q of type %q: got %q, want %q", test.engine, test.agentType, got, test.want)
		}
	}
}

// crew returns a team with similar names.
func crew() *team.Team {
	member := func(id, display, kind string) team.Member {
		return team.Member{ID: id, Name: id, DisplayName: display, Type: kind}
	}
	return &team.Team{Members: []team.Member{
		member("code-reviewer", "Ann the Reviewer", team.AI),
		member("ann", "Code_Reviewer", team.Human),
		member("straße", "Ωmega", team.AI),
		member("bob", "Ann", team.Human),
		member("-", "", team.AI),
		{ID: "id-7", Name: "dora", DisplayName: "Dora", Type: team.AI},
	}}
}

func TestMatchIgnoresCaseSpacesHyphensAndUnderscores(t *testing.T) {
	for name, want := range map[string]string{
		"code-reviewer":         "code-reviewer",
		"Code Reviewer":         "code-reviewer", // a name takes precedence over a display name
		"CODE_REVIEWER":         "code-reviewer",
		" codereviewer ":        "code-reviewer",
		"ann-the\u3000REVIEWER": "code-reviewer",
		"ANN":                   "ann",
		"ωMEGA":                 "straße",
		"\u2126mega":            "straße", // the Ohm sign folds to omega
		"STRAßE":                "straße",
		"-":                     "-",
		"ID 7":                  "id-7",
		"Dora":                  "id-7",
	} {
		if m, ok := crew().Match(name); !ok || m.ID != want {
			t.Errorf("%q matches %q (%v), want %q", name, m.ID, ok, want)
		}
	}
}

func TestMatchRejectsOtherNames(t *testing.T) {
	for _, name := range []string{"", " ", "_", "an", "annn", "code.reviewer"} {
		if m, ok := crew().Match(name); ok {
			t.Errorf("%q matches %q, want no match", name, m.ID)
		}
	}
}

func TestMemberRequiresExactID(t *testing.T) {
	if m, ok := crew().Member("bob"); !ok || m.DisplayName != "Ann" {
		t.Errorf("bob is %+v, %v", m, ok)
	}
	if m, ok := crew().Member("Bob"); ok {
		t.Errorf("Bob is %+v, want no match", m)
	}
}

func TestFirstHumanAndFirstAI(t *testing.T) {
	human, _ := crew().FirstHuman()
	ai, _ := crew().FirstAI()
	if human.ID != "ann" || ai.ID != "code-reviewer" {
		t.Errorf("first human %q, first AI %q", human.ID, ai.ID)
	}
	checkEqual(t, "the humans", crew().Humans(), []string{"ann", "bob"})
	empty := &team.Team{}
	if _, ok := empty.FirstHuman(); ok {
		t.Error("a team without members has a human")
	}
	if _, ok := empty.FirstAI(); ok {
		t.Error("a team without members has an AI")
	}
}

func ExampleDemo() {
	loaded := team.Demo()
	critic, _ := loaded.Match("CRITIC")
	fmt.Println(critic.DisplayName, critic.EngineName())
	// Output: Critic demo
}

func checkEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestPermissionsErrorSaysWhatTheEngineLacks(t *testing.T) {
	for value, want := range map[string]string{
		"ask":  "the engine agy cannot ask for permission; it knows allow, deny, read, edit, bypass",
		"yolo": `unknown permissions "yolo"; the engine agy knows allow, deny, read, edit, bypass`,
		"deny": "",
	} {
		got := ""
		if err := (team.Member{Type: team.AI, AgentType: "agy"}).CheckPermissions(value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}
