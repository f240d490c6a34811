package transfer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ImportTranscript imports a conversation of another program as a session of a team; ""
// is the team called like the program.
func ImportTranscript(ctx context.Context, a *app.App, format, path, team string) Imported {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return failed(path, err)
	}
	s, err := readTranscript(a, format, absolute)
	if err != nil {
		return failed(path, fmt.Errorf("%s: %w", path, err))
	}
	if team != "" {
		s.SetTeam(team)
	}
	r := ImportSession(ctx, a, s)
	r.Path = path
	return r
}

// readTranscript reads the header of a transcript. For synapse it also reads the index in
// the same directory, if there is one.
func readTranscript(a *app.App, format, path string) (*interchange.Session, error) {
	if format != "synapse" {
		return interchange.Transcript(format, interchange.Source{
			Path: path,
			Open: func() (io.ReadCloser, error) { return openSource(path) },
		}, a.Identity())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
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
