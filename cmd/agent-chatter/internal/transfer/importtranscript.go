package transfer

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// takeTranscript imports what another program kept of a conversation.
func takeTranscript(a *app.App, format, path, team string) Imported {
	done := Imported{Path: path, Action: "failed"}
	data, err := os.ReadFile(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		done.Error = err.Error()
		return done
	}
	s, err := readTranscript(a, format, data, whole)
	if err != nil {
		done.Error = fmt.Sprintf("%s: %v", path, err)
		return done
	}
	if team != "" {
		s.SetTeam(team)
	}
	done = Take(a, s)
	done.Path, done.Skipped = path, s.Imported.Skipped
	return done
}

// readTranscript reads a file of another program, and what lies beside it where
// that is needed.
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
		index = nil // the session stands without it
	}
	return interchange.Synapse(data, path, index, info.ModTime(), a.Identity())
}
