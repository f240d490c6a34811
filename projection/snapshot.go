package projection

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
)

// SnapshotVersion is the schemaVersion of a Snapshot.
const SnapshotVersion = "1.0"

// Snapshot is a session in the session snapshot format v1.0.
type Snapshot struct {
	SchemaVersion string   `json:"schemaVersion"`
	TeamID        string   `json:"teamId"`
	SessionID     string   `json:"sessionId"`
	CreatedAt     string   `json:"createdAt"`
	UpdatedAt     string   `json:"updatedAt"`
	Context       Context  `json:"context"`
	Metadata      Metadata `json:"metadata"`
}

// Context is the conversation of a Snapshot, and the team's task.
type Context struct {
	Messages  []Message `json:"messages"`
	TeamTask  *string   `json:"teamTask"`
	Timestamp int64     `json:"timestamp"` // milliseconds since 1970
	Version   int       `json:"version"`   // always 1
}

// Metadata is the summary of a Snapshot for lists.
type Metadata struct {
	MessageCount  int    `json:"messageCount"`
	LastSpeakerID string `json:"lastSpeakerId,omitempty"`
	Summary       string `json:"summary,omitempty"`
}

// ReadSnapshot folds events into a Snapshot, which holds all messages in memory.
func ReadSnapshot(events iter.Seq2[journal.Event, error]) (*Snapshot, error) {
	var state State
	messages := []Message{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		p, invalid, err := decodeForFold(e)
		state.applyDecoded(e, p, invalid, err)
		if m, ok := p.(MessageAppended); ok && err == nil {
			messages = append(messages, m.Message)
		}
	}
	s := state.snapshot()
	s.Context.Messages = messages
	return s, nil
}

// snapshot returns the snapshot without its messages.
func (s *State) snapshot() *Snapshot {
	return &Snapshot{
		SchemaVersion: SnapshotVersion,
		TeamID:        s.Team.ID,
		SessionID:     s.SessionID,
		CreatedAt:     FormatTime(s.Row.CreatedAt),
		UpdatedAt:     FormatTime(s.Row.UpdatedAt),
		Context: Context{
			Messages:  []Message{},
			TeamTask:  s.Task,
			Timestamp: s.Row.UpdatedAt.UnixMilli(),
			Version:   1,
		},
		Metadata: Metadata{s.Row.MessageCount, s.Row.LastSpeakerID, s.Row.Summary()},
	}
}

// WriteSnapshot writes the snapshot of a session, indented by two spaces, with one
// message in memory at a time. state must be the fold of the same events.
func WriteSnapshot(w io.Writer, state *State, events iter.Seq2[journal.Event, error]) error {
	frame := marshalIndent(state.snapshot(), "")
	before, after, _ := bytes.Cut(frame, []byte(`"messages": []`))
	if _, err := w.Write(append(before, `"messages": [`...)); err != nil {
		return err
	}
	separator := "\n      "
	for e, err := range events {
		if err != nil {
			return err
		}
		m, ok := messageOf(e)
		if !ok {
			continue
		}
		text := marshalIndent(m, "      ")
		if _, err := w.Write(append([]byte(separator), text...)); err != nil {
			return err
		}
		separator = ",\n      "
	}
	if state.Row.MessageCount > 0 {
		after = append([]byte("\n    ]"), after...)
	} else {
		after = append([]byte("]"), after...)
	}
	_, err := w.Write(append(after, '\n'))
	return err
}

// marshalIndent cannot fail: snapshots and messages have strings, numbers and decoded JSON.
func marshalIndent(v any, prefix string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func messageOf(e journal.Event) (Message, bool) {
	if e.Type != (MessageAppended{}).eventType() {
		return Message{}, false
	}
	p, err := payloadAs[MessageAppended](e, true)
	return p.Message, err == nil
}
