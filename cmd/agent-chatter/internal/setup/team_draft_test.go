package setup

import (
	"reflect"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestPlainNames(t *testing.T) {
	for name, want := range map[string]string{
		"azAZ09_-b":     "azAZ09_-b",
		"My Team.v2":    "My-Team-v2",
		"-.team. ":      "team",
		"a@[`{/:é\x00b": "ab",
		"チーム":           "fallback",
		"":              "fallback",
		"..":            "fallback",
		"_-!_":          "fallback",
		"_a_":           "_a_",
	} {
		if got := plainName(name, "fallback"); got != want {
			t.Errorf("plainName(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestMembersOfTeams(t *testing.T) {
	registered := []team.Agent{{Name: "own", Command: "opencode", Args: []string{"acp"}}, {Name: "tool", Command: "tool"}}
	for _, tt := range []struct {
		agents, human string
		want          string // name, display name, engine and type of each member
	}{
		{"claude", "mia", "claude Claude Code  claude, mia Mia  "},
		{"claude", "Claude", "claude Claude Code  claude, Claude-human Claude-human  "},
		{"own", "you", "own Own acp own, you You  "},
		{"tool", "you", "tool Tool  tool, you You  "},
		{"opencode", "you", "opencode OpenCode acp opencode, you You  "},
		{"other.agent", "you", "other-agent Other.agent  other.agent, you You  "},
		{"claude claude", "you", ""},
		{"demo demo", "you", ""},
		{"", "éva", "éva Éva  "},
	} {
		members, err := draft{agents: strings.Fields(tt.agents), human: tt.human, registered: registered}.members()
		var all []string
		for i, m := range members {
			all = append(all, strings.Join([]string{m.Name, m.DisplayName, m.Engine, m.AgentType}, " "))
			if human := i == len(members)-1; human != (m.Type == team.Human) || human != (m.Role == "human") {
				t.Errorf("%s: %s is a %s in the role %s", tt.agents, m.Name, m.Type, m.Role)
			}
		}
		if got := strings.Join(all, ", "); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v, want %q", tt.agents, got, err, tt.want)
		}
	}
}

// The agents take the roles in turn. What a role may not do its member may not, if its engine knows that.
func TestMembersOfTemplates(t *testing.T) {
	for _, tt := range []struct{ template, agents, human, want string }{
		{"solo", "claude codex", "mia", "claude claude ask, mia"},
		{"pair", "claude codex", "mia", "builder claude ask, reviewer codex read, mia"},
		{"pair", "claude", "Reviewer", "builder claude ask, reviewer claude read, Reviewer-human"},
		{"pair", "demo", "mia", "builder demo , reviewer demo , mia"},
		{"plan-and-work", "codex claude gemini", "mia", "planner codex read, worker claude ask, mia"},
		{"pair", "", "mia", "mia"},
		{"panel", "claude codex", "mia", "claude claude read, codex codex read, mia"},
		{"panel", "claude", "mia", "claude claude read, claude-2 claude read, mia"},
		{"panel", "claude codex gemini demo", "mia", "claude claude read, codex codex read, gemini gemini read, mia"},
		{"panel", "demo", "mia", "planner demo , critic demo , mia"},
	} {
		d := draft{agents: strings.Fields(tt.agents), human: tt.human, permissions: "ask", template: templateOf(tt.template)}
		members, err := d.members()
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
		var all []string
		for i, m := range members {
			if i == len(members)-1 {
				all = append(all, m.Name)
				continue
			}
			all = append(all, strings.Join([]string{m.Name, m.AgentType, m.Permissions}, " "))
			if strings.Contains(m.SystemInstruction, "HUMAN") || (m.SystemInstruction == "") != (tt.template == "solo") {
				t.Errorf("%+v: the instruction of %s is %q", tt, m.Name, m.SystemInstruction)
			}
		}
		if got := strings.Join(all, ", "); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

func TestFirstMessageToAPanel(t *testing.T) {
	d := draft{agents: []string{"claude", "codex", "gemini"}, human: "mia", template: templateOf("panel")}
	members, err := d.members()
	if err != nil {
		t.Fatal(err)
	}
	if got := d.template.firstMessage(members); !strings.HasSuffix(got, "? [NEXT: claude | codex | gemini]") {
		t.Errorf("it is %q", got)
	}
	if got := templateOf("pair").firstMessage(members); got != "" {
		t.Errorf("the one to a pair is %q", got)
	}
	if got := (*template)(nil).firstMessage(members); got != "" {
		t.Errorf("without a template it is %q", got)
	}
}

func TestHelpNamesEachTemplate(t *testing.T) {
	field, _ := reflect.TypeFor[teamInit]().FieldByName("Template")
	var names []string
	for _, t := range templates {
		names = append(names, t.name)
	}
	if got, want := field.Tag.Get("enum"), strings.Join(names, ","); got != want {
		t.Errorf("--template takes %s, not %s", got, want)
	}
}
