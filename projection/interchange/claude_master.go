package interchange

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// claudeMasterFormat is the name of the format of claude-master.
const claudeMasterFormat = "claude-master"

var _ = RegisterFormat(Format{
	Name: claudeMasterFormat,
	Detect: func(o Fields) bool {
		return o.Has("instructor") || o["type"] == "instructor-message" || o["type"] == "session-metadata"
	},
	Read: claudeMasterSession,
})

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
	Config        struct {
		InstructorModel, WorkerModel, WorkDir string

		UseThinking json.RawMessage
	}
	Instructor *struct{ ConversationHistory []masterMessage }
	Worker     struct{ ConversationHistory []masterMessage }

	LastInstructorResponse struct{ Thinking, ShouldContinue, NeedsCorrection json.RawMessage }
}

// skipped returns how many of the fields that say how the program would continue
// are set: they are no part of the conversation.
func (s masterState) skipped() int {
	r, n := s.LastInstructorResponse, 0
	for _, field := range []json.RawMessage{s.Config.UseThinking, r.Thinking, r.ShouldContinue, r.NeedsCorrection} {
		if field != nil {
			n++
		}
	}
	return n
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

// claudeMasterSession returns a session of claude-master: one object, or a log, which
// has only the instructor's history.
func claudeMasterSession(src Source, app projection.App) (*Session, error) {
	isLog := false
	err := src.eachLine(func(_ int, line []byte) bool {
		isLog = jsonValue(line).field("type") != nil
		return false
	})
	if err != nil {
		return nil, err
	}
	var state masterState
	if !isLog {
		data, err := src.data()
		if err != nil {
			return nil, err
		}
		// What follows the object is not of the session.
		isLog = json.NewDecoder(bytes.NewReader(data)).Decode(&state) != nil || state.Instructor == nil
	}
	return newSession(claudeMasterFormat, src.Path, app, func(t *transcript) error {
		t.toolsFollow = true
		if isLog {
			return t.readMasterLog(src)
		}
		t.addHistories(state)
		return nil
	})
}

// addHistories interleaves the two histories. After the first message, the
// messages that the instructor receives are the results of its tools, or repeat
// those that the worker wrote.
func (t *transcript) addHistories(s masterState) {
	t.id, t.cwd, t.untimed, t.skipped = s.SessionID, s.Config.WorkDir, true, s.skipped()
	at := s.CreatedAt.Time
	t.addTime(at)
	work := s.Worker.ConversationHistory
	for i, m := range s.Instructor.ConversationHistory {
		switch {
		case m.Role == "assistant":
			t.addMasterMessage(instructor, m, s.Config.InstructorModel, at)
			if !m.has("tool_use") {
				work = t.addWork(work, s.Config.WorkerModel, at)
			}
		case m.has("tool_result"):
			t.completeTools(m.Content, at)
		case i == 0:
			t.addMasterMessage(user, m, "", at)
		case len(s.Worker.ConversationHistory) == 0:
			t.addMasterMessage(worker, m, s.Config.WorkerModel, at)
		}
	}
	for len(work) > 0 { // after the instructor's last message
		work = t.addWork(work, s.Config.WorkerModel, at)
	}
	t.endAt(s.LastUpdatedAt.Time)
}

// addWork adds the worker's messages up to its next instruction and returns the
// rest of the history.
func (t *transcript) addWork(history []masterMessage, model string, at time.Time) []masterMessage {
	for i, m := range history {
		if i > 0 && m.Role == "user" && !m.has("tool_result") {
			return history[i:]
		}
		if m.Role == "assistant" || m.has("tool_result") {
			t.addMasterMessage(worker, m, model, at)
		}
	}
	return nil
}

// has reports whether the message has a block of a kind.
func (m masterMessage) has(kind string) bool {
	for block := range jsonValue(m.Content).elements() {
		if string(block.field("type").plain()) == kind {
			return true
		}
	}
	return false
}

func (t *transcript) readMasterLog(src Source) error {
	model, invalid := "", 0
	var updated time.Time
	err := eachObject(src, &invalid, func(line masterLine) bool {
		if line.Type == "session-metadata" {
			t.id, t.cwd, model = line.SessionID, line.WorkDir, line.Config.InstructorModel
			updated = line.LastUpdatedAt.Time
			t.addTime(line.CreatedAt.Time)
		}
		return true
	})
	if err != nil {
		return err
	}
	err = eachObject(src, &t.skipped, func(line masterLine) bool {
		switch {
		case line.Type == "session-metadata":
		case line.Type != "instructor-message":
			t.skipped++
		case line.Message.Role == "assistant":
			t.addMasterMessage(instructor, line.Message, model, line.Timestamp.Time)
		default:
			t.addMasterMessage(user, line.Message, "", line.Timestamp.Time)
		}
		return !t.stopped
	})
	t.endAt(updated)
	return err
}

// addMasterMessage adds a message with its tool calls and results.
func (t *transcript) addMasterMessage(by projection.Speaker, m masterMessage, model string, at time.Time) {
	t.completeTools(m.Content, at)
	texts := m.Content.texts()
	text := strings.Join(texts, "\n\n")
	if by.Type == projection.TypeHuman {
		if len(texts) > 0 {
			t.addHuman("", texts, at)
		}
		return
	}
	t.speak(by, model)
	t.addReply("", text, at)
	if m.has("tool_use") {
		t.beginTurn("", at)
	}
	t.startTools(m.Content, at)
}
