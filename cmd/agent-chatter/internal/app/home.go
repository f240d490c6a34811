package app

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// Places returns where teams are looked up.
func (a *App) Places() team.Places {
	return team.Places{Home: a.Home, Cwd: a.Cwd}
}

// CheckHome returns a *home.OthersError if others can change what the home decides. It prints, once, that a home in the
// working directory decides what runs.
func (a *App) CheckHome() error {
	a.insideReported.Do(a.reportInside)
	return home.CheckOwner(a.Home)
}

// reportInside prints that a home which a name other than the default puts into the working directory decides what
// runs. A home that has only sessions decides nothing.
func (a *App) reportInside() {
	if !home.InsideWorkingDirectory(a.Home, a.givenHome, a.Cwd) {
		return
	}
	for _, name := range home.Deciding {
		if _, err := os.Lstat(filepath.Join(a.Home, name)); err == nil {
			a.Notice(insideText(a.Home))
			return
		}
	}
}

// insideText is for a home in the working directory that has more than sessions.
func insideText(home string) string {
	return "The home " + tty.SafeLine(home) + " is in the working directory: if it came with a repository, " +
		"its author decides what runs here."
}

// othersText is for a home that others can change.
func othersText(e *home.OthersError) Message {
	m := Message{Text: Sentence(e) + ". No agents run with it."}
	if e.Owner >= 0 {
		return m.With(ToRun("take ownership", "sudo", "chown", strconv.Itoa(os.Geteuid()), e.Path))
	}
	return m.With(ToRun("restrict it to yourself", "chmod", "go-w", e.Path))
}
