package agent

import (
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

// acpHabits are what is known of an agent that speaks the protocol beside its profile.
type acpHabits struct {
	asking   []string // modes in which the agent requests permission for what changes something
	allowed  []string // modes for Allow, in which it can do everything; requests are granted
	stricter []string // modes in which it does no more than in these

	numbered, unnumbered bool // each of its messages has an id, or none has; neither: unknown

	// What the agent remembers if its user always allows something ends with its session, or is written to the file
	// named rules. Of both, one is set.
	forgets bool
	// It announces that it loads sessions, and does not find its own.
	residentOnly bool
	rules        string

	// asks returns variables that make it request permission, for an agent without such a mode; nil: none.
	asks func(m Member) (map[string]string, error)
	// policy returns the content of a file, for the option --policy, that allows the tools of servers which change
	// nothing; nil: the agent has no such file.
	policy func([]MCPServer) string
}

// acpHabitsOf has the known agents, by the name in the registry.
var acpHabitsOf = map[string]acpHabits{
	"claude-acp": {
		asking: []string{"default"}, allowed: []string{"default"}, stricter: []string{"plan"}, numbered: true,
		rules: ownRules,
	},
	"codex-acp": { // in no mode does it request permission for every command
		asking: []string{"read-only"}, allowed: []string{"workspace-write"}, numbered: true,
		rules: "~/.codex/rules/default.rules",
	},
	"gemini-acp": {
		asking: []string{"default"}, allowed: []string{"default"}, stricter: []string{"plan"}, unnumbered: true,
		forgets: true, residentOnly: true, policy: geminiPolicy,
	},
	"opencode": {
		asking: []string{"build"}, allowed: []string{"build"}, stricter: []string{"plan"}, numbered: true,
		asks: openCodeAsks, forgets: true,
	},
}

// acpUnknown is for all other agents. The names are those that agents and the protocol's documentation have for a mode
// that requests permission.
var acpUnknown = acpHabits{
	asking:  []string{"default", "ask", "approve", "read-only"},
	allowed: []string{"default", "ask", "approve"},
	rules:   ownRules,
}

// ownRules stands for a file that is not known.
const ownRules = "the agent's own configuration"

func acpHabitsFor(m Member) acpHabits {
	k, _ := Default(acpEngine, m.AgentType)
	h, known := acpHabitsOf[k.Name]
	if !known {
		return acpUnknown
	}
	// A member may have another command than the agent of its type.
	h.asking = slices.Concat(h.asking, acpUnknown.asking)
	return h
}

// everything reports whether a member may do everything that its agent asks for.
func everything(m Member) bool { return m.Permissions == Allow || m.Permissions == Bypass }

// acpMode returns the mode in which a member's sessions are. For Allow any will do: an agent that asks is granted
// everything, but one that decides by itself may refuse.
func acpMode(m Member) acp.Mode {
	h := acpHabitsFor(m)
	if everything(m) {
		return acp.Mode{Names: h.allowed}
	}
	// Without permissions, an agent that has no modes is used as it is.
	return acp.Mode{Names: h.asking, Required: true, Modeless: m.Permissions == "", Stricter: h.stricter}
}

// mode returns the mode in which a member's sessions are: the one that its arguments choose, or acpMode.
func (a *acpAgent) mode(m Member) acp.Mode {
	if a.ownMode && m.Permissions == "" && len(without(m.Args, a.permits)) < len(m.Args) {
		return acp.Mode{}
	}
	return acpMode(m)
}

// acpEnv returns the environment of a member's program.
func acpEnv(m Member) (map[string]string, error) {
	h := acpHabitsFor(m)
	if h.asks == nil || everything(m) {
		return m.Env, nil
	}
	asks, err := h.asks(m)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, variables := range []map[string]string{m.Env, asks} {
		for name, value := range variables {
			env[name] = value
		}
	}
	return env, nil
}

const (
	openCodeConfig     = "OPENCODE_CONFIG_CONTENT"
	openCodePermission = "OPENCODE_PERMISSION"
)

// openCodeAsks returns the variables that make OpenCode request permission. They override its files, also what these
// permit in the mode build, and keep what is configured in the same variable otherwise.
func openCodeAsks(m Member) (map[string]string, error) {
	ask := map[string]any{"bash": Ask, "edit": Ask, "external_directory": Ask}
	config := map[string]any{}
	before, ok := m.Env[openCodeConfig]
	if !ok {
		before = os.Getenv(openCodeConfig)
	}
	if before != "" && json.Unmarshal([]byte(before), &config) != nil {
		return nil, errors.New("its variable " + openCodeConfig + " is not JSON without comments")
	}
	config["permission"] = ask
	agents, _ := config["agent"].(map[string]any)
	if agents == nil {
		agents = map[string]any{}
	}
	build, _ := agents["build"].(map[string]any)
	if build == nil {
		build = map[string]any{}
	}
	build["permission"], agents["build"], config["agent"] = ask, build, agents
	content, err := json.Marshal(config)
	permission, err2 := json.Marshal(ask)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return map[string]string{openCodeConfig: string(content), openCodePermission: string(permission)}, nil
}

// explainMode returns the failure of a turn whose session is not in a mode that the member's permissions need.
func (a *acpAgent) explainMode(permissions string, err *acp.ModeError) error {
	if permissions == "" {
		permissions = Ask
	}
	reason := "it cannot be made to ask for permission, which the member's permissions, " + permissions + ", need: " +
		err.Error()
	return a.failure(reason, remedyAllow)
}

// remedyAllow is against an agent that does not ask.
var remedyAllow = Remedy{
	Advice: `update the agent; or set the member's "permissions" to "allow", if it may do everything`,
}
