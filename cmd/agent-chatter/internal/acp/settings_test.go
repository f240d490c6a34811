package acp

import (
	"maps"
	"slices"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// crew has members of several engines.
func crew() *team.Team {
	return &team.Team{Name: "crew", MaxRounds: 7, Members: []team.Member{
		{ID: "you", Type: team.Human},
		{ID: "ada", DisplayName: "Ada", Type: team.AI, Engine: "acp", Model: "m1", Permissions: agent.Ask},
		{ID: "bob", DisplayName: "Bob", Type: team.AI, Engine: "claude"},
		{ID: "eve", DisplayName: "Eve", Type: team.AI, Engine: "demo"},
	}}
}

// offered returns the values of an option, the current one first.
func offered(all []sdk.SessionConfigOption, id string) (values []string) {
	for _, o := range all {
		if string(o.Select.Id) != id {
			continue
		}
		values = []string{string(o.Select.CurrentValue)}
		for _, v := range *o.Select.Options.Ungrouped {
			values = append(values, string(v.Value))
		}
	}
	return values
}

func TestOptionsOfATeam(t *testing.T) {
	others := []team.Member{
		{Type: team.AI, Engine: "acp", Model: "m2"}, {Type: team.AI, Engine: "claude", Model: "opus"},
	}
	all := (optionChoices{}).Options(crew(), optionOffers{Team: "crew", Teams: []string{"demo", "crew"}, Models: others})
	for id, want := range map[string][]string{
		teamOption:  {"crew", "crew", "demo"},
		"model:ada": {"m1", "m1", "m2"},
		"model:bob": {"default", "default", "opus"},
		"model:eve": nil,
		rounds:      {"7", "1", "2", "3", "5", "7", "10", "20", "50", "100", "0"},
		permissions: {"team", "team", "ask", "allow", "deny", agent.ReadOnly, agent.Edit, agent.Bypass},
	} {
		if got := offered(all, id); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for _, o := range all {
		current := o.Select.CurrentValue
		if !slices.ContainsFunc(*o.Select.Options.Ungrouped, func(v sdk.SessionConfigSelectOption) bool {
			return v.Value == current
		}) {
			t.Errorf("%s is not a value of %s", current, o.Select.Id)
		}
	}
}

func TestOptionsOfTheDemo(t *testing.T) {
	all := (optionChoices{}).Options(team.Demo(), optionOffers{Team: "demo"})
	if len(all) != 2 || offered(all, teamOption) == nil || offered(all, rounds) == nil {
		t.Errorf("the options are %+v", all)
	}
	one := crew()
	one.Members = one.Members[:2]
	if offered((optionChoices{}).Options(one, optionOffers{Team: "crew"}), "model") == nil {
		t.Error("the option of the only model has no short id")
	}
}

func TestChoicesChangeACopy(t *testing.T) {
	before, file := crew(), crew()
	var c optionChoices
	for id, value := range map[string]string{"model:bob": "opus", "model:ada": "m9", rounds: "0", permissions: agent.Bypass} {
		if err := c.Set(file, id, value); err != nil {
			t.Error(err)
		}
	}
	other, chosen := c.Apply(file), c.Chosen(file)
	if other.MaxRounds != 0 || chosen.Models["ada"] != "m9" || chosen.Models["bob"] != "opus" {
		t.Errorf("with the choices: %+v, %+v", other, chosen)
	}
	c.except = []string{"ada"} // a command has set them since
	want := map[string]string{"ada": agent.Bypass, "bob": agent.Bypass}
	if got := c.Chosen(file).Permissions; !maps.Equal(chosen.Permissions, want) || len(got) != 1 || got["ada"] != "" {
		t.Errorf("the permissions: %+v, %+v", chosen.Permissions, got)
	}
	if file.MaxRounds != before.MaxRounds || file.Members[1].Model != before.Members[1].Model {
		t.Error("the team was changed")
	}
	if got := offered(c.Options(file, optionOffers{Team: "crew"}), "model:ada"); !slices.Equal(got, []string{"m9", "m1", "m9"}) {
		t.Errorf("the models: %q", got)
	}
	for id, value := range map[string]string{"model:ada": "m1", "model:bob": byAgent, rounds: "7", permissions: byTeam} {
		if err := c.Set(file, id, value); err != nil {
			t.Error(err)
		}
	}
	if again := c.Apply(file); again.Members[2].Model != "" || again.Members[2].Permissions != "" || again.MaxRounds != 7 {
		t.Errorf("with the choices of the file: %+v", again)
	}
}

func TestWrongChoices(t *testing.T) {
	var c optionChoices
	for _, wrong := range [][2]string{
		{rounds, "-1"}, {rounds, "many"}, {permissions, "everything"}, {"model:ada", ""}, {"model:bob", "--x"},
		{"model:eve", "m"}, {"model:gone", "m"}, {"model", "m"}, {"mode", "m"}, {teamOption, "crew"},
	} {
		if err := c.Set(crew(), wrong[0], wrong[1]); err == nil {
			t.Errorf("%s was set to %q", wrong[0], wrong[1])
		}
	}
}
