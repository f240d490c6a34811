package transfer

import (
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// readTranscript reads the header of a transcript. For synapse it also reads the index in
// the same directory, if there is one.
func readTranscript(a *app.App, format, path string) (*interchange.Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if format != "synapse" {
		return interchange.Transcript(format, sourceOf(format, path), a.Identity())
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
