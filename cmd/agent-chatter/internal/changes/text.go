package changes

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ExportName returns the name of a file for a session that the user has not named.
func ExportName(id string) string { return id + ".md" }

// absolute returns an absolute path, which ends with a separator if path does.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil // ExportSession refuses it
	}
	whole, err := home.ExpandPath(path)
	if err == nil {
		whole, err = filepath.Abs(whole)
	}
	if separator := string(filepath.Separator); err == nil && os.IsPathSeparator(path[len(path)-1]) {
		whole = strings.TrimSuffix(whole, separator) + separator
	}
	return whole, err
}

// point returns an event as ForkSession takes it.
func point(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatUint(seq, 10)
}

func renamedText(title string) string { return "Renamed to: " + tty.SafeLine(title) }

func pinText(pinned bool) string {
	if pinned {
		return "Pinned."
	}
	return "No longer pinned."
}

func trashedText(s catalog.Session) string { return "Moved to the trash: " + name(s) }

func restoredText(s catalog.Session) string { return "Restored: " + name(s) }

// name returns the title of a session, or the id of one without.
func name(s catalog.Session) string { return cmp.Or(strings.TrimSpace(tty.SafeLine(s.Title)), s.ID) }

// inTrashText is for a session that is in the trash already.
func inTrashText(id string) app.Message {
	return app.Text("Session %s is in the trash.", id).With(app.To("restore it", "sessions", "restore", id))
}

// movedText is for a session that is no longer in the directory where it was listed.
func movedText(to catalog.Key) app.Message {
	return app.Text("Session %s was moved to %s.", to.ID, tty.SafeLine(to.Dir))
}

// OnlyOnHubText is for a session that was to be moved to the trash.
func OnlyOnHubText(id string) app.Message {
	return app.Text("Session %s is only on the hub, so it cannot be moved to the trash here.", id).
		With(app.To("remove it from the hub", "hub", "purge", id))
}

// LiveElsewhereText is for a session that was to be resumed.
func LiveElsewhereText(id, host string) app.Message {
	return app.Text("The session is live on %s.", tty.SafeLine(host)).With(
		app.To("watch it", "tail", "-f", id), app.To("take it over", "chat", "--resume", id, "--take-over"))
}
