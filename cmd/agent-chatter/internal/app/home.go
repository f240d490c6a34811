package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// Places returns where teams are looked up.
func (a *App) Places() team.Places {
	p := team.Places{Home: a.OwnHome, Cwd: a.Cwd}
	if a.Home != a.OwnHome {
		p.Others = []string{a.Home}
	}
	return p
}

// reportIgnored prints, once, that the home has settings that do not count.
func (a *App) reportIgnored() {
	if a.Home == a.OwnHome || a.ignoredReported {
		return
	}
	a.ignoredReported = true
	for _, name := range []string{"config.json", "trust.json", filepath.Join("agents", "config.json")} {
		if _, err := os.Lstat(filepath.Join(a.Home, name)); !errors.Is(err, fs.ErrNotExist) {
			a.Notice(ignoredHomeText(a.Home, a.OwnHome))
			return
		}
	}
}

// ignoredHomeText is for a home in the working directory that has more than sessions and teams.
func ignoredHomeText(home, own string) string {
	return "The home " + tty.SafeLine(home) + " is in the working directory: its settings, agents and trust.json " +
		"are ignored.\nThose of " + tty.SafeLine(own) + " are used."
}
