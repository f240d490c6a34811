package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// untriedAgents finds the known agents in PATH of another version than the one that was tried. It starts none: the
// version is that of the npm package that has the program. Agents that were installed in another way are left out.
func untriedAgents() (all []app.Finding) {
	seen := map[string]bool{}
	for _, k := range agent.KnownAgents() {
		name, tried := k.Package()
		if tried == "" || seen[name] {
			continue
		}
		seen[name] = true
		path, err := exec.LookPath(k.Program)
		if err != nil {
			continue
		}
		if version := packageVersion(path, name); version != "" && version != tried {
			all = append(all, untriedText(k, version, tried))
		}
	}
	return all
}

const (
	maxPackageDepth = 8       // directories from a program to that of its package
	maxPackageFile  = 1 << 20 // bytes of package.json
)

// packageVersion returns the version of the npm package that has a program; "": the program is of none with that name.
func packageVersion(program, name string) string {
	path, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for range maxPackageDepth {
		path = filepath.Dir(path)
		var found struct{ Name, Version string }
		if readJSON(filepath.Join(path, "package.json"), &found) && found.Name == name {
			return found.Version
		}
	}
	return ""
}

// readJSON reads a regular file of bounded length.
func readJSON(path string, into any) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxPackageFile {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPackageFile))
	return err == nil && json.Unmarshal(data, into) == nil
}

// untriedText is for an installed agent of another version than the one that was tried.
func untriedText(k agent.Known, version, tried string) app.Finding {
	what := fmt.Sprintf("%s %s was not tried with this version of agent-chatter; %s was",
		k.DisplayName, tty.SafeLine(version), tried)
	return app.Note(what, "", app.To("check that it works", "agents", "verify", k.Name))
}
