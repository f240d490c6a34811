package team

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// The types of members.
const (
	AI    = "ai"
	Human = "human"
)

// The values of Member.Recall.
const (
	RecallTeam = "team" // the sessions of the team
	RecallAll  = "all"  // those of all teams
)

// defaultResponseTime is the default of Team.MaxAgentResponseTime.
const defaultResponseTime = 30 * time.Minute

// DefaultMaxRounds is the default of Team.MaxRounds: agents that address each other end.
const DefaultMaxRounds = 50

// Team is the configuration of a conversation: its members and its rules. A loaded team is not
// modified and may be shared.
type Team struct {
	ID          string // equals Name
	Name        string
	DisplayName string // defaults to Name
	Description string
	Members     []Member // in speaking order; at least one of each type

	// MaxRounds is the maximum number of agent turns between two human messages; 0 is no limit.
	// It defaults to DefaultMaxRounds.
	MaxRounds int
	// Budget limits what the turns use.
	Budget Budget
	// FilesOff is whether what turns change in files is not recorded.
	FilesOff bool
	// Summary is the name of the member who summarizes what no longer fits into the prompts of a member, SummarySelf or
	// SummaryOff; "" is SummarySelf for members whose prompts go to an API, and SummaryOff otherwise.
	Summary string
	// InstructionFile is the absolute path of a file whose content every prompt includes; ""
	// is none. The file may be missing.
	InstructionFile string
	// MaxAgentResponseTime limits the duration of one turn.
	MaxAgentResponseTime time.Duration
	// ShowThinkingTimer and AllowEscCancel are settings of the user interface; both default to
	// true.
	ShowThinkingTimer, AllowEscCancel bool

	// Source is the file that the team was loaded from; nil for a built-in team.
	Source *Source
	// Warnings are the properties that the schema requires and that the file lacks. Defaults stand
	// for them.
	Warnings []schemas.Problem
	// Elsewhere are the instruction files that were outside of the team's directories when it
	// was loaded, without links, sorted. They are read only if ReadElsewhere is set: the user
	// has confirmed them.
	Elsewhere     []string
	ReadElsewhere bool
}

// Source identifies one version of a team file.
type Source struct {
	Path   string // absolute
	SHA256 string // of the file's content, in hex
	Home   string // whose registry completed it
}

// Member is a participant of a team: a human or an agent.
type Member struct {
	ID          string // equals Name
	Name        string // letters, digits, '-' and '_'
	DisplayName string
	Type        string // AI or Human
	Role        string
	ThemeColor  string // as configured: the name of a colour, or #rrggbb; may be anything

	AgentType   string // "" for a human
	Engine      string // as configured; EngineName has the default
	Model       string // "" is the agent's default
	Thinking    *bool  // whether the model reasons before it replies; nil is the agent's default
	Permissions string // "" is the engine's default
	// Memory is MemorySession or MemoryWindow; "" is MemorySession.
	Memory string
	// MaxContext is how many tokens the agent's context may have after a turn before the next one begins a new
	// session; 0 is half of its window.
	MaxContext int64
	// ContextWindow is how many tokens the model takes, by which the window of prompts is measured; 0: unknown.
	ContextWindow int64
	// MaxAgentIdleTime is the maximum time without output from the agent in a turn; 0 is no
	// limit.
	MaxAgentIdleTime time.Duration

	// Recall lets the agent search and read the recorded sessions: RecallTeam or RecallAll; "" is none.
	Recall string

	// AllowTeamTask lets the agent set the team's task.
	AllowTeamTask bool
	// DoneWord ends the task if it stands alone on one of the last three lines of the agent's
	// reply: a human is next, whatever markers the reply has. "" is none.
	DoneWord string

	SystemInstruction string // lines separated by "\n"
	// InstructionFile is the absolute path of a file whose content the member's prompts
	// include; "" is none. The file may be missing.
	InstructionFile string
	// BaseDir is the absolute path of the agent's working directory; "" is the program's.
	BaseDir string
	// Worktree is how the member gets a copy of BaseDir, in which it works instead; nil: it works in BaseDir.
	Worktree *Worktree

	// Endpoint is the base URL of an engine that sends prompts to one, such as http://localhost:11434/v1.
	// APIKeyEnv is the name of the variable that holds its key, in Env or in the program's environment;
	// "" is no key.
	Endpoint, APIKeyEnv string
	// Headers are added to the requests to Endpoint, with references such as $NAME expanded.
	Headers map[string]string

	// Command is the program that the engine runs: an absolute path, or a name that is looked
	// up in PATH; "" is the engine's default. Args are its arguments. Env is added to its
	// environment, with references such as $NAME expanded.
	Command string
	Args    []string
	Env     map[string]string
}

// A Worktree is how a member gets a directory of its own.
type Worktree struct {
	// Copy has patterns of files that Git ignores and that are copied, too, such as ".env*".
	Copy []string `json:"copy,omitempty"`
	// Setup is a program, as Member.Command, and its arguments. It runs in the copy before the first turn; empty: none.
	Setup []string `json:"setup,omitempty"`
	// Ports is how many ports are the member's alone.
	Ports int `json:"ports,omitempty"`
}

// The values of Team.Summary besides the names of members.
const (
	SummarySelf = "self"
	SummaryOff  = "off"
)

// The values of Member.Memory.
const (
	MemorySession = "session" // the agent continues a session of its own program, if it can
	MemoryWindow  = "window"  // each prompt has the newest messages, and the agent begins a new session
)

// Demo returns the built-in team, whose agents need no program and no network.
func Demo() *Team {
	const demo = agent.DemoEngine
	return &Team{
		ID:          "demo",
		Name:        "demo",
		DisplayName: "Demo",
		Description: "Two built-in agents that answer offline",
		Members: []Member{
			{ID: "planner", Name: "planner", DisplayName: "Planner", Type: AI, Role: "planner", AgentType: demo},
			{ID: "critic", Name: "critic", DisplayName: "Critic", Type: AI, Role: "critic", AgentType: demo},
			{ID: "you", Name: "you", DisplayName: "You", Type: Human, Role: "human"},
		},
		MaxRounds:            DefaultMaxRounds,
		MaxAgentResponseTime: defaultResponseTime,
		ShowThinkingTimer:    true,
		AllowEscCancel:       true,
	}
}

// EngineName returns the name of the engine that runs the member's turns: Engine if it is set, otherwise that of
// AgentType. The result is meaningless for a human.
func (m Member) EngineName() string {
	if m.Engine != "" {
		return m.Engine
	}
	return agent.ForType(m.AgentType).Name
}

// EngineInfo returns the description of the engine that runs the member's turns; that of a human, and of an unknown
// engine, is the zero Info.
func (m Member) EngineInfo() agent.Info {
	if m.Type != AI {
		return agent.Info{}
	}
	info, _ := agent.Lookup(m.EngineName())
	return info
}

// Member returns the member with the given ID.
func (t *Team) Member(id string) (Member, bool) {
	return t.first(func(m Member) bool { return m.ID == id })
}

// FirstHuman returns the first human.
func (t *Team) FirstHuman() (Member, bool) {
	return t.first(func(m Member) bool { return m.Type == Human })
}

// Humans returns the IDs of the humans.
func (t *Team) Humans() []string {
	var ids []string
	for _, m := range t.Members {
		if m.Type == Human {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// FirstAI returns the first agent, to which a message without markers goes.
func (t *Team) FirstAI() (Member, bool) {
	return t.first(func(m Member) bool { return m.Type == AI })
}

// Match returns the member that a marker addresses as name. An exact ID takes precedence; then
// names and display names are compared without regard to case, spaces, '-' and '_', all names
// before all display names, in the order of the members.
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

// first returns the first member that satisfies match.
func (t *Team) first(match func(Member) bool) (Member, bool) {
	i := slices.IndexFunc(t.Members, match)
	if i < 0 {
		return Member{}, false
	}
	return t.Members[i], true
}

// matchKey returns equal keys for names that Match treats as equal.
func matchKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || unicode.IsSpace(r) {
			return -1
		}
		smallest := r // of the runes that are equal to r under case folding
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			smallest = min(smallest, next)
		}
		return smallest
	}, name)
}

// ForEngine returns the member as engines see it, with Env expanded. The demo engine hands over
// to the member named next.
func (m Member) ForEngine(next string) agent.Member {
	return agent.Member{
		ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, AgentType: m.AgentType, Model: m.Model,
		Thinking: m.Thinking, Permissions: m.Permissions, Endpoint: m.Endpoint, APIKeyEnv: m.APIKeyEnv,
		Headers: expanded(m.Headers),
		Command: m.Command, Args: m.Args, Env: m.environment(), Next: next,
	}
}
