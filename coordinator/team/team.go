package team

import (
	"strings"
	"time"
	"unicode"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// What a member is: Member.Type has one of these values.
const (
	AI    = "ai"
	Human = "human"
)

// The engines that a member can name. A member whose Engine is none of them does not load.
const (
	EngineCommand = "command" // any program: the prompt on its standard input, the reply on its standard output
	EngineDemo    = "demo"    // built in, offline
	EngineClaude  = "claude"  // Claude Code
	EngineCodex   = "codex"   // Codex
	EngineGemini  = "gemini"  // Gemini CLI
	EngineOpenAI  = "openai"  // a model behind an API for chat completions
	EngineACP     = "acp"     // any agent that speaks the Agent Client Protocol
)

// engines are all of them, in the order in which they are named to people.
var engines = []string{EngineClaude, EngineCodex, EngineGemini, EngineACP, EngineOpenAI, EngineCommand, EngineDemo}

// defaultResponseTime is how long an agent may take when its team does not say.
const defaultResponseTime = 30 * time.Minute

// A Team is who takes part in a conversation, and by which rules. It is only read once it is
// loaded, so it may be shared.
type Team struct {
	ID          string // the name as it stands in the configuration
	Name        string
	DisplayName string // the name when the configuration has no other
	Description string
	Members     []Member // in the order in which they are asked; at least one of each type

	// MaxRounds is after how many turns of agents a human is asked again; 0 is no limit.
	MaxRounds int
	// InstructionFile is the absolute path of what every member is told; "" is nothing. The
	// file need not exist.
	InstructionFile string
	// MaxAgentResponseTime is how long one turn may take.
	MaxAgentResponseTime time.Duration
	// ShowThinkingTimer and AllowEscCancel are for the screen; both are on by default.
	ShowThinkingTimer, AllowEscCancel bool

	// Source is the file that the team was loaded from; nil for one that is built in.
	Source *Source
}

// A Source names one version of a configuration file.
type Source struct {
	Path   string // absolute
	SHA256 string // of the file's bytes, in hex
}

// A Member is one participant of a team.
type Member struct {
	ID          string // the name
	Name        string // letters, digits, '-' and '_'
	DisplayName string
	Type        string // AI or Human
	Role        string

	AgentType   string // which agent answers; "" for a human
	Engine      string // how it is run, as configured; see EngineName for what "" means
	Model       string // "" is the agent's own choice
	Permissions string // "" is the engine's own choice
	// MaxAgentIdleTime is for how long nothing may be heard of the agent in a turn; 0 is for
	// as long as the turn may take.
	MaxAgentIdleTime time.Duration

	// AllowTeamTask lets an agent set the task of the team, as humans do.
	AllowTeamTask bool
	// DoneWord ends the task when it stands alone on one of the last three lines of an
	// agent's reply: a human is next, whomever the reply names. "" is no such word.
	DoneWord string

	SystemInstruction string // lines separated by "\n"
	// InstructionFile is the absolute path of what the member is told beside that; "" is
	// nothing. The file need not exist.
	InstructionFile string
	// BaseDir is the absolute path of the working directory; "" is the current one.
	BaseDir string

	// Endpoint is where the engine "openai" finds its API, as http://localhost:11434/v1.
	// APIKeyEnv names the variable with its key, in Env or in the environment of this program;
	// "" is no key.
	Endpoint, APIKeyEnv string

	// Command is the program that the engine runs: an absolute path, or a bare name to be
	// looked up in PATH; "" is the engine's own choice. Args come after it. Env is added to its
	// environment, as Environment reads it.
	Command string
	Args    []string
	Env     map[string]string
}

// Demo returns the built-in team, which needs no agent and no network.
func Demo() *Team {
	return &Team{
		ID:          "demo",
		Name:        "demo",
		DisplayName: "Demo",
		Description: "Two built-in agents that answer offline",
		Members: []Member{
			{ID: "planner", Name: "planner", DisplayName: "Planner", Type: AI, Role: "planner", AgentType: EngineDemo},
			{ID: "critic", Name: "critic", DisplayName: "Critic", Type: AI, Role: "critic", AgentType: EngineDemo},
			{ID: "you", Name: "you", DisplayName: "You", Type: Human, Role: "human"},
		},
		MaxAgentResponseTime: defaultResponseTime,
		ShowThinkingTimer:    true,
		AllowEscCancel:       true,
	}
}

// EngineName is what runs the member's turns: Engine when it is set; else the engine that the
// agent type names, and EngineCommand when it names none. It means nothing for a human.
func (m Member) EngineName() string {
	if m.Engine != "" {
		return m.Engine
	}
	switch m.AgentType {
	case EngineDemo, EngineClaude, EngineCodex, EngineGemini, EngineOpenAI:
		return m.AgentType
	case "claude-code":
		return EngineClaude
	case "gemini-cli":
		return EngineGemini
	case "opencode", "claude-acp", "codex-acp", "gemini-acp":
		return EngineACP
	}
	return EngineCommand
}

// Member returns the member with exactly this id.
func (t *Team) Member(id string) (Member, bool) {
	return t.first(func(m Member) bool { return m.ID == id })
}

// FirstHuman returns the human that control goes to when nobody else is named.
func (t *Team) FirstHuman() (Member, bool) {
	return t.first(func(m Member) bool { return m.Type == Human })
}

// humans are the ids of the members who are people.
func (t *Team) Humans() []string {
	var ids []string
	for _, m := range t.Members {
		if m.Type == Human {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// FirstAI returns the member that answers a human who names nobody.
func (t *Team) FirstAI() (Member, bool) {
	return t.first(func(m Member) bool { return m.Type == AI })
}

// Match returns the member that a person or an agent means by a name. An exact id wins;
// then ids, names and display names are compared without regard to case, spaces, '-' and
// '_', an id or name before a display name, an earlier member before a later one.
func (t *Team) Match(name string) (Member, bool) {
	if m, ok := t.Member(name); ok {
		return m, true
	}
	key := matchKey(name)
	if key == "" {
		return Member{}, false
	}
	if m, ok := t.first(func(m Member) bool { return matchKey(m.ID) == key || matchKey(m.Name) == key }); ok {
		return m, true
	}
	return t.first(func(m Member) bool { return matchKey(m.DisplayName) == key })
}

// first returns the first member for which is holds.
func (t *Team) first(is func(Member) bool) (Member, bool) {
	for _, m := range t.Members {
		if is(m) {
			return m, true
		}
	}
	return Member{}, false
}

// matchKey is equal for two names that a marker cannot tell apart.
func matchKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || unicode.IsSpace(r) {
			return -1
		}
		return foldRune(r)
	}, name)
}

// foldRune is the same for all runes that differ in case only: the least of them.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// ForEngine is what an engine needs to know of the member; next is the name of the one that the
// demo engine hands over to.
func (m Member) ForEngine(next string) agent.Member {
	return agent.Member{
		ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, AgentType: m.AgentType, Engine: m.EngineName(),
		Model: m.Model, Permissions: m.Permissions, Endpoint: m.Endpoint, APIKeyEnv: m.APIKeyEnv,
		Command: m.Command, Args: m.Args, Env: m.Environment(), Next: next,
	}
}
