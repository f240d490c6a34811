package interchange

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// synapseMessage is a line of a Synapse session. It has no time and no id.
type synapseMessage struct {
	Role       string
	Content    claudeContent // only its texts are read
	ToolCalls  []struct{ ID, Name, Arguments string }
	ToolCallID string
}

// synapseIndex is the list of sessions in the same directory.
type synapseIndex struct {
	Sessions []struct {
		ID, Title, CWD       string
		CreatedAt, UpdatedAt timestamp
	}
}

// Synapse reads a session of Synapse. index is the content of the sessions.json
// in its directory, or empty. If it does not have the session, the messages have
// the time modified. A session without messages is an error.
func Synapse(data []byte, path string, index []byte, modified time.Time, app projection.App) (*Session, error) {
	t := &transcript{format: synapseFormat, turns: map[int]Turn{}, undated: true}
	t.id = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	at := modified.UTC()
	var known synapseIndex
	if json.Unmarshal(index, &known) == nil {
		for _, s := range known.Sessions {
			if s.ID == t.id && !s.CreatedAt.IsZero() {
				at, t.cwd, t.title, t.undated = s.CreatedAt.Time, s.CWD, s.Title, false
			}
		}
	}
	for _, m := range decodeLines[synapseMessage](data, &t.skipped) {
		t.addSynapse(m, at)
	}
	return t.session(path, app)
}

func (t *transcript) addSynapse(m synapseMessage, at time.Time) {
	text := strings.Join(m.Content.texts(), "\n\n")
	switch m.Role {
	case "user":
		t.addHuman("", text, at)
	case "assistant":
		t.addReply(agent(synapseFormat, "Synapse"), "", text, at)
		for _, call := range m.ToolCalls {
			t.startTool(call.ID, call.Name, json.RawMessage(call.Arguments), at)
		}
	case "tool":
		t.completeTool(m.ToolCallID, text, "", at)
	default:
		t.skipped++
	}
}
