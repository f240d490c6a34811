package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// newMembers returns the commands for a team in memory.
func newMembers(t *testing.T, of *team.Team) Members {
	t.Helper()
	a := newTestApp(t)
	c := coordinator.New(coordinator.Options{
		Store: &store.Memory{}, Engines: agent.Engines(), NewMember: setup.MemberMaker(a),
		HomeKey: func() []byte { return []byte("key") },
	})
	if err := c.SetTeam(t.Context(), of, coordinator.SetTeamOptions{}); err != nil {
		t.Fatal(err)
	}
	return Members{App: a, C: c}
}

// crew is a team of agents with and without models and permissions.
func crew() *team.Team {
	return &team.Team{ID: "crew", Name: "crew", Members: []team.Member{
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: team.AI, AgentType: "claude", Model: "opus", Permissions: "ask"},
		{ID: "bob", Name: "bob", DisplayName: "Bob", Type: team.AI, AgentType: "codex"},
		{ID: "demo", Name: "demo", DisplayName: "Demo", Type: team.AI, AgentType: "demo"},
		{ID: "you", Name: "you", DisplayName: "You", Type: team.Human},
	}}
}

func memberTexts(t *testing.T) (texts []apptest.Text) {
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	hostile := crew()
	hostile.Members[0].Model, hostile.Members[1].Name, hostile.Members[1].Permissions = apptest.Hostile, apptest.Hostile, apptest.Hostile
	for sample, of := range []*team.Team{crew(), hostile} {
		m := newMembers(t, of)
		name := []string{"", "hostile"}[sample]
		add("modelsText", name, m.modelsText())
		add("modelText", name, m.modelText(of.Members[0]))
		add("permissionsText", name, m.permissionsText())
		add("permissionsOfText", name, permissionsOfText(of.Members[1]))
		add("agentsOfText", name, agentsOfText(of))
		add("noAgentText", name, noAgentText(apptest.Hostile, of.Members[1].Name, of))
	}
	m := newMembers(t, crew())
	if err := errors.Join(m.C.SetModel("ada", "sonnet"), m.C.RemoveMember("bob")); err != nil {
		t.Fatal(err)
	}
	add("modelsText", "changed", m.modelsText())
	add("modelText", "unknown models", m.modelText(crew().Members[1]))
	add("modelText", "no models", m.modelText(crew().Members[2]))
	add("permissionsOfText", "no permissions", permissionsOfText(crew().Members[2]))
	add("unknownAgentText", "", unknownAgentText(apptest.Hostile, "claude", []string{"claude", apptest.Hostile}))
	add("refusedText", "", refusedText(apptest.Hostile, "model", apptest.Hostile, errors.New("is no name of a model")))
	add("mistypedModelText", "", mistypedModelText(apptest.Hostile, apptest.Hostile, apptest.Hostile).Text)
	add("onlyHereText", "", onlyHereText("/add "+apptest.Hostile))
	add("emptyCommandText", "", emptyCommandText("/a/"+apptest.Hostile+".md").Text)
	add("longCommandText", "", longCommandText("/a/"+apptest.Hostile+".md").Text)
	add("agentsText", "", agentsText([]string{"claude", apptest.Hostile}, []string{"codex-acp"}))
	return texts
}

func TestMemberCommands(t *testing.T) {
	m := newMembers(t, crew())
	registered := team.Agent{Name: "own", Command: filepath.Join(m.App.Cwd, "own-agent")}
	if err := team.Register(t.Context(), m.App.Home, registered); err != nil {
		t.Fatal(err)
	}
	type run = func(Members, string) (string, error)
	for _, tt := range []struct {
		run         run
		args, wrong string // a part of the error; "": none
		answer      string // a part of it
	}{
		{Members.Model, "", "", "ada: opus"},
		{Members.Model, "ada sonnet", "", ""},
		{Members.Model, "@ada", "", "ada: sonnet (in the team: opus)"},
		{Members.Model, "ADA default", "", ""},
		{Members.Model, "ada", "", "ada: opus\n"},
		{Members.Model, "bbo opus", "Did you mean bob?", ""},
		{Members.Model, "you opus", "no agent 'you'", ""},
		{Members.Model, "opus", "no agent 'opus'", ""}, // of several agents
		{Members.Model, "demo x", "has no models", ""},
		{Members.Model, "ada --yolo", "must not begin with '-'", ""},
		{Members.Model, "ada two words", "is no name of a model", ""},
		{Members.Permissions, "", "", "bob: unset"},
		{Members.Permissions, "bob edit", "", ""},
		{Members.Permissions, "bob", "", "bob: edit\nIt can have: ask, allow"},
		{Members.Permissions, "bob alow", "Did you mean allow?", ""},
		{Members.Permissions, "bob default", "", ""},
		{Members.Permissions, "demo ask", "has no permissions", ""},
		{Members.Add, "", "", "Agents: "},
		{Members.Add, "cloude", "Did you mean claude?", ""},
		{Members.Add, "own a b", "/add AGENT NAME", ""},
		{Members.Add, "own you", "a member of this name", ""},
		{Members.Add, "own ../x", "may contain only letters", ""},
		{Members.Add, "own", "", ""},
		{Members.Add, "own", "", ""}, // own-2
		{Members.Add, "demo zoe", "", ""},
		{Members.Remove, "", "/remove MEMBER", ""},
		{Members.Remove, "zo", "Did you mean zoe?", ""},
		{Members.Remove, "zoe", "", ""},
		{Members.Remove, "bob", "", ""},
		{Members.Add, "bob", "", ""}, // again, as the team has it
		{Members.Add, "own bob2", "", ""},
	} {
		answer, err := tt.run(m, tt.args)
		wrong := ""
		if err != nil {
			wrong = err.Error()
		}
		if !strings.Contains(wrong, tt.wrong) || tt.wrong == "" && err != nil || !strings.Contains(answer, tt.answer) {
			t.Errorf("%q: %q, %v", tt.args, answer, err)
		}
	}
	var names []string
	for _, member := range m.C.Team().Members {
		names = append(names, member.Name+" "+member.EngineName())
	}
	const want = "ada claude, bob codex, demo demo, own command, own-2 command, bob2 command, you command"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("the members are %s, want %s", got, want)
	}
	added, _ := m.C.Team().Member("own")
	if added.BaseDir != m.App.Cwd || added.Command != registered.Command {
		t.Errorf("added is %+v", added)
	}
}

// The name of the only agent may be missing.
func TestModelOfTheOnlyAgent(t *testing.T) {
	one := crew()
	one.Members = append(one.Members[:1], one.Members[3])
	m := newMembers(t, one)
	if _, err := m.Model("sonnet"); err != nil || m.C.Team().Members[0].Model != "sonnet" {
		t.Errorf("%+v, %v", m.C.Team().Members[0], err)
	}
}

// Of a person who may be elsewhere, no command lets an agent do more, or run.
func TestRemoteCommandsOnlyRestrict(t *testing.T) {
	m := newMembers(t, crew())
	m.Remote = true
	for _, args := range []string{"ada allow", "ada bypass", "ada edit"} {
		if _, err := m.Permissions(args); err == nil {
			t.Errorf("/permissions %s was not refused", args)
		}
	}
	if _, err := m.Add("demo"); err == nil {
		t.Error("/add was not refused")
	}
	if _, err := m.Permissions("ada read"); err != nil {
		t.Error(err)
	}
}

// A file with instructions in the working directory may be a link to any file.
func TestAddedMemberReadsNoInstructionsElsewhere(t *testing.T) {
	for _, of := range []*team.Team{crew(), team.Demo()} {
		m := newMembers(t, of)
		secret := filepath.Join(t.TempDir(), "id_rsa")
		err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, filepath.Join(m.App.Cwd, "CLAUDE.md")))
		programtest.SkipOnWindows(t, err)
		if _, err := m.Add("claude checker"); err != nil {
			t.Fatal(err)
		}
		added, _ := m.C.Team().Member("checker")
		if _, text, err := m.C.Team().Instructions(added); err == nil || text != "" {
			t.Errorf("of %s it reads %q, %v", of.Name, text, err)
		}
	}
}
