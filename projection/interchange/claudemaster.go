package interchange

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

const claudeMasterTeam = "claude-master"

// The two agents of claude-master.
var (
	instructor = projection.Speaker{ID: "instructor", Name: "instructor", DisplayName: "Instructor", Type: projection.TypeAI}
	worker     = projection.Speaker{ID: "worker", Name: "worker", DisplayName: "Worker", Type: projection.TypeAI}
)

// masterMessage is a message of its histories, in the shape of Anthropic's API.
type masterMessage struct {
	Role    string
	Content claudeContent
}

// masterState is a whole session in one object.
type masterState struct {
	SessionID     string
	CreatedAt     instant
	LastUpdatedAt instant
	Config        struct{ InstructorModel, WorkerModel, WorkDir string }
	Instructor    *struct{ ConversationHistory []masterMessage }
	Worker        struct{ ConversationHistory []masterMessage }
}

// masterLine is a line of its logs: a message of the instructor's history, or what
// is known of the session, the last of which counts.
type masterLine struct {
	Type          string
	Timestamp     instant
	Message       masterMessage
	SessionID     string
	CreatedAt     instant
	LastUpdatedAt instant
	WorkDir       string
	Config        struct{ InstructorModel string }
}

// ClaudeMaster reads a session of claude-master, the one object or the log. The
// log has the instructor's history alone.
func ClaudeMaster(data []byte, path string, app projection.App) (*Session, error) {
	t := newTranscript(claudeMasterTeam, "claude-master")
	var state masterState
	if json.Unmarshal(bytes.TrimSpace(data), &state) == nil && state.Instructor != nil {
		t.masterState(state)
	} else {
		t.masterLog(data)
	}
	return t.session(claudeMasterTeam, path, app)
}

// masterState puts the two histories together again: they answer one another, and
// what the instructor hears after the first message is what the worker said.
func (t *transcript) masterState(s masterState) {
	t.id, t.cwd = s.SessionID, s.Config.WorkDir
	t.touch(s.CreatedAt.Time)
	t.touch(s.LastUpdatedAt.Time)
	at := s.CreatedAt.Time
	work := s.Worker.ConversationHistory
	for i, m := range s.Instructor.ConversationHistory {
		switch {
		case m.Role == "assistant":
			t.by(instructor, m, s.Config.InstructorModel, at)
			work = t.work(work, s.Config.WorkerModel, at)
		case i == 0:
			t.by(you, m, "", at)
		case len(s.Worker.ConversationHistory) == 0:
			t.by(worker, m, s.Config.WorkerModel, at)
		}
	}
	for len(work) > 0 { // that the instructor did not hear any more
		work = t.work(work, s.Config.WorkerModel, at)
	}
}

// work takes what the worker did until its next instruction, and returns the
// rest.
func (t *transcript) work(history []masterMessage, model string, at time.Time) []masterMessage {
	for i, m := range history {
		if i > 0 && m.Role == "user" && !m.hasResult() {
			return history[i:]
		}
		if m.Role == "assistant" || m.hasResult() {
			t.by(worker, m, model, at)
		}
	}
	return nil
}

func (m masterMessage) hasResult() bool {
	for _, block := range m.Content {
		if block.Type == "tool_result" {
			return true
		}
	}
	return false
}

func (t *transcript) masterLog(data []byte) {
	all := decodeLines[masterLine](data, &t.skipped)
	model := ""
	for _, line := range all {
		if line.Type == "session-metadata" {
			t.id, t.cwd, model = line.SessionID, line.WorkDir, line.Config.InstructorModel
			t.touch(line.CreatedAt.Time)
		}
	}
	for _, line := range all {
		switch {
		case line.Type == "session-metadata":
		case line.Type != "instructor-message":
			t.skipped++
		case line.Message.Role == "assistant":
			t.by(instructor, line.Message, model, line.Timestamp.Time)
		default:
			t.by(you, line.Message, "", line.Timestamp.Time)
		}
	}
}

// by adds a message of somebody, with the tools in it.
func (t *transcript) by(who projection.Speaker, m masterMessage, model string, at time.Time) {
	t.results(m.Content, at)
	texts := m.Content.texts()
	text := strings.Join(texts, "\n\n")
	if who.Type == projection.TypeHuman {
		if len(texts) > 0 {
			t.said("", text, at)
		}
		return
	}
	t.next.Model = model
	agent := t.agent
	t.agent = who
	t.answered("", text, at)
	t.agent = agent
	t.uses(m.Content, at)
}
