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

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// registry is the file config.json in dir, the agents that are installed for all teams. It is read
// on first use. An invalid registry is an error only for a team file that needs it.
type registry struct {
	dir    string
	read   bool
	agents map[string]registeredJSON
	err    error // of reading it
	needed bool  // an agent was not found, and err is why
}

// agent returns a registered agent, with a command that runs in any directory. A missing or
// invalid registry has no agents.
func (r *registry) agent(name string) (agentJSON, bool) {
	if !r.read {
		r.read = true
		r.agents, r.err = readRegistry(filepath.Join(r.dir, "config.json"))
	}
	a := r.agents[name].agentJSON
	a.Command = absoluteCommand(r.dir, a.Command)
	return a, a.Command != ""
}

// failed reports whether an agent was not found because the registry is invalid, and records it.
func (r *registry) failed() bool {
	r.needed = r.needed || r.err != nil
	return r.needed
}

// readRegistry reads the registry file at path. A missing one is empty.
func readRegistry(path string) (map[string]registeredJSON, error) {
	var file registryJSON
	err := readDocument(path, schemas.AgentRegistry, &file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agent registry %s: %w", path, err)
	}
	return file.Agents, nil
}

// registryJSON is the content of the registry file.
type registryJSON struct {
	SchemaVersion string                    `json:"schemaVersion"`
	Agents        map[string]registeredJSON `json:"agents"`
}

// registeredJSON is an agent in the registry file.
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
	Command           string // an absolute path, or a name that is looked up in PATH
	Args              []string
	UsePty            bool      // kept for other versions of agent-chatter; unused
	Version           string    // as of LastVerified or InstalledAt; "" if unknown
	InstalledAt       time.Time // zero if unknown
	LastVerified      time.Time // zero if never
}

// ErrAgentNotFound is wrapped by the errors of RegisteredAgent and Unregister for an unknown name.
var ErrAgentNotFound = errors.New("agent not registered")

// RegisteredAgents returns the agents in the registry of the directory home, sorted by name. A
// missing registry has none. Errors are those of schemas.Check and of the file system.
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

// RegisteredAgent returns a registered agent, or ErrAgentNotFound.
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
	return Agent{}, agentNotFound(name)
}

func agentNotFound(name string) error {
	err := fmt.Errorf("%w: %q", ErrAgentNotFound, name)
	return hint.Wrap(err, hint.Hint{Kind: hint.Command, Argv: []string{"agents", "list"}})
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

// Register adds an agent to the registry of the directory home or replaces the one with its name.
// It creates the registry if it is missing. It waits up to 2 s for another process that changes
// the registry, and then fails with journal.ErrLocked. Other errors are those of RegisteredAgents.
func Register(ctx context.Context, home string, a Agent) error {
	return updateRegistry(ctx, home, func(agents map[string]registeredJSON) error {
		agents[a.Name] = a.json()
		return nil
	})
}

// Unregister removes an agent from the registry. Errors are those of Register and
// ErrAgentNotFound.
func Unregister(ctx context.Context, home, name string) error {
	return updateRegistry(ctx, home, func(agents map[string]registeredJSON) error {
		if _, ok := agents[name]; !ok {
			return agentNotFound(name)
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

// updateRegistry applies change to the registry under its lock. If change fails, the file stays as
// it was.
func updateRegistry(ctx context.Context, home string, change func(map[string]registeredJSON) error) error {
	path := filepath.Join(home, "agents", "config.json")
	return UpdateFile(ctx, path, schemas.AgentRegistry, func() (any, error) {
		agents, err := readRegistry(path)
		if err != nil {
			return nil, err
		}
		if agents == nil {
			agents = map[string]registeredJSON{}
		}
		return registryJSON{"1.1", agents}, change(agents)
	})
}

// UpdateFile replaces the file at path by the document that change returns, under its lock. If change
// fails, or the document does not match the schema, the file stays as it was.
func UpdateFile(ctx context.Context, path, schema string, change func() (any, error)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := waitForLock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	changed, err := change()
	if err != nil {
		return err
	}
	document, err := json.MarshalIndent(changed, "", "  ")
	if err == nil {
		err = schemas.Check(schema, document)
	}
	if err != nil {
		return err
	}
	return vfs.Replace(vfs.OS, path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(document, '\n'))
		return err
	})
}

// waitForLock waits up to 2 s for another process to finish its change. The lock file stays:
// if it were removed, two processes could lock two different files of that name.
func waitForLock(ctx context.Context, path string) (lock io.Closer, err error) {
	const attempts, interval = 100, 20 * time.Millisecond
	retry := time.NewTicker(interval)
	for range attempts {
		if lock, err = vfs.LockFile(vfs.OS, path); !errors.Is(err, journal.ErrLocked) {
			return lock, err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return nil, err
}
