package interchange

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// ErrNoMessages: a transcript has no message of a person or an agent.
var ErrNoMessages = errors.New("it has no messages")

// UnknownLinesError: a transcript has no message that can be read, and lines of an unknown form.
type UnknownLinesError struct{ Lines int }

func (e *UnknownLinesError) Error() string {
	if e.Lines == 1 {
		return "it has an unknown format: its line has no known form"
	}
	return fmt.Sprintf("it has an unknown format: none of its %d lines has a known form", e.Lines)
}

// noMessages returns the error for a transcript without messages, with a number of lines of an unknown form.
func noMessages(unknown int) error {
	if unknown > 0 {
		return &UnknownLinesError{unknown}
	}
	return ErrNoMessages
}

// Transcript reads a transcript in one of the [Formats]. Errors: ErrNoMessages; ErrSubagent; *LimitError; those
// of the source.
func Transcript(format string, src Source, app projection.App) (*Session, error) {
	f, ok := lookupFormat(format)
	if !ok {
		return nil, fmt.Errorf("unknown transcript format %q", format)
	}
	return f.Read(src, app)
}

// newSession returns the session of a transcript. The function read passes the
// transcript to the collector, each time in the same way.
func newSession(format, path string, app projection.App, read func(*transcript) error) (*Session, error) {
	header := &transcript{format: format}
	if err := read(header); err != nil {
		return nil, err
	}
	if header.messages == 0 {
		return nil, noMessages(header.unknown)
	}
	s := header.session(path, app)
	s.conversation = func(yield func(journal.Record) bool) (ended, error) {
		t := &transcript{format: format, yield: yield, known: s.sourceID}
		if err := read(t); err != nil {
			return ended{}, err
		}
		return t.finish()
	}
	return s, nil
}

var user = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}

// agent returns the speaker for an agent.
func agent(id, displayName string) projection.Speaker {
	return projection.Speaker{ID: id, Name: id, DisplayName: displayName, Type: projection.TypeAI}
}

// finish ends the conversation.
func (t *transcript) finish() (ended, error) {
	t.endTurn()
	if t.messages == 0 && !t.stopped {
		return ended{}, noMessages(t.unknown)
	}
	end := ended{skipped: t.skipped}
	if t.id != "" && t.point != "" {
		end.origin = &projection.ImportOrigin{AgentSession: t.id, Point: t.point}
	}
	return end, nil
}

// transcript collects the content of a transcript and passes it on as records.
// No line makes the rest unreadable: what is unknown is counted and skipped.
type transcript struct {
	format  string
	id      string // the other program's id of the session
	known   string // that id, as the header has it; "" while that is read
	created time.Time
	updated time.Time // of the latest item
	cwd     string
	title   string // chosen by a person; "": none
	undated bool   // created is only the time at which the file was last changed
	untimed bool   // items have no times of their own

	// toolsFollow: a message of the agent and the tools that it calls are one item, so that
	// the tools after a message belong to its turn, up to the next message.
	toolsFollow bool

	yield   func(journal.Record) bool           // nil: only the header is read
	sink    func(time.Time, projection.Payload) // gets the payloads instead; nil: yield
	stopped bool                                // yield wants no more records

	agent   projection.Speaker // whose turn begins next
	model   string             // of that turn
	turn    *turn              // nil: none
	turns   int
	trigger string // id of the newest message of a person

	messages int
	speakers []projection.Speaker // of messages, in the order of their first one
	models   map[string]string    // the latest ones, by the ids of agents
	skipped  int                  // lines
	unknown  int                  // of those: lines of an unknown form, or damaged ones

	// point is where the program can continue the session after the last message, as its engine names it; "": unknown.
	point string

	source       Source // for the transcripts of subagents
	readSubagent func(*transcript, Source) error
	depth        int             // of this subagent; 0: the session
	subagents    map[string]bool // paths of those that were read
}

// addUnknown counts a line of an unknown form, or one that is damaged.
func (t *transcript) addUnknown() { t.skipped, t.unknown = t.skipped+1, t.unknown+1 }

// addHuman adds a message of a person, without what the program put around it. It has the texts of the parts of a
// message.
func (t *transcript) addHuman(id string, texts []string, at time.Time) {
	text, ok := humanText(texts)
	if !ok {
		t.skipped++
		return
	}
	if t.turn != nil {
		if t.turn.passed = len(t.turn.calls) > 0; t.turn.passed {
			t.emitReply() // which was written before
		} else {
			t.endTurn()
		}
	}
	m := t.message(user, id, text, at)
	t.trigger = m.ID
	written, _ := parseTime(m.Timestamp)
	t.emit(written, projection.MessageAppended{Message: m})
}

// What an event has of a transcript, in bytes.
const (
	maxLabel   = 1 << 10  // of an id or a name
	maxPath    = 4 << 10  // of a directory
	maxContent = 8 << 20  // of a message or the input of a tool; as JSON it fits into a line of the journal
	maxOutput  = 64 << 10 // of the output of a tool
	maxFailure = 4 << 10  // of the error of a turn
)

// label returns what an event has of an id or a name.
func label(text string) string { return runecut.Prefix(text, maxLabel) }

// speak sets the agent of the turns that begin after this, and its model.
func (t *transcript) speak(by projection.Speaker, model string) {
	model = label(model)
	t.agent, t.model = by, model
	if model != "" {
		if t.models == nil {
			t.models = map[string]string{}
		}
		t.models[by.ID] = model
	}
}

// addReply adds a message of the agent, the only one of its turn: the last item,
// unless tools follow it. Without text it does nothing, so that the tools belong to
// the turn before them or to that of the next message.
func (t *transcript) addReply(id, text string, at time.Time) {
	if text = trimBlankLines(text); text == "" {
		return
	}
	at = t.timeOf(at)
	if id == "" {
		id = t.nextID()
	}
	if t.turn != nil && t.turn.reply != nil {
		t.endTurn()
	}
	u := t.beginTurn(id, at)
	m := t.message(u.by, id, text, at)
	u.reply = &m
	if t.toolsFollow {
		t.emitReply()
	}
}

// message returns a message and counts it.
func (t *transcript) message(by projection.Speaker, id, text string, at time.Time) projection.Message {
	at = t.timeOf(at)
	t.addTime(at)
	if id == "" {
		id = t.nextID()
	}
	t.messages++
	if !slices.Contains(t.speakers, by) {
		t.speakers = append(t.speakers, by)
	}
	content := strings.ToValidUTF8(runecut.Prefix(text, maxContent), "\uFFFD")
	if more := len(text) - maxContent; more > 0 {
		content += fmt.Sprintf("\n\n[%d more bytes were not imported]", more)
	}
	return projection.Message{ID: label(id), Timestamp: projection.FormatTime(at), Speaker: by, Content: content}
}

// nextID returns an id for a message that has none.
func (t *transcript) nextID() string {
	return fmt.Sprintf("%s-%d", cmp.Or(t.id, t.known), t.messages+1)
}

// timeOf returns the time of an item: that of the latest one if it has none.
func (t *transcript) timeOf(at time.Time) time.Time {
	if at.IsZero() {
		return t.updated
	}
	return at
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

// endAt extends the current turn to the time at which the session was last saved,
// if its items have no times.
func (t *transcript) endAt(at time.Time) {
	t.addTime(at)
	if t.turn != nil {
		t.turn.saved = at
	}
}

// session returns the session without its conversation.
func (t *transcript) session(path string, app projection.App) *Session {
	if t.id == "" {
		base := strings.TrimSuffix(filepath.Base(path), ".zst")
		t.id = strings.TrimSuffix(base, filepath.Ext(base))
	}
	idTime := t.created
	if t.undated {
		idTime = time.Time{}
	}
	id := sessionID(t.format, t.format, t.id, idTime)
	t.id, t.title, t.cwd = label(t.id), label(t.title), runecut.Prefix(t.cwd, maxPath)
	team := members(t.speakers)
	for i, m := range team {
		team[i].Model = t.models[m.ID]
	}
	return &Session{
		ID: id, TeamID: t.format, CreatedAt: t.created, updatedAt: t.updated, Title: t.title,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app, CWD: t.cwd,
			Team: projection.Team{ID: t.format, Name: t.format, Members: team},
		},
		Imported: projection.SessionImported{Source: t.format, Path: path},
		idFormat: t.format,
		sourceID: t.id,
		idTime:   idTime,
	}
}

// eachObject passes the lines that are JSON objects to a function until that returns
// false, and counts the others.
func eachObject[T any](src Source, skipped *int, each func(T) bool) error {
	return src.eachLine(func(_ int, line []byte) bool {
		var v T
		if json.Unmarshal(line, &v) != nil {
			*skipped++
			return true
		}
		return each(v)
	})
}
