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
	id := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	header := transcript{id: id, undated: true}
	at := modified.UTC()
	var known synapseIndex
	if json.Unmarshal(index, &known) == nil {
		for _, s := range known.Sessions {
			if s.ID == id && !s.CreatedAt.IsZero() {
				at, header.cwd, header.title, header.undated = s.CreatedAt.Time, s.CWD, s.Title, false
			}
		}
	}
	return newSession(synapseFormat, path, app, func(t *transcript) {
		t.id, t.cwd, t.title, t.undated = id, header.cwd, header.title, header.undated
		t.speak(agent(synapseFormat, "Synapse"), "")
		for _, m := range decodeLines[synapseMessage](data, &t.skipped) {
			t.addSynapse(m, at)
		}
	})
}

func (t *transcript) addSynapse(m synapseMessage, at time.Time) {
	text := strings.Join(m.Content.texts(), "\n\n")
	switch m.Role {
	case "user":
		t.addHuman("", text, at)
	case "assistant":
		t.addReply("", text, at)
		for _, call := range m.ToolCalls {
			t.startTool(call.ID, call.Name, json.RawMessage(call.Arguments), at)
		}
	case "tool":
		t.completeTool(m.ToolCallID, text, "", at)
	default:
		t.skipped++
	}
}
