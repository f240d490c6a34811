package redact

import (
	"bytes"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Events returns the events of a session with their secrets replaced. An error ends them.
func (r *Redactor) Events(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for event, err := range r.Decoded(events) {
			if !yield(event.Event, err) {
				return
			}
		}
	}
}

// Decoded is Events with the payloads.
func (r *Redactor) Decoded(events iter.Seq2[journal.Event, error]) iter.Seq2[projection.Event, error] {
	return func(yield func(projection.Event, error) bool) {
		clean := r.Session()
		for event, err := range projection.Decoded(events) {
			if err == nil {
				event = clean(event)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Session returns a function that replaces the secrets of the events of a session, which it gets in order. The chunks
// of a streamed reply may cut a secret: text that may start one is held back until the next chunk, and dropped at the
// end of the turn. The whole reply is in its message, and an interrupted one in the end of its turn.
func (r *Redactor) Session() func(projection.Event) projection.Event {
	replies := map[string]*Stream{}
	return func(e projection.Event) projection.Event {
		data := e.Data
		switch p := e.Payload.(type) {
		case projection.TurnText:
			if replies[p.TurnID] == nil {
				replies[p.TurnID] = r.Stream()
			}
			text := replies[p.TurnID].Next(p.Text)
			if text == p.Text {
				return e
			}
			p.Text = text
			data = projection.Record(e.Time, p).Data
		case projection.TurnEnded:
			delete(replies, p.TurnID)
			data = r.JSON(data)
		case projection.MessageAppended:
			if raw := r.Text(string(p.Raw)); raw != string(p.Raw) { // base64 hides them
				p.Raw = []byte(raw)
				data = projection.Record(e.Time, p).Data
			}
			data = r.JSON(data)
		default:
			data = r.JSON(data)
		}
		if bytes.Equal(data, e.Data) {
			return e
		}
		e.Data = data
		return projection.DecodeEvent(e.Event)
	}
}

// Snapshot replaces the secrets in a snapshot.
func (r *Redactor) Snapshot(s *projection.Snapshot) {
	for i, m := range s.Context.Messages {
		s.Context.Messages[i].Content = r.Text(m.Content)
	}
	if s.Context.TeamTask != nil {
		task := r.Text(*s.Context.TeamTask)
		s.Context.TeamTask = &task
	}
	if len(s.Context.Messages) > 0 { // the old one may end within a secret
		s.Metadata.Summary = projection.Row{
			MessageCount: len(s.Context.Messages), Preview: projection.Preview(s.Context.Messages[0].Content),
		}.Summary()
	}
}
