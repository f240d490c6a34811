package interchange

import (
	"path/filepath"
	"strings"
)

// codexSubagents returns where the rollouts of the agents are that a session of Codex started. They
// may be of another day.
func codexSubagents(src Source) func(toolID, agentID string) []string {
	var rollouts map[string]string // by id of the agent; nil: not read yet
	return func(_, agentID string) []string {
		if agentID == "" {
			return nil
		}
		if rollouts == nil {
			rollouts = map[string]string{}
			src.addRollouts(rollouts, codexRoot(src.Path))
		}
		if rollouts[agentID] == "" {
			return nil
		}
		return []string{rollouts[agentID]}
	}
}

// codexRoot returns the directory with the directories of the years, or that of the file.
func codexRoot(path string) string {
	dir := filepath.Dir(path)
	if root := filepath.Dir(filepath.Dir(filepath.Dir(dir))); filepath.Base(root) == "sessions" {
		return root
	}
	return dir
}

// addRollouts adds the rollouts below a directory, by the UUID at the end of their names.
func (s Source) addRollouts(rollouts map[string]string, dir string) {
	for _, entry := range s.List(dir) {
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			s.addRollouts(rollouts, path)
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(entry.Name(), ".zst"), ".jsonl")
		if strings.HasPrefix(name, "rollout-") && name != entry.Name() && len(name) > 36 {
			rollouts[name[len(name)-36:]] = path
		}
	}
}
