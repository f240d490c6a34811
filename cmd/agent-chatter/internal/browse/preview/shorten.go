package preview

import (
	"encoding/json"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
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
	streamed int // at least the bytes of the reply that the earlier events of its turn have
}

// event returns an event with at most shownBytes of each text. A reply keeps what was streamed of it, which is not
// shown again.
func (s *shortener) event(e journal.Event) journal.Event {
	if e.Type == turnStarted {
		s.streamed = 0
	}
	if len(e.Data) > shownBytes {
		e = s.long(e)
	}
	if e.Type == turnText {
		s.streamed += len(e.Data)
	}
	return e
}

// long is event for a long event.
func (s *shortener) long(e journal.Event) journal.Event {
	payload, err := projection.Decode(e)
	if err != nil {
		e.Data = nil // it shows nothing
		return e
	}
	switch p := payload.(type) {
	case projection.TurnText:
		p.Text = s.text(p.Text, 0, e.Seq)
		payload = p
	case projection.MessageAppended:
		p.Message.Content, p.Raw = s.text(p.Message.Content, s.streamed, e.Seq), nil
		payload = p
	case projection.TurnEnded:
		p.Partial, p.Error = s.text(p.Partial, s.streamed, e.Seq), s.text(p.Error, 0, e.Seq)
		payload = p
	case projection.ToolStarted:
		p.Input = beginningOf(p.Input)
		payload = p
	case projection.ToolCompleted:
		p.Output, p.Error = s.text(p.Output, 0, e.Seq), s.text(p.Error, 0, e.Seq)
		payload = p
	case projection.PlanUpdated:
		payload = shortPlan(p)
	case projection.SessionCreated, projection.TurnStarted:
		return e
	default:
		payload = nil
	}
	if e.Data = nil; payload != nil {
		e.Data = projection.Record(e.Time, payload).Data
	}
	return e
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

func shortPlan(p projection.PlanUpdated) projection.PlanUpdated {
	if more := len(p.Entries) - projection.MaxPlanEntries; more > 0 {
		p.Entries, p.More = p.Entries[:projection.MaxPlanEntries], p.More+more
	}
	for i := range p.Entries {
		p.Entries[i].Content = runecut.Prefix(p.Entries[i].Content, projection.MaxPlanContent)
	}
	return p
}
