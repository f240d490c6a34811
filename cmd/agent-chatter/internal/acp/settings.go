package acp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// The ids of options. That of a model is followed by the id of the member if several have one.
const (
	teamOption  = "team"
	model       = "model"
	rounds      = "rounds"
	permissions = "permissions"
)

// byTeam stands for the value of the team file.
const byTeam = "team"

// byAgent stands for the model that the agent has without one in the team file.
const byAgent = "default"

// maxModel is the length of the longest name of a model, in bytes.
const maxModel = 200

// optionChoices are what the client has chosen, besides the team. The zero optionChoices are those of the team file.
type optionChoices struct {
	Permissions string // "": those of the team

	rounds *int              // nil: those of the team
	models map[string]string // by the id of the member
	except []string          // the ids of the members whose permissions a command has set since
}

// Apply returns the team with the choices other than Chosen.
func (c optionChoices) Apply(t *team.Team) *team.Team {
	other := *t
	if c.rounds != nil {
		other.MaxRounds = *c.rounds
	}
	return &other
}

// Chosen returns the models and permissions of the members of a team.
func (c optionChoices) Chosen(t *team.Team) coordinator.Chosen {
	chosen := coordinator.Chosen{Models: maps.Clone(c.models), Permissions: map[string]string{}}
	for _, m := range t.Members {
		if slices.Contains(m.EngineInfo().Permissions, c.Permissions) && !slices.Contains(c.except, m.ID) {
			chosen.Permissions[m.ID] = c.Permissions
		}
	}
	return chosen
}

// Set sets an option other than teamOption of a team.
func (c *optionChoices) Set(t *team.Team, id, value string) error {
	switch {
	case id == rounds:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("%.100q is no number of turns", value)
		}
		c.rounds = &n
		return nil
	case id == permissions && value == byTeam:
		c.Permissions, c.except = "", nil
		return nil
	case id == permissions && slices.ContainsFunc(t.Members, func(m team.Member) bool {
		return slices.Contains(m.EngineInfo().Permissions, value)
	}):
		c.Permissions, c.except = value, nil
		return nil
	}
	for _, m := range t.Members {
		if !m.EngineInfo().Models || id != modelID(t, m) {
			continue
		}
		if value == "" || len(value) > maxModel || strings.HasPrefix(value, "-") {
			return fmt.Errorf("%.100q is no name of a model", value)
		}
		if c.models == nil {
			c.models = map[string]string{}
		}
		c.models[m.ID] = value
		if value == byAgent {
			delete(c.models, m.ID)
		}
		return nil
	}
	return fmt.Errorf("the option %.100q does not have the value %.100q", id, value)
}

func modelID(t *team.Team, m team.Member) string {
	with := 0
	for _, other := range t.Members {
		if other.EngineInfo().Models {
			with++
		}
	}
	if with == 1 {
		return model
	}
	return model + ":" + m.ID
}

// optionOffers are the values that options may have.
type optionOffers struct {
	Team   string   // the name of the session's team
	Teams  []string // the names of others; none: the team is fixed
	Models []team.Member
}

// Options returns the options of a session whose team file has t, with their current values.
func (c optionChoices) Options(t *team.Team, o optionOffers) []sdk.SessionConfigOption {
	teams := values(append([]string{o.Team}, o.Teams...))
	all := []sdk.SessionConfigOption{selection(teamOption, "Team", "", o.Team, teams)}
	for _, m := range t.Members {
		if m.EngineInfo().Models {
			all = append(all, c.model(t, m, o.Models))
		}
	}
	limit := t.MaxRounds
	if c.rounds != nil {
		limit = *c.rounds
	}
	name := "Agent turns after a message"
	all = append(all, selection(rounds, name, "", strconv.Itoa(limit), turns(limit, t.MaxRounds)))
	if may := c.permissions(t); len(may) > 1 {
		category := sdk.SessionConfigOptionCategoryMode
		all = append(all, selection(permissions, "Permissions", category, cmp.Or(c.Permissions, byTeam), may))
	}
	return all
}

// model returns the option for the model of a member. others are members of any team.
func (c optionChoices) model(t *team.Team, m team.Member, others []team.Member) sdk.SessionConfigOption {
	names := []string{cmp.Or(m.Model, byAgent), cmp.Or(c.models[m.ID], m.Model, byAgent)}
	for _, other := range others {
		if other.Model != "" && other.EngineName() == m.EngineName() && other.AgentType == m.AgentType {
			names = append(names, other.Model)
		}
	}
	title := "Model"
	if modelID(t, m) != model {
		title = "Model of " + m.DisplayName
	}
	return selection(modelID(t, m), title, sdk.SessionConfigOptionCategoryModel, names[1], values(names))
}

// permissions returns what the members of a team may be allowed.
func (c optionChoices) permissions(t *team.Team) []sdk.SessionConfigSelectOption {
	all := []sdk.SessionConfigSelectOption{{Value: byTeam, Name: "As in the team"}}
	for _, m := range t.Members {
		for _, v := range values(m.EngineInfo().Permissions) {
			if !slices.ContainsFunc(all, func(o sdk.SessionConfigSelectOption) bool { return o.Value == v.Value }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// turns returns the numbers of turns to choose from.
func turns(of ...int) []sdk.SessionConfigSelectOption {
	numbers := append(of, 1, 2, 3, 5, 10, 20, 50, 100)
	slices.Sort(numbers)
	all := []sdk.SessionConfigSelectOption{}
	for _, n := range slices.Compact(numbers) {
		if n > 0 {
			all = append(all, sdk.SessionConfigSelectOption{
				Value: sdk.SessionConfigValueId(strconv.Itoa(n)), Name: strconv.Itoa(n),
			})
		}
	}
	return append(all, sdk.SessionConfigSelectOption{Value: "0", Name: "Unlimited"})
}

// values returns the values with these names, each once.
func values(names []string) []sdk.SessionConfigSelectOption {
	all := []sdk.SessionConfigSelectOption{}
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			all = append(all, sdk.SessionConfigSelectOption{Value: sdk.SessionConfigValueId(name), Name: name})
		}
	}
	return all
}

func selection(
	id, name string, category sdk.SessionConfigOptionCategory, current string, of []sdk.SessionConfigSelectOption,
) sdk.SessionConfigOption {
	ungrouped := sdk.SessionConfigSelectOptionsUngrouped(of)
	option := &sdk.SessionConfigOptionSelect{
		Id: sdk.SessionConfigId(id), Name: name, Type: "select", CurrentValue: sdk.SessionConfigValueId(current),
		Options: sdk.SessionConfigSelectOptions{Ungrouped: &ungrouped},
	}
	if category != "" {
		option.Category = &category
	}
	return sdk.SessionConfigOption{Select: option}
}
