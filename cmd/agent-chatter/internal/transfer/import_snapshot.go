package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// maxSnapshot is the length of the longest snapshot that is read, in bytes. Reading one
// takes several times its length in memory.
const maxSnapshot = 256 << 20

// longSnapshotText is for a snapshot that would need too much memory.
func longSnapshotText(path string, limit int64) app.Message {
	return app.Text("%s is a snapshot with more than the limit of %d bytes. Export the session as a bundle, "+
		"which may have any size, and import that.", tty.SafeLine(path), limit).
		With(app.To("export it", "sessions", "export", "ID", "--format", "bundle", "-o", "FILE"))
}

// ReadSnapshot reads the session in the snapshot file at path.
func ReadSnapshot(a *app.App, path string) (*interchange.Session, error) {
	return readSnapshot(a, path, path)
}

func readSnapshot(a *app.App, path, name string) (*interchange.Session, error) {
	data, err := regularfile.Read(path, maxSnapshot)
	if size := (*regularfile.SizeError)(nil); errors.As(err, &size) {
		return nil, app.Exit(app.ExitFailed, longSnapshotText(path, size.Limit))
	}
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	s, err := interchange.Snapshot(data, absolute, a.Identity())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// oldestFirst sorts snapshot files by their update times, so that several snapshots of one
// session extend it in order. It keeps only the times in memory.
func oldestFirst(files []string) []string {
	if len(files) < 2 {
		return files
	}
	updated := make(map[string]time.Time, len(files))
	for _, path := range files {
		updated[path] = updatedAt(path)
	}
	return slices.SortedStableFunc(slices.Values(files),
		func(x, y string) int { return updated[x].Compare(updated[y]) })
}

// updatedAt returns the update time of a snapshot. It is zero if the snapshot cannot be
// read; ReadSnapshot reports the error.
func updatedAt(path string) time.Time {
	data, err := regularfile.Read(path, maxSnapshot)
	if err != nil {
		return time.Time{}
	}
	var s struct{ UpdatedAt time.Time }
	if json.Unmarshal(data, &s) != nil {
		return time.Time{}
	}
	return s.UpdatedAt
}

// ExportText reports that path is an export that cannot be imported.
func ExportText(path string) app.Message {
	return app.Text("%s was exported as JSON, which cannot be imported. A bundle, a journal and a snapshot can.",
		tty.SafeLine(path)).
		With(app.To("export the session as a bundle", "sessions", "export", "ID", "--format", "bundle", "-o", "FILE"))
}

// TeamFileText reports that path is a team configuration.
func TeamFileText(path string) app.Message {
	return app.Text("%s is the configuration of a team, not a session.", tty.SafeLine(path)).
		With(app.To("chat with the team", "chat", "-t", path))
}
