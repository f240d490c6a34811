package projection

import (
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// DecodeBrief is DecodeEvent for readers that need neither the input nor the output of tools, nor, in most turns, the
// text that streamed: the message repeats it. It does not read them, as far as a payload begins as Record writes it,
// and leaves them out: half of the bytes of a session. RecordedText returns the text of a turn.text.
func DecodeBrief(e journal.Event) Event {
	switch e.Type {
	case TurnText{}.eventType():
		c := layout.At(e.Data)
		c.Expect(`{"turnId":`)
		p := TurnText{TurnID: c.String()}
		if c.Expect(`,"text":"`); c.OK() {
			return Event{Event: e, Payload: p}
		}
	case ToolStarted{}.eventType():
		if p, ok := toolStartedOf(e); ok {
			return Event{Event: e, Payload: p}
		}
	case ToolCompleted{}.eventType():
		if p, ok := toolCompletedOf(e); ok {
			return Event{Event: e, Payload: p}
		}
	}
	p, err := Decode(e)
	return Event{Event: e, Payload: p, Err: err}
}

// RecordedText returns the text that the data of a turn.text has; "" if it cannot be decoded.
func RecordedText(data []byte) string {
	p, err := payloadAs[TurnText](journal.Event{Type: TurnText{}.eventType(), Data: data}, true)
	if err != nil {
		return ""
	}
	return p.Text
}

// Decoded yields events with their payloads. An error is passed on.
func Decoded(events iter.Seq2[journal.Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range events {
			var decoded Event
			if err == nil {
				decoded = DecodeEvent(e)
			}
			if !yield(decoded, err) {
				return
			}
		}
	}
}
