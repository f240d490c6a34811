package interchange

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// addSide adds a line of a subagent that is in the file of the session, as
// older versions of the program wrote them. It belongs to the newest call.
func (c *claudeReader) addSide(line claudeLine) {
	if c.side == nil {
		c.addResponse()
		if c.turn == nil || len(c.turn.calls) == 0 || c.yield == nil {
			c.skipped++
			return
		}
		c.side = c.newSubagent(c.turn.calls[len(c.turn.calls)-1].id)
		c.side.claude = newClaudeReader(c.side.transcript, Source{}, nil, nil)
	}
	c.side.claude.addMessage(line)
}

func (c *claudeReader) endSide() {
	if c.side != nil {
		c.side.claude.addResponse()
		c.side.end()
		c.side = nil
	}
}

// claudeSubagents returns where the subagents of a session of Claude Code are. Their files are in a
// directory with the session's name, next to one that names the call; older versions
// wrote them next to the session.
func claudeSubagents(src Source) func(toolID, agentID string) []string {
	dir := filepath.Join(strings.TrimSuffix(src.Path, filepath.Ext(src.Path)), "subagents")
	var agents map[string]string // by id of the call; nil: not read yet
	return func(toolID, agentID string) []string {
		if agents == nil {
			agents = src.readClaudeAgents(dir)
		}
		if id, ok := agents[toolID]; ok {
			agentID = id
		}
		if !agentIDs().MatchString(agentID) {
			return nil
		}
		name := "agent-" + agentID + ".jsonl"
		return []string{filepath.Join(dir, name), filepath.Join(filepath.Dir(src.Path), name)}
	}
}

// readClaudeAgents returns the ids of the agents that the calls of a session started.
func (s Source) readClaudeAgents(dir string) map[string]string {
	agents := map[string]string{}
	for _, entry := range s.List(dir) {
		name, ok := strings.CutPrefix(entry.Name(), "agent-")
		id, isMeta := strings.CutSuffix(name, ".meta.json")
		if !ok || !isMeta {
			continue
		}
		data := s.readFile(filepath.Join(dir, entry.Name()), 1<<20)
		var meta struct{ ToolUseID string }
		if json.Unmarshal(data, &meta) == nil && meta.ToolUseID != "" {
			agents[meta.ToolUseID] = id
		}
	}
	return agents
}
