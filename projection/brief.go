package projection

import (
	"bytes"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// decodeBrief is DecodeEvent without the output of tools and the text of turn.text, as far as a payload begins as
// Record writes it.
func decodeBrief(e journal.Event) Event {
	decodings.Add(1)
	switch e.Type {
	case TurnText{}.eventType():
		c := layout.At(e.Data)
		c.Expect(`{"turnId":`)
		p := TurnText{TurnID: c.String()}
		if c.Expect(`,"text":"`); c.OK() {
			return Event{Event: e, Payload: p}
		}
	case ToolCompleted{}.eventType():
		if p, ok := toolCompletedOf(e); ok {
			return Event{Event: e, Payload: p}
		}
	}
	p, err := decode(e, true)
	return Event{Event: e, Payload: p, Err: err}
}

// toolCompletedOf decodes the ids and the error of a tool.completed. It does not read the
// output, which is half of the bytes of a session, if there is no error and the payload
// begins as Record writes it.
func toolCompletedOf(e journal.Event) (p ToolCompleted, ok bool) {
	c := layout.At(e.Data)
	c.Expect(`{"turnId":`)
	p.TurnID = c.String()
	c.Expect(`,"toolId":`)
	p.ToolID = c.String()
	// Record writes an error as the last field.
	rest := c.Rest()
	n := len(rest)
	if c.OK() && (n < 2 || rest[n-2] != '"' || !bytes.Contains(rest, []byte(`"error":`))) {
		return p, true
	}
	p, err := payloadAs[ToolCompleted](e, true)
	return p, err == nil
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
	return decoded(events, DecodeEvent)
}

// Brief is Decoded for readers that need neither the output of tools nor, in most turns, the text that streamed, which
// the message repeats: half of the bytes of a session. It leaves them out, and does not read them. RecordedText returns
// the text of a turn.text.
func Brief(events iter.Seq2[journal.Event, error]) iter.Seq2[Event, error] {
	return decoded(events, decodeBrief)
}

func decoded(events iter.Seq2[journal.Event, error], decode func(journal.Event) Event) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range events {
			var event Event
			if err == nil {
				event = decode(e)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
