package host

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// Workspace is coordinator.Options.Workspace; nil if config.json turns it off, or if this process does not write to the
// home.
func Workspace(a *app.App, config home.Config, writes bool) func(dir string) (*workspace.Workspace, error) {
	if !writes || !config.CapturesFiles() {
		return nil
	}
	return func(dir string) (*workspace.Workspace, error) {
		w, err := workspace.Open(a.Home, dir)
		if err == nil {
			w.Limits = config.FileLimits()
		}
		return w, err
	}
}
