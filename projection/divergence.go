package projection

import (
	"bytes"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Divergence is where two sessions part: behind the last event of the conversation
// that both have, by its number in each. Zero: they have nothing in common.
type Divergence struct {
	A, B     uint64
	Messages int // that both have
}

// Diverge finds where two sessions part. What is said of the file or of the program
// alone, such as a restart, does not count: it is what a copy has of its own.
func Diverge(a, b iter.Seq2[journal.Event, error]) (Divergence, error) {
	var p Divergence
	next, stop := iter.Pull2(Conversation(b))
	defer stop()
	for e, err := range Conversation(a) {
		if err != nil {
			return p, err
		}
		other, err, ok := next()
		if err != nil {
			return p, err
		}
		if !ok || !SameEvent(e, other) {
			break
		}
		p.A, p.B = e.Seq, other.Seq
		if IsMessage(e) {
			p.Messages++
		}
	}
	return p, nil
}

// SameEvent reports whether the same happened, wherever it is written.
func SameEvent(a, b journal.Event) bool { return a.Type == b.Type && bytes.Equal(a.Data, b.Data) }

// IsMessage reports whether an event is a message that can be read.
func IsMessage(e journal.Event) bool {
	_, ok := messageOf(e)
	return ok
}

// IsHumanMessage reports whether an event is a message of a person.
func IsHumanMessage(e journal.Event) bool {
	m, ok := messageOf(e)
	return ok && m.Speaker.Type == TypeHuman
}

// Conversation leaves out the events that tell of the program and the file.
func Conversation(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if (err != nil || inConversation(e)) && (!yield(e, err) || err != nil) {
				return
			}
		}
	}
}

// inConversation reports whether an event was said, done or decided in the
// conversation.
func inConversation(e journal.Event) bool {
	switch e.Type {
	case journal.TypeRecovered, SessionCreated{}.eventType(), SessionResumed{}.eventType(), SessionEnded{}.eventType(),
		SessionRenamed{}.eventType(), SessionPinned{}.eventType(), SessionImported{}.eventType():
		return false
	}
	return true
}
