package projection

import (
	"bytes"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Divergence is the end of the common prefix of two conversations. It is zero if they
// have no event in common.
type Divergence struct {
	A, B     uint64 // Seq of the last common event in each session
	Messages int    // common messages
}

// Diverge finds where two sessions diverge. Events about the file or the program, such
// as a restart, are ignored: they differ between copies of a session.
func Diverge(a, b iter.Seq2[journal.Event, error]) (Divergence, error) {
	var d Divergence
	next, stop := iter.Pull2(Conversation(b))
	defer stop()
	for e, err := range Conversation(a) {
		if err != nil {
			return d, err
		}
		other, err, ok := next()
		if err != nil {
			return d, err
		}
		if !ok || !SameEvent(e, other) {
			break
		}
		d.A, d.B = e.Seq, other.Seq
		if IsMessage(e) {
			d.Messages++
		}
	}
	return d, nil
}

// SameEvent reports whether two events have the same type and data.
func SameEvent(a, b journal.Event) bool { return a.Type == b.Type && bytes.Equal(a.Data, b.Data) }

// IsMessage reports whether an event is a message that can be decoded.
func IsMessage(e journal.Event) bool {
	_, ok := messageOf(e)
	return ok
}

// IsHumanMessage reports whether an event is a message of a person.
func IsHumanMessage(e journal.Event) bool {
	m, ok := messageOf(e)
	return ok && m.Speaker.Type == TypeHuman
}

// Conversation yields the events of the conversation, without those about the program
// and the file. An error ends it.
func Conversation(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if (err != nil || inConversation(e)) && (!yield(e, err) || err != nil) {
				return
			}
		}
	}
}

func inConversation(e journal.Event) bool {
	switch e.Type {
	case journal.TypeRecovered, journal.TypeSealed,
		SessionCreated{}.eventType(), SessionResumed{}.eventType(), SessionEnded{}.eventType(),
		SessionRenamed{}.eventType(), SessionPinned{}.eventType(), SessionImported{}.eventType():
		return false
	}
	return true
}
