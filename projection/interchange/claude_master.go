package interchange

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// The two agents of claude-master.
var (
	instructor = agent("instructor", "Instructor")
	worker     = agent("worker", "Worker")
)

// masterMessage is a message in the format of Anthropic's API.
type masterMessage struct {
	Role    string
	Content claudeContent
}

// masterState is a session in one object.
type masterState struct {
	SessionID     string
	CreatedAt     timestamp
	LastUpdatedAt timestamp
	Config        struct{ InstructorModel, WorkerModel, WorkDir string }
	Instructor    *struct{ ConversationHistory []masterMessage }
	Worker        struct{ ConversationHistory []masterMessage }
}

// masterLine is a line of a log: a message of the instructor's history, or
// metadata of the session, of which the last line counts.
type masterLine struct {
	Type          string
	Timestamp     timestamp
	Message       masterMessage
	SessionID     string
	CreatedAt     timestamp
	LastUpdatedAt timestamp
	WorkDir       string
	Config        struct{ InstructorModel string }
}

// readClaudeMaster reads a session of claude-master: one object, or a log, which
// has only the instructor's history.
func (t *transcript) readClaudeMaster(data []byte) {
	var state masterState
	if json.Unmarshal(bytes.TrimSpace(data), &state) == nil && state.Instructor != nil {
		t.addHistories(state)
	} else {
		t.addMasterLog(data)
	}
}

// addHistories interleaves the two histories. After the first message, the
// messages that the instructor receives repeat those that the worker wrote.
func (t *transcript) addHistories(s masterState) {
	t.id, t.cwd = s.SessionID, s.Config.WorkDir
	t.addTime(s.CreatedAt.Time)
	t.addTime(s.LastUpdatedAt.Time)
	at := s.CreatedAt.Time
	work := s.Worker.ConversationHistory
	for i, m := range s.Instructor.ConversationHistory {
		switch {
		case m.Role == "assistant":
			t.addMasterMessage(instructor, m, s.Config.InstructorModel, at)
			work = t.addWork(work, s.Config.WorkerModel, at)
		case i == 0:
			t.addMasterMessage(user, m, "", at)
		case len(s.Worker.ConversationHistory) == 0:
			t.addMasterMessage(worker, m, s.Config.WorkerModel, at)
		}
	}
	for len(work) > 0 { // after the instructor's last message
		work = t.addWork(work, s.Config.WorkerModel, at)
	}
}

// addWork adds the worker's messages up to its next instruction and returns the
// rest of the history.
func (t *transcript) addWork(history []masterMessage, model string, at time.Time) []masterMessage {
	for i, m := range history {
		if i > 0 && m.Role == "user" && !m.hasResult() {
			return history[i:]
		}
		if m.Role == "assistant" || m.hasResult() {
			t.addMasterMessage(worker, m, model, at)
		}
	}
	return nil
}

func (m masterMessage) hasResult() bool {
	for block := range jsonValue(m.Content).elements() {
		if string(block.field("type").plain()) == "tool_result" {
			return true
		}
	}
	return false
}

func (t *transcript) addMasterLog(data []byte) {
	all := decodeLines[masterLine](data, &t.skipped)
	model := ""
	for _, line := range all {
		if line.Type == "session-metadata" {
			t.id, t.cwd, model = line.SessionID, line.WorkDir, line.Config.InstructorModel
			t.addTime(line.CreatedAt.Time)
		}
	}
	for _, line := range all {
		switch {
		case line.Type == "session-metadata":
		case line.Type != "instructor-message":
			t.skipped++
		case line.Message.Role == "assistant":
			t.addMasterMessage(instructor, line.Message, model, line.Timestamp.Time)
		default:
			t.addMasterMessage(user, line.Message, "", line.Timestamp.Time)
		}
	}
}

// addMasterMessage adds a message with its tool calls and results.
func (t *transcript) addMasterMessage(by projection.Speaker, m masterMessage, model string, at time.Time) {
	t.completeTools(m.Content, at)
	texts := m.Content.texts()
	text := strings.Join(texts, "\n\n")
	if by.Type == projection.TypeHuman {
		if len(texts) > 0 {
			t.addHuman("", text, at)
		}
		return
	}
	t.speak(by, model)
	t.addReply("", text, at)
	t.startTools(m.Content, at)
}
