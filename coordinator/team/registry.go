package team

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/atomicfile"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// A registry is the agents that are installed for all teams: config.json in dir. It is read
// when it is first asked, and whether it is broken matters only if it is missed.
type registry struct {
	dir    string
	read   bool
	agents map[string]registeredJSON
	err    error // why it cannot be used
	missed bool  // an agent was wanted that only the broken registry may have
}

// agent returns the registered agent of the name, with a command that runs from anywhere.
// There is none in a registry that is missing, or broken.
func (r *registry) agent(name string) (agentJSON, bool) {
	if !r.read {
		r.read = true
		r.agents, r.err = readRegistry(filepath.Join(r.dir, "config.json"))
	}
	a := r.agents[name].agentJSON
	a.Command = absoluteCommand(r.dir, a.Command)
	return a, a.Command != ""
}

// miss notes that an agent was not found, and reports whether a broken registry is why.
func (r *registry) miss() bool {
	r.missed = r.missed || r.err != nil
	return r.missed
}

// readRegistry reads the registry at path. One that is not there is empty.
func readRegistry(path string) (map[string]registeredJSON, error) {
	content, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	document := withoutBOM(content)
	if err == nil {
		err = schemas.Check(schemas.AgentRegistry, document)
	}
	var file registryJSON
	if err == nil {
		err = json.Unmarshal(document, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("agent registry %s: %w", path, err)
	}
	return file.Agents, nil
}

// registryJSON is the file of a registry.
type registryJSON struct {
	SchemaVersion string                    `json:"schemaVersion"`
	Agents        map[string]registeredJSON `json:"agents"`
}

// registeredJSON is an agent of the registry.
type registeredJSON struct {
	agentJSON
	DisplayName  string     `json:"displayName"`
	UsePty       bool       `json:"usePty"`
	Version      string     `json:"version,omitempty"`
	InstalledAt  *time.Time `json:"installedAt,omitempty"`
	LastVerified *time.Time `json:"lastVerified,omitempty"`
}

// Agent is an agent that is registered for all teams.
type Agent struct {
	Name, DisplayName string
	Command           string // absolute, or a name to be looked up in PATH
	Args              []string
	UsePty            bool      // kept for other versions of agent-chatter; nothing heeds it
	Version           string    // when it was last verified, or registered; "" is not known
	InstalledAt       time.Time // zero is not known
	LastVerified      time.Time // zero is never
}

// ErrAgentNotFound: no agent of that name is registered.
var ErrAgentNotFound = errors.New("no such agent is registered")

// RegisteredAgents are the agents in the registry of the directory home, in the
// order of their names. Without a registry there are none. Errors are those of
// schemas.Check and of the file system.
func RegisteredAgents(home string) ([]Agent, error) {
	dir := filepath.Join(home, "agents")
	registered, err := readRegistry(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	var agents []Agent
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		agents = append(agents, agentOf(dir, name, registered[name]))
	}
	return agents, nil
}

// RegisteredAgent is the agent of that name, or ErrAgentNotFound.
func RegisteredAgent(home, name string) (Agent, error) {
	agents, err := RegisteredAgents(home)
	if err != nil {
		return Agent{}, err
	}
	for _, a := range agents {
		if a.Name == name {
			return a, nil
		}
	}
	return Agent{}, fmt.Errorf("%q: %w", name, ErrAgentNotFound)
}

func agentOf(dir, name string, a registeredJSON) Agent {
	agent := Agent{
		Name: name, DisplayName: cmp.Or(a.DisplayName, name), Command: absoluteCommand(dir, a.Command), Args: a.Args,
		UsePty: a.UsePty, Version: a.Version,
	}
	if a.InstalledAt != nil {
		agent.InstalledAt = *a.InstalledAt
	}
	if a.LastVerified != nil {
		agent.LastVerified = *a.LastVerified
	}
	return agent
}

// Register puts an agent into the registry of the directory home, in the place of the one of
// its name if there is one, and makes the registry if there is none. Errors are those of
// RegisteredAgents, and journal.ErrLocked when another process holds the registry for long.
func Register(ctx context.Context, home string, a Agent) error {
	return updateRegistry(ctx, home, func(agents map[string]registeredJSON) error {
		agents[a.Name] = a.json()
		return nil
	})
}

// Unregister takes an agent out of the registry. Errors are those of Register, and
// ErrAgentNotFound.
func Unregister(ctx context.Context, home, name string) error {
	return updateRegistry(ctx, home, func(agents map[string]registeredJSON) error {
		if _, ok := agents[name]; !ok {
			return fmt.Errorf("%q: %w", name, ErrAgentNotFound)
		}
		delete(agents, name)
		return nil
	})
}

func (a Agent) json() registeredJSON {
	r := registeredJSON{
		agentJSON:   agentJSON{Name: a.Name, Command: a.Command, Args: append([]string{}, a.Args...)},
		DisplayName: cmp.Or(a.DisplayName, a.Name), UsePty: a.UsePty, Version: a.Version,
	}
	if !a.InstalledAt.IsZero() {
		at := a.InstalledAt.UTC().Truncate(time.Millisecond)
		r.InstalledAt = &at
	}
	if !a.LastVerified.IsZero() {
		at := a.LastVerified.UTC().Truncate(time.Millisecond)
		r.LastVerified = &at
	}
	return r
}

// updateRegistry changes the registry while nobody else does. When change fails nothing has
// happened.
func updateRegistry(ctx context.Context, home string, change func(map[string]registeredJSON) error) error {
	dir := filepath.Join(home, "agents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, "config.json")
	unlock, err := lockRegistry(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	agents, err := readRegistry(path)
	if err != nil {
		return err
	}
	if agents == nil {
		agents = map[string]registeredJSON{}
	}
	if err := change(agents); err != nil {
		return err
	}
	document, err := json.MarshalIndent(registryJSON{"1.1", agents}, "", "  ")
	if err == nil {
		err = schemas.Check(schemas.AgentRegistry, document)
	}
	if err != nil {
		return err
	}
	return atomicfile.Replace(journal.OS, path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(document, '\n'))
		return err
	})
}

// lockRegistry waits up to 2 s for another process to finish its change. The lock file stays:
// if it were removed, two processes could lock two different files of that name.
func lockRegistry(ctx context.Context, path string) (unlock func() error, err error) {
	const attempts, interval = 100, 20 * time.Millisecond
	retry := time.NewTicker(interval)
	defer retry.Stop()
	for range attempts {
		if unlock, err = journal.OS.Lock(path); !errors.Is(err, journal.ErrLocked) {
			return unlock, err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return nil, err
}
