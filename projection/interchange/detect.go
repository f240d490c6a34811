package interchange

import (
	"bytes"
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/projection"
)

// DetectTranscript is the format of a transcript that begins like this: claude,
// codex, gemini, claude-master or synapse; "" for anything else.
func DetectTranscript(beginning []byte) string {
	var whole struct {
		masterState
		geminiRecord
		Role string
	}
	if json.Unmarshal(bytes.TrimSpace(beginning), &whole) == nil {
		switch {
		case whole.Instructor != nil:
			return claudeMasterTeam
		case whole.Messages != nil && whole.ProjectHash != "":
			return geminiTeam
		}
	}
	var ignored int
	for _, line := range decodeLines[struct {
		Type, SessionID, ProjectHash string
		UUID, Role                   string
		Payload, Message, Content    json.RawMessage
	}](beginning, &ignored) {
		switch {
		case line.Type == "session_meta" && line.Payload != nil:
			return codexTeam
		case line.SessionID != "" && line.ProjectHash != "":
			return geminiTeam
		case (line.Type == "user" || line.Type == "assistant") && line.Message != nil && line.UUID != "":
			return claudeTeam
		case line.Type == "instructor-message" || line.Type == "session-metadata":
			return claudeMasterTeam
		case line.Type == "" && line.Role != "" && line.Content != nil:
			return synapseTeam
		}
	}
	return ""
}

// readers are the formats by their names.
var readers = map[string]func(data []byte, path string, app projection.App) (*Session, error){
	claudeTeam: Claude, codexTeam: Codex, geminiTeam: Gemini, claudeMasterTeam: ClaudeMaster,
}

// Transcript reads a transcript of that format: claude, codex, gemini or
// claude-master.
func Transcript(format string, data []byte, path string, app projection.App) (*Session, error) {
	return readers[format](data, path, app)
}
