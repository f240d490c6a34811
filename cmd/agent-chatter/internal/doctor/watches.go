package doctor

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// usage is how much of a limit the user's processes use.
type usage struct{ used, limit int }

// nearLimit reports whether more than 90% of the limit is used.
func (u usage) nearLimit() bool { return u.used*10 > u.limit*9 }

// checkWatches checks how much of the inotify limits is used. It reports nothing if
// inotify does not exist or its limits cannot be read: followers then poll.
func (d *doctor) checkWatches() []app.Finding {
	instances, watches, err := inotifyUsage()
	switch {
	case err != nil:
		return nil
	case instances.nearLimit() || watches.nearLimit():
		return []app.Finding{fewWatchesText(instances, watches)}
	}
	return []app.Finding{watchesText(instances, watches)}
}

func watchesText(instances, watches usage) app.Finding {
	return app.Fine(fmt.Sprintf("%d of %d inotify instances and %d of %d watches are used",
		instances.used, instances.limit, watches.used, watches.limit))
}

func fewWatchesText(instances, watches usage) app.Finding {
	return app.Note(watchesText(instances, watches).What+"; without them, tail -f polls four times a second", "",
		app.ToRun("raise the limits", "sudo", "sysctl",
			fmt.Sprintf("fs.inotify.max_user_instances=%d", 2*instances.limit),
			fmt.Sprintf("fs.inotify.max_user_watches=%d", 2*watches.limit)))
}
