package transfer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// importTranscript imports a conversation of another program as a session of a team; ""
// is the team called like the program.
func importTranscript(ctx context.Context, a *app.App, format, path, team string) Imported {
	data, err := os.ReadFile(path)
	if err != nil {
		return failed(path, err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return failed(path, err)
	}
	s, err := readTranscript(a, format, data, absolute)
	if err != nil {
		return failed(path, fmt.Errorf("%s: %w", path, err))
	}
	if team != "" {
		s.SetTeam(team)
	}
	r := ImportSession(ctx, a, s)
	r.Path, r.Skipped = path, s.Imported.Skipped
	return r
}

// readTranscript parses a transcript. For synapse it also reads the index in the same
// directory, if there is one.
func readTranscript(a *app.App, format string, data []byte, path string) (*interchange.Session, error) {
	if format != "synapse" {
		return interchange.Transcript(format, data, path, a.Identity())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(filepath.Dir(path), "sessions.json"))
	if err != nil {
		index = nil
	}
	return interchange.Synapse(data, path, index, info.ModTime(), a.Identity())
}
