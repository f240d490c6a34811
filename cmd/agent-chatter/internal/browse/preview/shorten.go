package preview

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The bounds of what is shown of an event: of its text, and of the beginning and the end of a text that is longer.
const (
	shownBytes = 256 << 10
	endBytes   = 120 << 10
)

// A shortener replaces the middle of long texts by their length and the command that prints them.
type shortener struct {
	id       string
	render   func(app.Message) string
	streamed map[string]int // by turn: at least the bytes of the reply that its earlier events have
	turn     string         // the one that began last
}

// event returns an event with at most shownBytes of each text, and without its data if that is longer. A reply keeps
// what was streamed of it, which is not shown again.
func (s *shortener) event(e projection.Event) projection.Event {
	if p, ok := e.Payload.(projection.TurnStarted); ok {
		s.turn = p.TurnID
	}
	if len(e.Data) > shownBytes {
		e.Payload, e.Data = s.short(e.Payload, e.Seq), e.Data[:shownBytes:shownBytes]
	}
	if p, ok := e.Payload.(projection.TurnText); ok {
		if s.streamed == nil {
			s.streamed = map[string]int{}
		}
		s.streamed[p.TurnID] += len(p.Text)
	}
	return e
}

// short returns a payload with at most shownBytes of each text; nil: one that shows nothing.
func (s *shortener) short(payload projection.Payload, seq uint64) projection.Payload {
	switch p := payload.(type) {
	case projection.TurnText:
		p.Text = s.text(p.Text, 0, seq)
		return p
	case projection.MessageAppended:
		turn := cmp.Or(p.TurnID, s.turn) // earlier versions of the program did not record the turn of a message
		p.Message.Content, p.Raw = s.text(p.Message.Content, s.streamed[turn], seq), nil
		return p
	case projection.TurnEnded:
		p.Partial, p.Error = s.text(p.Partial, s.streamed[p.TurnID], seq), s.text(p.Error, 0, seq)
		return p
	case projection.ToolStarted:
		p.Input = beginningOf(p.Input)
		return p
	case projection.ToolCompleted:
		p.Output, p.Error = s.text(p.Output, 0, seq), s.text(p.Error, 0, seq)
		return p
	case projection.PlanUpdated:
		return p.Short()
	case projection.SessionCreated, projection.TurnStarted:
		return p
	}
	return nil
}

// text returns the beginning and the end of the part of a text after some bytes, if that is longer than shownBytes.
func (s *shortener) text(text string, after int, seq uint64) string {
	after = min(after, len(text))
	rest := text[after:]
	if len(rest) <= shownBytes {
		return text
	}
	beginning, end := runecut.Prefix(rest, endBytes), runecut.Suffix(rest, endBytes)
	more := len(rest) - len(beginning) - len(end)
	at := fmt.Sprint(seq)
	note := app.Text("… %s more …\n", app.Count(more, "byte")).
		With(app.To("read them", "replay", s.id, "--from", at, "--to", at))
	return text[:after] + beginning + "\n\n" + s.render(note) + "\n\n" + end
}

// beginningOf returns the input of a tool, or its beginning as a string if it is longer than shownBytes.
func beginningOf(input json.RawMessage) json.RawMessage {
	if len(input) <= shownBytes {
		return input
	}
	beginning, _ := json.Marshal(string(runecut.Prefix(input, endBytes))) // cannot fail
	return beginning
}
