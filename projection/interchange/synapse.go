package interchange

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

const synapseTeam = "synapse"

// synapseMessage is a line of a session of Synapse. It has no time and no id.
type synapseMessage struct {
	Role       string
	Content    claudeContent // of which only texts are taken
	ToolCalls  []struct{ ID, Name, Arguments string }
	ToolCallID string
}

// synapseIndex is the file of its sessions, beside them.
type synapseIndex struct {
	Sessions []struct {
		ID, Title, CWD       string
		CreatedAt, UpdatedAt instant
	}
}

// Synapse reads a session of Synapse. What its index says of the session is in
// index, which may be empty; without it, modified is when the session was.
func Synapse(data []byte, path string, index []byte, modified time.Time, app projection.App) (*Session, error) {
	t := newTranscript(synapseTeam, "Synapse")
	t.id = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	at := modified.UTC()
	t.undated = true
	var known synapseIndex
	if json.Unmarshal(index, &known) == nil {
		for _, s := range known.Sessions {
			if s.ID == t.id && !s.CreatedAt.IsZero() {
				at, t.cwd, t.title, t.undated = s.CreatedAt.Time, s.CWD, s.Title, false
			}
		}
	}
	for _, m := range decodeLines[synapseMessage](data, &t.skipped) {
		t.synapse(m, at)
	}
	return t.session(synapseTeam, path, app)
}

func (t *transcript) synapse(m synapseMessage, at time.Time) {
	text := strings.Join(m.Content.texts(), "\n\n")
	switch m.Role {
	case "user":
		t.said("", text, at)
	case "assistant":
		t.answered("", text, at)
		for _, call := range m.ToolCalls {
			t.used(call.ID, call.Name, json.RawMessage(call.Arguments), at)
		}
	case "tool":
		t.gave(m.ToolCallID, text, "", at)
	default:
		t.skipped++
	}
}
