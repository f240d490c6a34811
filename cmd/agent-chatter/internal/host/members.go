package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// Members are the commands that change the members of a conversation for its session. Their arguments are what a person
// types after the name of the command. What changed is an event; their answers are lists.
type Members struct {
	App *app.App
	C   *coordinator.Coordinator
	// Remote is whether the person may be on another machine, where no agent is allowed more than to ask.
	Remote bool
}

// insist follows the name of a model that is similar to one that the agent has.
const insist = "!"

// asConfigured stands for the value of the team's configuration.
const asConfigured = "default"

// Model lists the models of the agents, or of one, or sets that of one.
func (m Members) Model(args string) (answer string, err error) {
	member, rest, err := m.member(args)
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(args) == "":
		return m.modelsText(), nil
	case rest == "":
		return m.modelText(member), nil
	}
	model, insists := strings.CutSuffix(rest, insist)
	if model == asConfigured {
		configured, _ := m.C.Configured().Member(member.ID)
		model = configured.Model
	} else if nearest := m.mistypedModel(member, model); nearest != "" && !insists {
		return "", app.Exit(app.ExitUsage, mistypedModelText(member.Name, model, nearest))
	}
	if err := m.C.SetModel(member.ID, model); err != nil {
		return "", refusedText(member.Name, "model", rest, err)
	}
	return "", nil
}

// mistypedModel returns the model that is most similar to one that the member's agent does not have; "" if it has that
// one, if none is similar, and if it has not said which it has: others may be aliases, or of another provider.
func (m Members) mistypedModel(member team.Member, model string) string {
	reported := m.C.Models(member.ID)
	if len(reported) == 0 || member.CheckModel(model) != nil {
		return ""
	}
	known := append(KnownModels(m.App, member, reported, m.C.Team(), m.C.Configured()), asConfigured)
	if slices.Contains(known, model) {
		return ""
	}
	nearest, _ := hint.Nearest(model, known)
	return nearest
}

// Permissions lists the permissions of the agents, or of one, or sets those of one.
func (m Members) Permissions(args string) (answer string, err error) {
	member, rest, err := m.member(args)
	known := member.EngineInfo().Permissions
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(args) == "":
		return m.permissionsText(), nil
	case rest == "":
		return permissionsOfText(member), nil
	}
	value := rest
	if value == asConfigured {
		configured, _ := m.C.Configured().Member(member.ID)
		value = configured.Permissions
	}
	if m.Remote && agent.Permits(value) > agent.Permits(agent.Ask) {
		return "", app.UsageError("%s", onlyHereText("/permissions "+args))
	}
	if err := m.C.SetPermissions(member.ID, value); err != nil {
		if nearest, ok := hint.Nearest(rest, known); ok {
			err = fmt.Errorf("%w. Did you mean %s?", err, nearest)
		}
		return "", refusedText(member.Name, "permissions", rest, err)
	}
	return "", nil
}

// Add adds an agent, with the name that follows if there is one.
func (m Members) Add(args string) (answer string, err error) {
	words := strings.Fields(args)
	found, others := setup.AgentNames(m.App)
	switch {
	case m.Remote:
		return "", app.UsageError("%s", onlyHereText("/add "+args))
	case len(words) == 0:
		return agentsText(found, others), nil
	case len(words) > 2:
		return "", app.UsageError("Type /add AGENT, or /add AGENT NAME.")
	}
	if removed, ok := m.C.Configured().Match(words[0]); ok && len(words) == 1 {
		if _, there := m.C.Team().Member(removed.ID); !there {
			return "", m.C.AddMember("", removed)
		}
	}
	name := ""
	if len(words) == 2 {
		if name = words[1]; !setup.IsPlainName(name) {
			return "", app.UsageError("A name may contain only letters, digits, '-' and '_': %s", tty.SafeLine(name))
		}
		if other, taken := m.C.Team().Match(name); taken {
			return "", app.UsageError("The team has a member of this name: %s", tty.SafeLine(other.Name))
		}
	}
	all := slices.Concat(found, others)
	if !slices.Contains(all, words[0]) {
		nearest, _ := hint.Nearest(words[0], all)
		return "", app.Exit(app.ExitUsage, unknownAgentText(words[0], nearest, all))
	}
	added, err := setup.NewMember(m.App, words[0], name)
	if free := setup.FreeName(m.C.Team(), added.Name); err == nil && free != added.Name {
		added, err = setup.NewMember(m.App, words[0], free)
	}
	if err != nil {
		return "", app.Exit(app.ExitFailed, app.Text("%s was not added: %s", tty.SafeLine(words[0]), app.Reason(err)))
	}
	return "", m.C.AddMember(words[0], added)
}

// Remove removes an agent.
func (m Members) Remove(args string) (answer string, err error) {
	member, rest, err := m.member(args)
	switch {
	case err != nil:
		return "", err
	case args == "" || rest != "":
		return "", app.UsageError("Type /remove MEMBER. %s", agentsOfText(m.C.Team()))
	}
	if err := m.C.RemoveMember(member.ID); err != nil {
		m := app.Text("%s was not removed: %s.", tty.SafeLine(member.Name), app.Reason(err))
		return "", app.Exit(app.ExitFailed, m)
	}
	return "", nil
}

// member returns the agent that the first word of args names, and what follows. Without args it returns none. If the
// team has one agent, its name may be missing.
func (m Members) member(args string) (member team.Member, rest string, err error) {
	words := strings.Fields(args)
	if len(words) == 0 {
		return team.Member{}, "", nil
	}
	t := m.C.Team()
	member, ok := t.Match(strings.TrimPrefix(words[0], "@"))
	rest = strings.Join(words[1:], " ")
	if names := agentNames(t); (!ok || member.Type != team.AI) && len(names) == 1 && len(words) == 1 {
		member, _ = t.Match(names[0])
		return member, words[0], nil
	}
	if !ok || member.Type != team.AI {
		nearest, _ := hint.Nearest(words[0], agentNames(t))
		return team.Member{}, "", app.UsageError("%s", noAgentText(words[0], nearest, t))
	}
	return member, rest, nil
}

// agentNames returns the names of the agents of a team.
func agentNames(t *team.Team) (names []string) {
	for _, m := range t.Members {
		if m.Type == team.AI {
			names = append(names, m.Name)
		}
	}
	return names
}

func noAgentText(name, nearest string, t *team.Team) string {
	return fmt.Sprintf("The team has no agent '%s'.%s %s", tty.SafeLine(name), didYouMean(nearest), agentsOfText(t))
}

func didYouMean(nearest string) string {
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %s?", tty.SafeLine(nearest))
}

func agentsOfText(t *team.Team) string {
	return "Its agents are: " + tty.SafeLine(strings.Join(agentNames(t), ", ")) + "."
}

func unknownAgentText(name, nearest string, known []string) app.Message {
	return app.Text("Unknown agent: %s.%s Known are: %s.", tty.SafeLine(name), didYouMean(nearest),
		tty.SafeLine(strings.Join(known, ", "))).With(app.To("add an agent", "agents", "register", "NAME", "PROGRAM"))
}

// refusedText is the error of a value that a member cannot have.
func refusedText(member, setting, value string, err error) error {
	return app.UsageError("%s cannot have the %s %s: %s", tty.SafeLine(member), setting, tty.SafeLine(value),
		app.Reason(err))
}

// mistypedModelText refuses a model that is similar to one that the agent has.
func mistypedModelText(member, model, nearest string) app.Message {
	return app.Text("The agent of %s has no model %s. Did you mean %s?\nTo use it all the same, type: /model %s %s%s",
		tty.SafeLine(member), tty.SafeLine(model), tty.SafeLine(nearest),
		tty.SafeLine(member), tty.SafeLine(model), insist)
}

// onlyHereText refuses what only the person at this machine may do.
func onlyHereText(command string) string {
	return fmt.Sprintf("This is possible only in a chat on this machine: %s", tty.SafeLine(strings.TrimSpace(command)))
}

// modelsText lists the models of the agents.
func (m Members) modelsText() string {
	lines := []string{"Models:"}
	for _, member := range m.C.Team().Members {
		if member.Type == team.AI {
			lines = append(lines, "  "+tty.SafeLine(member.Name)+": "+m.inForce(member, ModelOf))
		}
	}
	return strings.Join(append(lines, "To change one for this session, type: /model MEMBER MODEL"), "\n")
}

// modelText shows the model of a member, and those that it can have.
func (m Members) modelText(member team.Member) string {
	text := tty.SafeLine(member.Name) + ": " + m.inForce(member, ModelOf) + "\n"
	if !member.EngineInfo().Models {
		return text + "Its engine has no models."
	}
	known := KnownModels(m.App, member, m.C.Models(member.ID), m.C.Team(), m.C.Configured())
	if len(known) == 0 {
		return text + "Its models are not known; type a name as its program has it: /model MEMBER MODEL"
	}
	return text + "Known models: " + tty.SafeLine(strings.Join(known, ", "))
}

// permissionsText lists the permissions of the agents.
func (m Members) permissionsText() string {
	lines := []string{"Permissions:"}
	for _, member := range m.C.Team().Members {
		if member.Type == team.AI {
			lines = append(lines, "  "+tty.SafeLine(member.Name)+": "+m.inForce(member, PermissionsOf))
		}
	}
	return strings.Join(append(lines, "To change them for this session, type: /permissions MEMBER VALUE"), "\n")
}

// permissionsOfText shows the permissions of a member, and those that it can have.
func permissionsOfText(m team.Member) string {
	known := m.EngineInfo().Permissions
	if len(known) == 0 {
		return fmt.Sprintf("%s: its engine has no permissions.", tty.SafeLine(m.Name))
	}
	return fmt.Sprintf("%s: %s\nIt can have: %s", tty.SafeLine(m.Name), tty.SafeLine(PermissionsOf(m)),
		strings.Join(known, ", "))
}

// inForce returns a value of a member, and what the configuration has if that differs.
func (m Members) inForce(member team.Member, value func(team.Member) string) string {
	now := value(member)
	configured, ok := m.C.Configured().Member(member.ID)
	switch before := value(configured); {
	case !ok:
		return tty.SafeLine(now) + " (added)"
	case before != now:
		return tty.SafeLine(now) + " (in the team: " + tty.SafeLine(before) + ")"
	}
	return tty.SafeLine(now)
}

// ModelOf returns the model of a member, for people.
func ModelOf(m team.Member) string {
	switch {
	case m.Model != "":
		return m.Model
	case m.Type == team.AI && !m.EngineInfo().Models:
		return "none"
	}
	return "default"
}

// PermissionsOf returns the permissions of a member, for people.
func PermissionsOf(m team.Member) string {
	switch {
	case m.Permissions != "":
		return m.Permissions
	case m.Type == team.AI && len(m.EngineInfo().Permissions) == 0:
		return "none"
	}
	return "unset"
}

func agentsText(found, others []string) string {
	return fmt.Sprintf("Agents: %s\nOthers that are known: %s\nTo add one for this session, type: /add AGENT",
		tty.SafeLine(strings.Join(found, ", ")), tty.SafeLine(strings.Join(others, ", ")))
}

// KnownModels returns the models that a member can have, as far as they are known: those that its agent has reported,
// then those that members with the same agent have in these teams and in the team files.
func KnownModels(a *app.App, m team.Member, reported []string, teams ...*team.Team) []string {
	known := slices.Clone(reported)
	files, _ := team.Files(a.Places())
	for _, f := range files {
		if f.Path == "" || f.Hidden {
			continue
		}
		if t, err := team.Load(f.Path, a.Home); err == nil {
			teams = append(teams, t)
		}
	}
	for _, t := range teams {
		for _, other := range t.Members {
			same := other.Type == team.AI && other.EngineName() == m.EngineName() && other.AgentType == m.AgentType
			if same && other.Model != "" && !slices.Contains(known, other.Model) {
				known = append(known, other.Model)
			}
		}
	}
	return known
}
