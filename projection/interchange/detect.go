package interchange

import (
	"bytes"
	"encoding/json"
)

// DetectTranscript returns the format of a transcript from its beginning: claude,
// codex, gemini, claude-master or synapse; "" if it is none of them.
func DetectTranscript(beginning []byte) string {
	var object struct {
		masterState
		ProjectHash string
		Messages    json.RawMessage
		Role        string
	}
	if json.Unmarshal(bytes.TrimSpace(beginning), &object) == nil {
		switch {
		case object.Instructor != nil:
			return claudeMasterFormat
		case object.Messages != nil && object.ProjectHash != "":
			return geminiFormat
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
			return codexFormat
		case line.SessionID != "" && line.ProjectHash != "":
			return geminiFormat
		case (line.Type == "user" || line.Type == "assistant") && line.Message != nil && line.UUID != "":
			return claudeFormat
		case line.Type == "instructor-message" || line.Type == "session-metadata":
			return claudeMasterFormat
		case line.Type == "" && line.Role != "" && line.Content != nil:
			return synapseFormat
		}
	}
	return ""
}
