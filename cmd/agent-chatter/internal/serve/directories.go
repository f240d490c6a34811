package serve

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// directories returns the directories in which new conversations may work, without links. nil: the page holds none.
func (cmd *Command) directories(a *app.App) ([]string, error) {
	if !cmd.Chat {
		if len(cmd.Allow) > 0 {
			return nil, app.UsageError("--allow is for the conversations of --chat.")
		}
		return nil, nil
	}
	named := cmd.Allow
	if len(named) == 0 {
		named = []string{a.Cwd}
	}
	var all []string
	for _, name := range named {
		path, err := home.ExpandPath(name)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		info, statErr := os.Stat(path)
		switch err = cmp.Or(err, statErr); {
		case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
			return nil, app.Exit(app.ExitNotFound, noDirectoryText(name))
		case err != nil:
			return nil, err
		}
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all, nil
}

// noDirectoryText is for a value of --allow.
func noDirectoryText(name string) app.Message {
	return app.Text("There is no directory %s, in which --allow lets agents work.", tty.SafeLine(name)).
		With(app.To("let them work here", "serve", "--chat", "--allow", "."))
}

// checkHome returns an error if others can change what decides who runs which agents.
func (cmd *Command) checkHome(a *app.App, p *pairing) error {
	if !cmd.Chat && !cmd.Pair {
		return nil
	}
	if err := a.CheckHome(); err != nil {
		return err
	}
	_, err := p.store.List()
	return err
}
