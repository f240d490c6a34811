package transfer

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// sourceOf returns the file of a transcript, with those of its subagents.
func sourceOf(ctx context.Context, format, path string) interchange.Source {
	src := source(ctx, path)
	switch format {
	case "claude":
		src.Subagent = claudeSubagents(ctx, path)
	case "codex":
		src.Subagent = codexSubagents(ctx, path)
	case "gemini":
		src.Subagent = geminiSubagents(ctx, path)
	}
	return src
}

// source returns a file that must be the same each time it is opened: what an earlier
// reading found would be false of another file. It may have grown. Reading ends when ctx
// is done.
func source(ctx context.Context, path string) interchange.Source {
	var first fs.FileInfo
	return interchange.Source{Path: path, Open: func() (io.ReadCloser, error) {
		f, info, err := openSource(path)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = info
		}
		if !os.SameFile(first, info) || info.Size() < first.Size() {
			f.Close()
			return nil, app.Exit(app.ExitFailed, replacedText(path))
		}
		return contextFile{f, ctx}, nil
	}}
}

// contextFile is a file that can be read until a context is done.
type contextFile struct {
	io.ReadCloser
	ctx context.Context
}

func (f contextFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.ReadCloser.Read(p)
}

// replacedText is for a file that is another one than it was at its first reading.
func replacedText(path string) app.Message {
	return app.Text("%s was replaced or truncated while it was imported.", tty.SafeLine(path)).
		With(app.To("import it as it is now", "sessions", "import", path))
}

// A subagentFunc is interchange.Source.Subagent.
type subagentFunc = func(toolID, agentID string) (interchange.Source, bool)

// subagentSource returns the first of the files that exists. A symbolic link is no
// transcript: it may lead anywhere.
func subagentSource(ctx context.Context, find subagentFunc, paths ...string) (interchange.Source, bool) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			src := source(ctx, path)
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
