package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// An Info is an engine as it describes itself. Team files, `agents verify`, `team init` and the settings of
// editors know engines from here only. The zero value
// of a field is what most engines need.
type Info struct {
	// Name is the value of a member's "engine". It is unique.
	Name string
	// AgentTypes select the engine for members that name none.
	AgentTypes []string
	// New returns the engine. It is cheap: engines are made when a turn may need them, and to describe them.
	// An engine that runs a program is a [ProgramEngine].
	New func() Engine
	// Models is whether Member.Model names the model that replies.
	Models bool
	// Permissions are the values of Member.Permissions other than ""; none: the engine ignores it. With ReadOnly among
	// them, an agent that is only verified gets this.
	Permissions []string
	// MaxImage is the size of the largest picture that the engine sends, in bytes; 0: it sends none.
	MaxImage int64
	// Endpoint is whether prompts go to Member.Endpoint, with Member.APIKeyEnv and Member.Headers.
	Endpoint bool
	// Protocol is whether the engine runs any agent that speaks a protocol: the member's agent type decides which
	// program that is, and its model may decide which provider gets the prompts.
	Protocol bool
	// InstructionFile is where the agents of AgentTypes look for instructions; "" is AGENTS.md.
	InstructionFile string
}

// A ProgramEngine runs a program.
type ProgramEngine interface {
	Engine
	// CommandLine returns the program that runs the member's turns, and its arguments. The program is ""
	// if it is the member's command, which is missing.
	CommandLine(m Member) []string
}

// CommandLine returns the program that runs the member's turns, and its arguments; nil if the engine runs none. The
// zero Info has no engine.
func (i Info) CommandLine(m Member) []string {
	if i.New == nil {
		return nil
	}
	if e, ok := i.New().(ProgramEngine); ok {
		return e.CommandLine(m)
	}
	return nil
}

// BuiltIn reports whether the engine does everything in this process: it runs no program and sends no prompts.
func (i Info) BuiltIn() bool { return !i.Endpoint && i.CommandLine(Member{}) == nil }

// A Known is an agent program that an engine can run.
type Known struct {
	// Name is that in an agent registry. It is unique, and members of this agent type run the agent.
	Name string
	// DisplayName is its name for people.
	DisplayName string
	// Engine is the Name of an Info.
	Engine string
	// AgentType is the type of the members that the agent runs for if they name Engine, when that is not Name:
	// claude-acp runs for members of type claude that name the engine acp.
	AgentType string
	// Program is looked up in PATH.
	Program string
	// Args are required by the engine.
	Args []string
	// Install is the command that installs it.
	Install []string
	// LoggedIn are arguments with which Program exits with 0 if it is logged in; nil if unknown.
	LoggedIn []string
	// Login is how to log in.
	Login Remedy

	profile profile
}

// The table of engines and that of agents, in the order of registration.
var (
	engines []Info
	agents  []Known
)

// Register adds an engine to the table. It is called where package variables are initialized, as in
//
//	var _ = agent.Register(agent.Info{Name: "echo", New: func() agent.Engine { return echo{} }})
//
// It panics if the name is taken, and returns true.
func Register(i Info) bool {
	if _, taken := Lookup(i.Name); taken || i.Name == "" || i.New == nil {
		panic(fmt.Sprintf("agent: the engine %q is registered or incomplete", i.Name))
	}
	engines = append(engines, i)
	return true
}

// RegisterAgents adds agent programs to the table, like Register.
func RegisterAgents(known ...Known) bool {
	for _, k := range known {
		if _, taken := KnownAgent(k.Name); taken || k.Name == "" || k.Program == "" {
			panic(fmt.Sprintf("agent: the agent %q is registered or incomplete", k.Name))
		}
		agents = append(agents, k)
	}
	return true
}

// Infos returns all engines, by name.
func Infos() []Info {
	return slices.SortedFunc(slices.Values(engines), func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
}

// Engines returns a new engine of each kind, by name.
func Engines() map[string]Engine {
	all := make(map[string]Engine, len(engines))
	for _, i := range engines {
		all[i.Name] = i.New()
	}
	return all
}

// Lookup returns the engine with a name, and whether there is one.
func Lookup(name string) (Info, bool) {
	i := slices.IndexFunc(engines, func(i Info) bool { return i.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return engines[i], true
}

// ForType returns the engine of members that name only an agent type: that of a known agent, or [Command].
func ForType(agentType string) Info {
	for _, i := range engines {
		if slices.Contains(i.AgentTypes, agentType) {
			return i
		}
	}
	k, _ := KnownAgent(agentType)
	i, _ := Lookup(cmp.Or(k.Engine, commandEngine))
	return i
}

// KnownAgents returns all known agents in display order: by name, the other ways to run them last.
func KnownAgents() []Known {
	isOther := func(k Known) int { return min(1, len(k.AgentType)) }
	return slices.SortedFunc(slices.Values(agents), func(a, b Known) int {
		return cmp.Or(isOther(a)-isOther(b), cmp.Compare(a.Name, b.Name))
	})
}

// KnownAgent returns the known agent with a name, and whether there is one.
func KnownAgent(name string) (Known, bool) {
	return firstKnown(func(k Known) bool { return k.Name == name })
}

// Default returns the known agent that an engine runs for a member without a command, and whether there is one.
func Default(engine, agentType string) (Known, bool) {
	of := ForType(agentType).Name
	return firstKnown(func(k Known) bool {
		return k.Engine == engine && (k.Name == engine || k.Name == agentType || k.AgentType == of)
	})
}

func firstKnown(match func(Known) bool) (Known, bool) {
	i := slices.IndexFunc(agents, match)
	if i < 0 {
		return Known{}, false
	}
	return agents[i], true
}

// Recognize returns the known agent that a command starts, and whether there is one. If several
// match, it returns the one with the most required arguments.
func Recognize(command string, args []string) (Known, bool) {
	var found Known
	for _, k := range KnownAgents() {
		missing := slices.ContainsFunc(k.Args, func(arg string) bool { return !slices.Contains(args, arg) })
		if k.Program == programName(command) && !missing && (found.Name == "" || len(k.Args) > len(found.Args)) {
			found = k
		}
	}
	return found, found.Name != ""
}

// Runs reports whether an engine can run a command: a known program might be that of other engines only.
func Runs(engine, command string) bool {
	known := false
	for _, k := range agents {
		if k.Program == programName(command) {
			if k.Engine == engine {
				return true
			}
			known = true
		}
	}
	return !known
}

func programName(command string) string {
	return strings.TrimSuffix(filepath.Base(command), ".exe")
}
