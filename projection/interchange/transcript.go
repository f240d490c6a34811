package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// The agents whose transcripts are read: the id of the team that a session
// becomes one of, and of its one agent.
const (
	claudeTeam = "claude"
	codexTeam  = "codex"
	geminiTeam = "gemini"
)

// ErrNoMessages: there is nothing in a transcript that anybody said.
var ErrNoMessages = errors.New("nobody said anything in it")

var you = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}

// transcript gathers a session line by line. These formats are nobody's promise:
// what is not known is counted and left out, and no line makes the rest unreadable.
type transcript struct {
	agent   projection.Speaker
	id      string // as the other program names the session
	created time.Time
	updated time.Time
	cwd     string
	title   string // that somebody chose; "": none
	undated bool   // created is only when the file was changed last

	messages []projection.Message
	turns    map[int]Turn
	next     Turn // of the message to come
	skipped  int  // lines
}

func newTranscript(id, displayName string) *transcript {
	return &transcript{
		agent: projection.Speaker{ID: id, Name: id, DisplayName: displayName, Type: projection.TypeAI},
		turns: map[int]Turn{},
	}
}

// said adds a message of a person.
func (t *transcript) said(id, text string, at time.Time) {
	if text = withoutWrappers(text); text == "" {
		t.skipped++
		return
	}
	t.add(you, id, text, at)
}

// answered adds a message of the agent, with the tools that it used before it.
func (t *transcript) answered(id, text string, at time.Time) {
	if text = strings.TrimSpace(text); text == "" {
		return // its tools belong to what comes next
	}
	t.turns[len(t.messages)] = t.next
	t.next = Turn{}
	t.add(t.agent, id, text, at)
}

func (t *transcript) add(by projection.Speaker, id, text string, at time.Time) {
	t.touch(at)
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

func (t *transcript) touch(at time.Time) {
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

// used adds the use of a tool.
func (t *transcript) used(id, name string, input json.RawMessage, at time.Time) {
	if !json.Valid(input) {
		input, _ = json.Marshal(string(input))
	}
	t.next.Tools = append(t.next.Tools, Tool{ID: id, Name: name, Input: bytes.Clone(input), At: at})
}

// gave adds what a tool gave back. One that nobody used is skipped.
func (t *transcript) gave(id, output, failure string, at time.Time) {
	for i := range t.next.Tools {
		if tool := &t.next.Tools[i]; tool.ID == id && !tool.ended {
			tool.Output, tool.Error, tool.Until, tool.ended = output, failure, at, true
			return
		}
	}
	t.skipped++
}

// spent adds tokens.
func (t *transcript) spent(input, output int64) {
	if input == 0 && output == 0 {
		return
	}
	if t.next.Usage == nil {
		t.next.Usage = &projection.Usage{}
	}
	t.next.Usage.InputTokens += input
	t.next.Usage.OutputTokens += output
}

// session is the whole, from a file of that format.
func (t *transcript) session(format, path string, app projection.App) (*Session, error) {
	if len(t.messages) == 0 {
		return nil, ErrNoMessages
	}
	if t.id == "" {
		base := filepath.Base(path)
		t.id = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if _, err := moment(projection.FormatTime(t.created)); err != nil {
		return nil, err
	}
	minted := t.created
	if t.undated {
		minted = time.Time{}
	}
	id := sessionID(format, t.agent.ID, t.id, minted)
	t.skipped += len(t.next.Tools) // nothing was said behind them
	return &Session{
		ID: id, TeamID: t.agent.ID, CreatedAt: t.created, UpdatedAt: t.updated, Messages: t.messages, Turns: t.turns, Title: t.title,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app, CWD: t.cwd,
			Team: projection.Team{ID: t.agent.ID, Name: t.agent.ID, Members: members(t.messages)},
		},
		Imported: projection.SessionImported{Source: format, Path: path, Taken: len(t.messages), Skipped: t.skipped},
		source:   t.id,
		minted:   minted,
	}, nil
}

// wrappers are what programs put around what people say, for the agent alone.
var wrappers = regexp.MustCompile(`(?s)<(command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|environment_context|permissions instructions|app-context|session_context|skills_instructions|user_instructions)>.*?(?:</(?:command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|environment_context|permissions instructions|app-context|session_context|skills_instructions|user_instructions)>|\z)`)

func withoutWrappers(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "# AGENTS.md") || strings.HasPrefix(text, "[Request interrupted") {
		return ""
	}
	return strings.TrimSpace(wrappers.ReplaceAllString(text, ""))
}

// decodeLines decodes the lines of a file that are JSON objects; the others are
// counted.
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

// instant is a time as transcripts have it; what is none is the zero time.
type instant struct{ time.Time }

// UnmarshalJSON never fails.
func (i *instant) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		if at, err := moment(text); err == nil {
			i.Time = at
		}
	}
	return nil
}
