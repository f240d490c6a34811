package transfer

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// A subagentFunc is interchange.Source.Subagent.
type subagentFunc = func(toolID, agentID string) (interchange.Source, bool)

// subagentSource returns the first of the files that exists. A symbolic link is no
// transcript: it may lead anywhere.
func subagentSource(ctx context.Context, find subagentFunc, paths ...string) (interchange.Source, bool) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			src := fileSource(ctx, path)
			src.Subagent = find
			return src, true
		}
	}
	return interchange.Source{}, false
}

// agentIDs are the ids that may be a part of a file name.
var agentIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`) })

// claudeSubagents finds the subagents of a session of Claude Code. Their files are in a
// directory with the session's name, next to one that names the call; older versions
// wrote them next to the session.
func claudeSubagents(ctx context.Context, path string) subagentFunc {
	dir := filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
	var agents map[string]string // by id of the call; nil: not read yet
	var find subagentFunc
	find = func(toolID, agentID string) (interchange.Source, bool) {
		if agents == nil {
			agents = readClaudeAgents(dir)
		}
		if id, ok := agents[toolID]; ok {
			agentID = id
		}
		if !agentIDs().MatchString(agentID) {
			return interchange.Source{}, false
		}
		name := "agent-" + agentID + ".jsonl"
		return subagentSource(ctx, find, filepath.Join(dir, name), filepath.Join(filepath.Dir(path), name))
	}
	return find
}

// readClaudeAgents returns the ids of the agents that the calls of a session started.
func readClaudeAgents(dir string) map[string]string {
	agents := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return agents
	}
	for _, entry := range entries {
		name, ok := strings.CutPrefix(entry.Name(), "agent-")
		id, isMeta := strings.CutSuffix(name, ".meta.json")
		if !ok || !isMeta {
			continue
		}
		data, err := regularfile.Read(filepath.Join(dir, entry.Name()), 1<<20)
		var meta struct{ ToolUseID string }
		if err == nil && json.Unmarshal(data, &meta) == nil && meta.ToolUseID != "" {
			agents[meta.ToolUseID] = id
		}
	}
	return agents
}

// codexSubagents finds the rollouts of the agents that a session of Codex started. They
// may be of another day.
func codexSubagents(ctx context.Context, path string) subagentFunc {
	var rollouts map[string]string // by id of the agent; nil: not read yet
	var find subagentFunc
	find = func(_, agentID string) (interchange.Source, bool) {
		if agentID == "" {
			return interchange.Source{}, false
		}
		if rollouts == nil {
			rollouts = readRollouts(codexRoot(path))
		}
		if rollouts[agentID] == "" {
			return interchange.Source{}, false
		}
		return subagentSource(ctx, find, rollouts[agentID])
	}
	return find
}

// codexRoot returns the directory with the directories of the years, or that of the file.
func codexRoot(path string) string {
	dir := filepath.Dir(path)
	if root := filepath.Dir(filepath.Dir(filepath.Dir(dir))); filepath.Base(root) == "sessions" {
		return root
	}
	return dir
}

// readRollouts returns the rollouts below a directory, by the UUID at the end of their
// names.
func readRollouts(root string) map[string]string {
	rollouts := map[string]string{}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		name := strings.TrimSuffix(strings.TrimSuffix(entry.Name(), ".zst"), ".jsonl")
		if strings.HasPrefix(name, "rollout-") && name != entry.Name() && len(name) > 36 {
			rollouts[name[len(name)-36:]] = path
		}
		return nil
	})
	return rollouts
}

// geminiSubagents finds the subagents of a conversation of the Gemini CLI. Their files
// are in a directory with the name of the session, next to it.
func geminiSubagents(ctx context.Context, path string) subagentFunc {
	var find subagentFunc
	find = func(_, agentID string) (interchange.Source, bool) {
		if !agentIDs().MatchString(agentID) {
			return interchange.Source{}, false
		}
		var paths []string
		entries, _ := os.ReadDir(filepath.Dir(path)) // without it there are no subagents
		for _, entry := range entries {
			if entry.IsDir() {
				paths = append(paths, filepath.Join(filepath.Dir(path), entry.Name(), agentID+".jsonl"))
			}
		}
		return subagentSource(ctx, find, paths...)
	}
	return find
}
