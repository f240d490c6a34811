package acp

import (
	"context"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// SetSessionConfigOption implements sdk.Agent. What is chosen during a prompt counts for the next one, except
// permissions that are asked for.
func (s *server) SetSessionConfigOption(
	_ context.Context, r sdk.SetSessionConfigOptionRequest,
) (sdk.SetSessionConfigOptionResponse, error) {
	if r.ValueId == nil {
		return sdk.SetSessionConfigOptionResponse{}, sdk.NewInvalidParams("the options have values that are texts")
	}
	o, err := s.session(r.ValueId.SessionId)
	if err == nil {
		err = o.choose(string(r.ValueId.ConfigId), string(r.ValueId.Value))
	}
	if err != nil {
		return sdk.SetSessionConfigOptionResponse{}, s.failure(err)
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: o.options()}, nil
}

// choose sets an option.
func (o *session) choose(id, value string) error {
	if id == teamOption {
		return o.chooseTeam(value)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.choices.Set(o.loaded, id, value); err != nil {
		return app.UsageError("%s", app.Sentence(err))
	}
	o.team = o.choices.Apply(o.loaded)
	return nil
}

// chooseTeam changes the team of a session without messages.
func (o *session) chooseTeam(name string) error {
	o.mu.Lock()
	fixed, current := o.begun, o.name
	o.mu.Unlock()
	switch {
	case name == current:
		return nil
	case fixed:
		return app.Exit(app.ExitUsage, teamFixedText(current))
	case !slices.Contains(o.teamNames(), name):
		return app.Exit(app.ExitUsage, unknownTeamText(name))
	}
	t, err := o.load(name)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun { // meanwhile
		return app.Exit(app.ExitUsage, teamFixedText(current))
	}
	o.setTeam(name, t)
	return nil
}

// setTeam sets the team, as its file has it. The caller holds o.mu, or is alone.
func (o *session) setTeam(name string, t *team.Team) {
	o.name, o.loaded, o.choices = name, t, optionChoices{}
	o.team = o.choices.Apply(t)
}

// options returns the options with their values.
func (o *session) options() []sdk.SessionConfigOption {
	o.mu.Lock()
	defer o.mu.Unlock()
	offers := optionOffers{Team: o.name, Models: o.members()}
	if !o.begun {
		offers.Teams = o.teamNames()
	}
	return o.choices.Options(o.loaded, offers)
}

// permissions returns the permissions that the client has chosen for a member; "": none.
func (o *session) permissions(memberID string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.choices.except, memberID) {
		return ""
	}
	return o.choices.Permissions
}

// files returns the teams that can be named.
func (o *session) files() []team.File {
	files, err := team.Files(o.app.Places())
	if err != nil {
		o.app.Log.Warn("teams are not listed", "error", err)
	}
	return slices.DeleteFunc(files, func(f team.File) bool { return f.Hidden })
}

func (o *session) teamNames() (names []string) {
	for _, f := range o.files() {
		names = append(names, f.Name)
	}
	return names
}

// members returns the members of all teams that can be read. Their models can be chosen.
func (o *session) members() (members []team.Member) {
	for _, f := range o.files() {
		if f.Path == "" {
			continue
		}
		if t, err := team.Load(f.Path, o.app.Home); err == nil {
			members = append(members, t.Members...)
		}
	}
	return members
}

func teamFixedText(current string) app.Message {
	return app.Text("The team of a session with messages cannot be changed: it is %.100q. Begin a new session.",
		current)
}

func unknownTeamText(name string) app.Message {
	return app.Text("There is no team %.100q.", name).With(app.To("list the teams", "team", "list"))
}
