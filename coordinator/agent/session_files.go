package agent

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// SessionFiles returns the regular files in which the program of an engine keeps the session with an id, for a member
// that works in dir. There are none if the program keeps its sessions in another way or no longer has the session, and
// for an id that cannot be the program's.
func SessionFiles(engine string, m Member, dir, id string) []string {
	if !isUUID(id) {
		return nil
	}
	switch engine {
	case "claude":
		return claudeFiles(m, dir, id)
	case "codex":
		return codexFiles(m, dir, id)
	}
	return nil
}

// claudeFiles returns the files of a session of Claude Code: one, unless they were copied. id is a UUID.
func claudeFiles(m Member, dir, id string) []string {
	root := filepath.Join(programDir(m, dir, "CLAUDE_CONFIG_DIR", ".claude"), "projects")
	projects, _ := os.ReadDir(root) // the session is not there
	var files []string
	for _, p := range projects {
		files = append(files, filepath.Join(root, p.Name(), id+".jsonl"))
	}
	return slices.DeleteFunc(files, isNoFile)
}

// codexFiles returns the files of a session of Codex. id is a UUID.
func codexFiles(m Member, dir, id string) []string {
	root := programDir(m, dir, "CODEX_HOME", ".codex")
	var files []string
	for _, place := range []string{"sessions/*/*/*/", "archived_sessions/"} { // of a year, month and day
		for _, ending := range []string{".jsonl", ".jsonl.zst"} {
			found, _ := fs.Glob(os.DirFS(root), place+"rollout-*-"+id+ending) // the pattern is valid
			for _, name := range found {
				files = append(files, filepath.Join(root, filepath.FromSlash(name)))
			}
		}
	}
	return slices.DeleteFunc(files, isNoFile)
}

// programDir returns the directory of an agent's program: the value of a variable, or a directory in the user's home.
func programDir(m Member, dir, variable, name string) string {
	set := m.Env[variable]
	if set == "" {
		home, _ := os.UserHomeDir()
		set = filepath.Join(cmp.Or(m.Env["HOME"], home), name)
	}
	if !filepath.IsAbs(set) {
		set = filepath.Join(dir, set)
	}
	return set
}

func isNoFile(path string) bool {
	file, err := regularfile.Open(path)
	if err == nil {
		_ = file.Close() // nothing was written
	}
	return err != nil
}
