package coordinator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/schemas"
)

// A registry is the agents that are installed for all teams: config.json in dir. It is read
// when it is first asked, and whether it is broken matters only if it is missed.
type registry struct {
	dir    string
	read   bool
	agents map[string]agentJSON
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
	a := r.agents[name]
	a.Command = absoluteCommand(r.dir, a.Command)
	return a, a.Command != ""
}

// miss notes that an agent was not found, and reports whether a broken registry is why.
func (r *registry) miss() bool {
	r.missed = r.missed || r.err != nil
	return r.missed
}

// readRegistry reads the registry at path. One that is not there is empty.
func readRegistry(path string) (map[string]agentJSON, error) {
	content, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	document := withoutBOM(content)
	if err == nil {
		err = schemas.Check(schemas.AgentRegistry, document)
	}
	var file struct {
		Agents map[string]agentJSON `json:"agents"`
	}
	if err == nil {
		err = json.Unmarshal(document, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("agent registry %s: %w", path, err)
	}
	return file.Agents, nil
}

// Agent is an agent that is registered for all teams.
type Agent struct {
	Name    string
	Command string // absolute, or a name to be looked up in PATH
	Args    []string
}

// RegisteredAgents are the agents in the registry of the directory home, in the
// order of their names. Without a registry there are none. Errors are those of
// schemas.Check and of the file system.
func RegisteredAgents(home string) ([]Agent, error) {
	r := &registry{dir: filepath.Join(home, "agents")}
	_, _ = r.agent("")
	if r.err != nil {
		return nil, r.err
	}
	var agents []Agent
	for _, name := range slices.Sorted(maps.Keys(r.agents)) {
		a, _ := r.agent(name)
		agents = append(agents, Agent{Name: name, Command: a.Command, Args: a.Args})
	}
	return agents, nil
}
