package host

import (
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
)

// residentsDir is the directory in the home for coordinator.Residents.Dir.
const residentsDir = "residents"

// Residents returns the agents' programs of this process, at most so many as config.json says, 0 being the default.
// They count together with those of other processes with the home, if this one writes there.
func Residents(a *app.App, most int, writes bool) *coordinator.Residents {
	r := &coordinator.Residents{Max: most}
	if writes {
		r.Dir = filepath.Join(a.Home, residentsDir)
	}
	return r
}
