package transfer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ReadSnapshot reads the session in the snapshot file at path.
func ReadSnapshot(a *app.App, path string) (*interchange.Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s, err := interchange.Snapshot(data, absolute, a.Identity())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
	data, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}
	}
	var s struct{ UpdatedAt time.Time }
	if json.Unmarshal(data, &s) != nil {
		return time.Time{}
	}
	return s.UpdatedAt
}

// TeamFileText reports that path is a team configuration.
func TeamFileText(path string) app.Message {
	return app.Text("%s is the configuration of a team, not a session.", tty.SafeLine(path)).
		With(app.To("chat with the team", "chat", "-t", path))
}
