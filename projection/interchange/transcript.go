package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// The formats of transcripts. Each is also the id of the team of its sessions
// and of the team's only agent.
const (
	claudeFormat       = "claude"
	codexFormat        = "codex"
	geminiFormat       = "gemini"
	claudeMasterFormat = "claude-master"
	synapseFormat      = "synapse"
)

// Transcript reads a transcript in the format claude, codex, gemini or
// claude-master. A transcript without messages is an error.
func Transcript(format string, data []byte, path string, app projection.App) (*Session, error) {
	t := &transcript{format: format, turns: map[int]Turn{}}
	switch format {
	case claudeFormat:
		t.readClaude(data)
	case codexFormat:
		t.readCodex(data)
	case geminiFormat:
		t.readGemini(data)
	case claudeMasterFormat:
		t.readClaudeMaster(data)
	default:
		return nil, fmt.Errorf("unknown transcript format %q", format)
	}
	return t.session(path, app)
}

var user = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}

// agent returns the speaker for an agent.
func agent(id, displayName string) projection.Speaker {
	return projection.Speaker{ID: id, Name: id, DisplayName: displayName, Type: projection.TypeAI}
}

// transcript collects the content of a transcript. No line makes the rest
// unreadable: what is unknown is counted and skipped.
type transcript struct {
	format  string
	id      string // the other program's id of the session
	created time.Time
	updated time.Time
	cwd     string
	title   string // chosen by a person; "": none
	undated bool   // created is only the time at which the file was last changed

	messages []projection.Message
	turns    map[int]Turn
	pending  Turn // of the next message of an agent
	skipped  int  // lines
}

// addHuman adds a message of a person, without what the program put around it.
func (t *transcript) addHuman(id, text string, at time.Time) {
	text = strings.TrimSpace(text)
	generated := strings.HasPrefix(text, "# AGENTS.md") || strings.HasPrefix(text, "[Request interrupted")
	text = strings.TrimSpace(wrappers().ReplaceAllString(text, ""))
	if generated || text == "" {
		t.skipped++
		return
	}
	t.add(user, id, text, at)
}

// addReply adds a message of an agent and ends the pending turn. Without text it
// does neither, so that the tools belong to the next message.
func (t *transcript) addReply(by projection.Speaker, id, text string, at time.Time) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	t.turns[len(t.messages)] = t.pending
	t.pending = Turn{}
	t.add(by, id, text, at)
}

func (t *transcript) add(by projection.Speaker, id, text string, at time.Time) {
	t.addTime(at)
	if at.IsZero() {
		at = t.updated
	}
	if id == "" {
		id = fmt.Sprintf("%s-%d", t.id, len(t.messages)+1)
	}
	t.messages = append(t.messages, projection.Message{
		ID: id, Timestamp: projection.FormatTime(at), Speaker: by, Content: strings.ToValidUTF8(text, "\uFFFD"),
	})
}

// addTime extends the time of the session to at. The zero time is ignored.
func (t *transcript) addTime(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.created.IsZero() || at.Before(t.created) {
		t.created = at
	}
	if at.After(t.updated) {
		t.updated = at
	}
}

// startTool adds a call of a tool to the pending turn.
func (t *transcript) startTool(id, name string, input json.RawMessage, at time.Time) {
	if !json.Valid(input) {
		input, _ = json.Marshal(string(input))
	}
	t.pending.Tools = append(t.pending.Tools, Tool{id: id, Name: name, Input: bytes.Clone(input), at: at})
}

// completeTool adds the result of a tool. The result of an unknown call is
// skipped.
func (t *transcript) completeTool(id, output, failure string, at time.Time) {
	for i := range t.pending.Tools {
		if tool := &t.pending.Tools[i]; tool.id == id && !tool.completed {
			tool.Output, tool.Error, tool.until, tool.completed = output, failure, at, true
			return
		}
	}
	t.skipped++
}

// addUsage adds tokens to the turn.
func (u *Turn) addUsage(input, output int64) {
	if input == 0 && output == 0 {
		return
	}
	if u.Usage == nil {
		u.Usage = &projection.Usage{}
	}
	u.Usage.InputTokens += input
	u.Usage.OutputTokens += output
}

// session returns what was collected.
func (t *transcript) session(path string, app projection.App) (*Session, error) {
	if len(t.messages) == 0 {
		return nil, errors.New("it has no messages")
	}
	if t.id == "" {
		base := filepath.Base(path)
		t.id = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if _, err := parseTime(projection.FormatTime(t.created)); err != nil {
		return nil, err
	}
	idTime := t.created
	if t.undated {
		idTime = time.Time{}
	}
	id := sessionID(t.format, t.format, t.id, idTime)
	t.skipped += len(t.pending.Tools) // no message follows them
	return &Session{
		ID: id, TeamID: t.format, CreatedAt: t.created, updatedAt: t.updated,
		Messages: t.messages, Turns: t.turns, Title: t.title,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app, CWD: t.cwd,
			Team: projection.Team{ID: t.format, Name: t.format, Members: speakers(t.messages)},
		},
		Imported: projection.SessionImported{Source: t.format, Path: path, Taken: len(t.messages), Skipped: t.skipped},
		sourceID: t.id,
		idTime:   idTime,
	}, nil
}

// wrappers matches what programs put around a person's message for the agent
// only.
var wrappers = sync.OnceValue(func() *regexp.Regexp {
	const tag = `(?:command-name|command-message|command-args|command-contents|` +
		`local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|environment_context|` +
		`permissions instructions|app-context|session_context|skills_instructions|user_instructions)`
	return regexp.MustCompile(`(?s)<` + tag + `>.*?(?:</` + tag + `>|\z)`)
})

// decodeLines decodes the lines that are JSON objects and counts the others.
func decodeLines[T any](data []byte, skipped *int) []T {
	var all []T
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var v T
		if json.Unmarshal(line, &v) != nil {
			*skipped++
			continue
		}
		all = append(all, v)
	}
	return all
}

// timestamp is a time in a transcript; an invalid one is the zero time.
type timestamp struct{ time.Time }

// UnmarshalJSON returns no error.
func (i *timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if at, err := parseTime(text); err == nil {
			i.Time = at
		}
	}
	return nil
}
