package sessioncopy

import (
	"bytes"
	"context"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The types of the events that an import writes.
var (
	createdType       = projection.TypeOf(projection.SessionCreated{})
	renamedType       = projection.TypeOf(projection.SessionRenamed{})
	importedType      = projection.TypeOf(projection.SessionImported{})
	taskType          = projection.TypeOf(projection.TaskSet{})
	messageType       = projection.TypeOf(projection.MessageAppended{})
	turnStartedType   = projection.TypeOf(projection.TurnStarted{})
	turnEndedType     = projection.TypeOf(projection.TurnEnded{})
	toolStartedType   = projection.TypeOf(projection.ToolStarted{})
	toolCompletedType = projection.TypeOf(projection.ToolCompleted{})
)

// knownSession reads the messages and turns of an existing session.
type knownSession struct {
	reader *journal.Reader
	pull   func() (journal.Event, error, bool)
	stop   func()
	next   journal.Event // if peeked
	peeked bool

	// what was read so far:
	events   int // of the conversation
	renamed  bool
	imported bool
	task     []byte // payload of the last task.set; nil: none
	ended    bool   // the last event of a turn is its end

	tools map[string]bool             // keys of all tool events
	tail  map[string]bool             // keys of the events after the last common message and turn
	paid  map[string]projection.Usage // of the turns that ended there, by id
}

func newKnownSession(ctx context.Context, r *journal.Reader) *knownSession {
	k := &knownSession{
		reader: r, tools: map[string]bool{}, tail: map[string]bool{}, paid: map[string]projection.Usage{},
	}
	k.pull, k.stop = iter.Pull2(scan(ctx, r))
	return k
}

// peek returns the next event of a message, turn or tool; false: there is none.
func (k *knownSession) peek() (journal.Event, bool, error) {
	for !k.peeked {
		e, err, ok := k.pull()
		if err != nil || !ok {
			return journal.Event{}, false, err
		}
		switch e.Type {
		case renamedType:
			k.renamed = true
		case importedType:
			k.imported = true
		case taskType:
			k.task = bytes.Clone(e.Data)
		case messageType, turnStartedType, turnEndedType, toolStartedType, toolCompletedType:
			if e.Type == toolStartedType || e.Type == toolCompletedType {
				k.tools[keyOf(e.Type, e.Data)] = true
			}
			k.events++
			k.next, k.peeked = e, true
			if e.Type != messageType {
				k.ended = e.Type == turnEndedType
			}
		}
	}
	return k.next, true, nil
}

func (k *knownSession) advance() { k.peeked = false }

// seekMessage advances to the next message. Without one it reports false, at the
// end of the session.
func (k *knownSession) seekMessage() (bool, error) {
	for {
		e, ok, err := k.peek()
		if err != nil || !ok {
			return false, err
		}
		if e.Type == messageType {
			clear(k.tail)
			clear(k.paid)
			return true, nil
		}
		k.tail[keyOf(e.Type, e.Data)] = true
		if p, err := projection.Decode(e); err == nil {
			if ended, ok := p.(projection.TurnEnded); ok && ended.Usage != nil {
				k.paid[ended.TurnID] = *ended.Usage
			}
		}
		k.advance()
	}
}

// inTail reports whether the rest of the session has the event of a turn or tool.
func (k *knownSession) inTail(r journal.Record) bool { return k.tail[keyOf(r.Type, r.Data)] }

// keyOf identifies the event of a turn or a tool in a session.
func keyOf(eventType string, data []byte) string {
	p, err := projection.Decode(journal.Event{Type: eventType, Data: data})
	if err != nil {
		return ""
	}
	switch p := p.(type) {
	case projection.TurnStarted:
		return eventType + p.TurnID
	case projection.TurnEnded:
		return eventType + p.TurnID
	case projection.ToolStarted:
		return eventType + p.ToolID
	case projection.ToolCompleted:
		return eventType + p.ToolID
	}
	return ""
}

// same reports whether an event is that of a record. A turn may have got another
// id or another end from an earlier version of the import.
func (k *knownSession) same(r journal.Record, e journal.Event) bool {
	switch {
	case r.Type != e.Type:
		return false
	case bytes.Equal(r.Data, e.Data), r.Type == turnStartedType, r.Type == turnEndedType:
		return true
	case r.Type == messageType:
		return sameMessage(r, e)
	}
	return keyOf(r.Type, r.Data) == keyOf(e.Type, e.Data)
}

// sameMessage reports whether an event is the message of a record, perhaps
// without secrets.
func sameMessage(r journal.Record, e journal.Event) bool {
	p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
	if err != nil {
		return false
	}
	known, err := projection.Decode(e)
	if err != nil {
		return false
	}
	a, b := p.(projection.MessageAppended).Message, known.(projection.MessageAppended).Message
	return a.ID == b.ID && (isRedacted(a.Content, b.Content) ||
		isRedacted(strings.TrimSpace(a.Content), b.Content)) // an earlier version trimmed spaces
}

// isRedacted reports whether redacted is text, or text with marks in place of
// secrets. Which secrets are known depends on the environment of an import.
func isRedacted(text, redacted string) bool {
	const begin, end = "[REDACTED:", "]"
	first := true
	for {
		before, mark, marked := strings.Cut(redacted, begin)
		_, rest, closed := strings.Cut(mark, end)
		switch {
		case !marked || !closed:
			return first && text == redacted || !first && strings.HasSuffix(text, redacted)
		case first && !strings.HasPrefix(text, before):
			return false
		}
		_, after, found := strings.Cut(text, before)
		if !found {
			return false
		}
		text, redacted, first = after, rest, false
	}
}

// withoutUsage returns the end of a turn without the tokens that an earlier end
// of the same turn has.
func (k *knownSession) withoutUsage(r journal.Record) journal.Record {
	if len(k.paid) == 0 {
		return r
	}
	p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
	if err != nil {
		return r
	}
	ended := p.(projection.TurnEnded)
	paid, ok := k.paid[ended.TurnID]
	if !ok || ended.Usage == nil {
		return r
	}
	delete(k.paid, ended.TurnID)
	ended.Usage.Input = max(0, ended.Usage.Input-paid.Input)
	ended.Usage.CachedRead = max(0, ended.Usage.CachedRead-paid.CachedRead)
	ended.Usage.CachedWrite = max(0, ended.Usage.CachedWrite-paid.CachedWrite)
	ended.Usage.Output = max(0, ended.Usage.Output-paid.Output)
	ended.Usage.Thought = max(0, ended.Usage.Thought-paid.Thought)
	return projection.Record(r.Time, ended)
}
